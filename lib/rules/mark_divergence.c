/* Marks the values of a global program that differ between devices, because of communication or
 * device indices written by a user.
 *
 * A global value is the same on all devices that hold it. Only such a value can be sharded, since
 * its shard is a slice of it. A value that differs has only one possible layout: whole, with a
 * separate copy on each device. */
#include "rules/border.h"
#include "rules/collective.h"

typedef struct marking {
  tp_func_graph *graph;
  tp_divergence difference;
} marking;

static void axis_name(const marking *a, uint32_t axes, char *text, size_t size) {
  int axis = 0;
  while (!(axes >> axis & 1))
    axis++;
  tp_mesh_axis_text(a->graph->mesh, axis, 1, text, size);
}

/* Returns all axes, not only those along which the value differs, because a reshard may take a
 * detour over any axis. */
static uint8_t all_axes(const marking *a) { return (uint8_t)((1u << a->graph->mesh->n_axes) - 1); }

static tp_status mark_op(marking *a, const tp_item *item) {
  tp_rule *rule = item->rule;
  uint32_t operands = 0, results = 0;
  for (int i = 0; i < rule->n_operands; i++)
    operands |= tp__divergence_of(&a->difference, rule->operands[i].value);
  for (int i = 0; i < rule->n_results; i++)
    results |= tp__divergence_of(&a->difference, rule->results[i].value);
  tp_effect effect;
  TP_TRY(tp__collective_effect(item->op, a->graph->mesh, 0, &effect));
  rule->barred_axes = operands | results ? all_axes(a) : (uint8_t)effect.axes;
  return rule->border ? tp__border_mark(rule, a->graph->mesh, operands, results) : TP_OK;
}

static tp_status refuse_layout(const marking *a, MlirOperation op, uint32_t axes) {
  char axis[2 * TP_MAX_AXIS_NAME];
  axis_name(a, axes, axis, sizeof axis);
  return tp__error(op, TP_UNSUPPORTED,
                   "its value may differ between devices along axis \"%s\" (it comes from "
                   "communication or a device index), so it cannot be sharded; make it equal with "
                   "an all_gather, all_reduce or broadcast over \"%s\" first",
                   axis, axis);
}

static tp_status mark_layout(marking *a, const tp_item *item) {
  uint32_t axes = tp__divergence_of(&a->difference, mlirOperationGetOperand(item->op, 0));
  tp_annotation annotation = {0};
  bool present;
  if (!axes)
    return TP_OK;
  tp_status status = tp__func_graph_op(a->graph, item->op, 0, &annotation, &present);
  bool whole =
      present && tp_spec_equal(annotation.spec, tp_spec_replicated()) && annotation.open == 0;
  return status != TP_OK || whole ? status : refuse_layout(a, item->op, axes);
}

static tp_status mark_carried(marking *a, const tp_item *item) {
  for (int k = 0; k < item->n_carried; k++) {
    tp_carried *c = &item->carried[k];
    tp_annotation annotation = {0};
    uint32_t axes = 0;
    bool present;
    for (int i = 0; i < c->n_values; i++)
      axes |= tp__divergence_of(&a->difference, c->values[i]);
    c->differs = axes != 0;
    if (!axes)
      continue;
    TP_TRY(tp__func_graph_carried(a->graph, item->op, c, &annotation, &present));
    if (present && !tp_spec_equal(annotation.spec, tp_spec_replicated()))
      TP_TRY(refuse_layout(a, item->op, axes));
  }
  return TP_OK;
}

static tp_status mark_return(const marking *a, const tp_item *item) {
  for (int i = 0; i < a->graph->n_results; i++) {
    uint32_t axes = tp__divergence_of(&a->difference, mlirOperationGetOperand(item->op, i));
    char axis[2 * TP_MAX_AXIS_NAME];
    if (!axes)
      continue;
    axis_name(a, axes, axis, sizeof axis);
    return tp__error(item->op, TP_UNSUPPORTED,
                     "result %d may differ between devices along axis \"%s\" (it comes from "
                     "communication or a device index), but a result must be equal on all devices; "
                     "make it equal with an all_gather, all_reduce or broadcast over \"%s\"",
                     i, axis, axis);
  }
  return TP_OK;
}

static tp_status mark_item(marking *a, const tp_item *item) {
  switch (item->kind) {
  case TP_ITEM_OP:
    return mark_op(a, item);
  case TP_ITEM_LAYOUT:
    return mark_layout(a, item);
  case TP_ITEM_REGION:
    return mark_carried(a, item);
  case TP_ITEM_RETURN:
    return mark_return(a, item);
  }
  return TP_OK;
}

tp_status tp__mark_divergent(tp_func_graph *graph) {
  marking a = {.graph = graph, .difference = {.mesh = graph->mesh}};
  if (!graph->communicates)
    return TP_OK;
  tp_status status = tp__divergence_run(&a.difference, graph->func);
  for (int i = 0; i < graph->n_items && status == TP_OK; i++)
    status = mark_item(&a, &graph->items[i]);
  tp__table_destroy(&a.difference.sets);
  return status;
}
