/* The difference of two plans, from their documents. */
#ifndef TP_PASSES_PLAN_REPORT_DIFF_H
#define TP_PASSES_PLAN_REPORT_DIFF_H

#include <jansson.h>

/* What differs between a function and that of the same name in an older document; null if there is
 * none. NULL when memory runs out. */
json_t *tp__report_difference(const json_t *before, const json_t *function);
#endif
