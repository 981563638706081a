/* The ops of a function as a part of the JSON document. */
#ifndef TP_PASSES_PLAN_REPORT_GRAPH_H
#define TP_PASSES_PLAN_REPORT_GRAPH_H

#include "passes/propagate/report/plan_report.h"

#include <jansson.h>

/* Called when the plan is written and measured. NULL when memory runs out. */
json_t *tp__report_graph(tp_report *report, const tp_planner *planner);

/* ---- op_line.c ---- */

/* Prints ops of a function, whose values are named once. */
typedef struct tp_line_printer {
  MlirOpPrintingFlags flags;
  MlirAsmState state;
} tp_line_printer;

tp_line_printer tp__line_printer_create(MlirOperation func);
void tp__line_printer_destroy(tp_line_printer *printer);
/* The op as a list of texts and places: null is the name of its result, a number that of the value
 * with this number in `places`. Without regions, and cut when it is long. */
json_t *tp__line_json(const tp_line_printer *printer, MlirOperation op, int n_places,
                      const MlirValue *places);
/* The attributes of an argument of the function as MLIR prints them, cut when they are long; "" if
 * it has none. */
json_t *tp__attributes_json(MlirOperation func, MlirValue argument);

/* ---- layers.c ---- */

/* Runs of equal sections among n of the ops. `ops` are their numbers, `tokens` are equal for ops
 * that differ only in names and places. NULL when memory runs out. */
json_t *tp__layers_json(tp__arena *arena, int n, const int *ops, const int64_t *tokens);

/* ---- frontier.c ---- */

/* Plans within other memory limits, as report-frontier asks; each is told as a remark. `function`
 * is the part of the document about this plan. NULL when memory runs out. */
json_t *tp__report_frontier(tp_report *report, const tp_planner *planner, const json_t *function);

/* ---- machine_json.c: what is asked of a device, and what the network gives ---- */

/* The memory of a device: its peak, what is held there, and all buffers. */
json_t *tp__report_memory(tp_report *report, const tp_planner *planner, const tp_memory_peak *peak);
/* The cost lines of a mesh axis, by kind of collective. */
json_t *tp__report_lines(const tp_link *link);
/* The names of the kinds of buffers, by tp_live_buffer_kind. */
extern const char *const tp__buffer_kinds[TP_LIVE_CONSTANTS + 1];

/* ---- plan_json.c ---- */

/* Text of the input may have any bytes; JSON must be UTF-8. NULL when memory runs out. */
json_t *tp__report_string(const char *text);
/* Takes ownership of `value`. A null value (memory ran out) clears the object, which is detected at
 * the end. */
void tp__json_put(json_t *object, const char *key, json_t *value);
/* Adds "value", "name" and "description" of a value, which may be null. */
void tp__json_put_value(tp_report *report, const tp_planner *planner, json_t *object,
                        MlirValue value);
/* Adds an op, or null, and the location of `place`. */
void tp__json_put_op(tp_report *report, json_t *object, MlirOperation op, MlirOperation place);
/* Sums of the collectives by kind and axes, in the order of first occurrence. Call after
 * tp__report_measure. */
json_t *tp__report_traffic(const tp_report *report);
/* A text attribute, or "". */
json_t *tp__json_attr_text(MlirAttribute attr);

#endif
