/* The ops of a function as a part of the JSON document. */
#ifndef TP_PASSES_PLAN_REPORT_GRAPH_H
#define TP_PASSES_PLAN_REPORT_GRAPH_H

#include "passes/propagate/report/plan_report.h"

#include <jansson.h>

/* Called when the plan is written and measured. NULL when memory runs out. */
json_t *tp__report_graph(tp_report *report, const tp_planner *planner);

/* ---- plan_json.c ---- */

/* Text of the input may have any bytes; JSON must be UTF-8. NULL when memory runs out. */
json_t *tp__report_string(const char *text);
/* Appends to a tp__string: a json_dump_callback_t. */
int tp__report_append(const char *bytes, size_t n, void *text);

#endif
