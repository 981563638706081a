/* The report as files of Model Explorer, from the document of plan_json.c. */
#ifndef TP_PASSES_PLAN_REPORT_EXPLORER_H
#define TP_PASSES_PLAN_REPORT_EXPLORER_H

#include <jansson.h>

/* A collection with one graph for each function. Release with tp__free; NULL when memory runs
 * out. */
char *tp__report_explorer(const json_t *document);
/* What each op takes, as data of its node. */
char *tp__report_node_data(const json_t *document);

#endif
