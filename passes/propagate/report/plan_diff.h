/* The difference of two plans, from their documents. */
#ifndef TP_PASSES_PLAN_REPORT_DIFF_H
#define TP_PASSES_PLAN_REPORT_DIFF_H

#include <jansson.h>

/* What differs between a function and that of the same name in an older document; null if there is
 * none. NULL when memory runs out. */
json_t *tp__report_difference(const json_t *before, const json_t *function);
/* The same of two plans of one function. */
json_t *tp__report_difference_of(const json_t *old, const json_t *function);
/* What a difference is, in a line: "wq: whole -> split over tp; 2 all_gathers over tp more". Takes
 * its layouts and collectives only; "" if these are the same. Appends to a tp__string. */
void tp__print_changes(void *text, const json_t *difference);
#endif
