/* What is asked of ops and values while values are described. */
#include "passes/propagate/report/describer.h"

#include "rules/body.h"

#include <string.h>

MlirValue tp__described_value(const tp_describer *d, int number) {
  return d->p->problem.values[number].value;
}

const tp_rule *tp__described_maker(const tp_describer *d, int number) {
  return d->graph->makers[number];
}

bool tp__described_is_argument(const tp_describer *d, int number) {
  MlirValue value = tp__described_value(d, number);
  return mlirValueIsABlockArgument(value) &&
         mlirBlockEqual(mlirBlockArgumentGetOwner(value), tp__region_block(d->graph->func, 0));
}

void tp__describe_as(tp_describer *d, int number, const char *text) {
  if (!d->values[number].text)
    d->values[number].text = text;
}

MlirOperation tp__described_return(const tp_describer *d) {
  return mlirBlockGetTerminator(tp__region_block(d->graph->func, 0));
}

/* ---- operands ---- */

bool tp__described_reads(const tp_value_map *operand) {
  return operand->is_tensor && operand->number >= 0 && !operand->is_init && !operand->is_unused;
}

const tp_value_map *tp__described_only_operand(const tp_rule *rule) {
  const tp_value_map *found = NULL;
  for (int i = 0; i < rule->n_operands; i++) {
    if (!tp__described_reads(&rule->operands[i]))
      continue;
    if (found)
      return NULL;
    found = &rule->operands[i];
  }
  return found;
}

bool tp__described_is_contraction(const tp_rule *rule) {
  return rule && rule->contraction_flops > 0;
}

static int64_t elements(const tp_value_map *map) {
  int64_t n = 1;
  for (int i = 0; i < map->rank; i++)
    n *= map->shape[i];
  return n;
}

bool tp__described_is_broadcast(const tp_rule *view) {
  return elements(tp__described_only_operand(view)) < elements(&view->results[0]);
}

bool tp__described_same_shape(const tp_value_map *a, const tp_value_map *b) {
  return a->rank == b->rank &&
         (a->rank == 0 || memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0);
}

/* A sum over dimensions of size 1 from zero on. */
static bool is_sum_of_one(const tp_rule *rule, const tp_value_map *operand, const char *body) {
  const tp_value_map *result = &rule->results[0];
  return strcmp(body, "addf") == 0 && result->has_combiner && result->combiner == TP_SUM &&
         elements(operand) == elements(result) && mlirOperationGetNumOperands(rule->op) == 2 &&
         tp__is_zero_tensor(mlirOperationGetOperand(rule->op, 1));
}

/* What an op reads that only arranges, repeats or converts the elements of one tensor; else
 * NULL. */
static const tp_value_map *operand_of_view(tp_report *r, const tp_rule *rule) {
  static const char *const views[] = {
      "linalg.transpose", "linalg.broadcast", "tensor.expand_shape", "tensor.collapse_shape",
      "tensor.reshape",   "tensor.cast",      "arith.extf",          "arith.truncf"};
  static const char *const bodies[] = {"copy", "extf", "truncf"};
  const tp_value_map *only = rule && rule->n_results == 1 ? tp__described_only_operand(rule) : NULL;
  if (!only)
    return NULL;
  bool is_view = tp__op_is_any(rule->op, TP_LEN(views), views);
  if (tp__op_is(rule->op, "linalg.generic")) {
    const char *body = tp__report_body(r, rule->op);
    for (int i = 0; i < TP_LEN(bodies); i++)
      is_view |= strcmp(body, bodies[i]) == 0;
    is_view |= is_sum_of_one(rule, only, body);
  }
  return is_view ? only : NULL;
}

int tp__described_base(const tp_describer *d, int number) {
  while (!d->values[number].is_named && d->values[number].viewed >= 0)
    number = d->values[number].viewed;
  return number;
}

const char *tp__described_attribute(tp_report *r, MlirAttribute attr) {
  if (mlirAttributeIsNull(attr) || !mlirAttributeIsAString(attr))
    return "";
  MlirStringRef text = mlirStringAttrGetValue(attr);
  return tp__report_text(r, "%.*s", (int)text.length, text.data);
}

void tp__describe_by_name(tp_describer *d, int number, const char *name) {
  tp_described *v = &d->values[number];
  if (!name || !*name || v->text)
    return;
  v->text = name;
  v->is_named = true;
}

const char *tp__described_view(const tp_rule *rule) {
  if (!rule)
    return "change of layout";
  const tp_value_map *from = tp__described_only_operand(rule), *to = &rule->results[0];
  if (from->rank != to->rank && elements(from) == elements(to))
    return "reshape";
  bool is_moved = false;
  for (int i = 0; i < to->rank && from->rank == to->rank; i++)
    is_moved |= from->dims[i].n_factors != to->dims[i].n_factors ||
                (to->dims[i].n_factors && from->dims[i].factors[0] != to->dims[i].factors[0]);
  if (from->element_size != to->element_size)
    return "conversion";
  return tp__described_is_broadcast(rule) ? "broadcast" : is_moved ? "transpose" : "copy";
}

/* The op of the body of a linalg.generic, or of a border (lib/rules/border.h), whose value is the
 * result; else the op itself. */
static MlirOperation yielding(MlirOperation op) {
  if (!tp__op_is(op, "linalg.generic") && !tp__op_is(op, "scf.execute_region"))
    return op;
  MlirOperation end = mlirBlockGetTerminator(tp__region_block(op, 0));
  MlirOperation last = tp__defining_op(mlirOperationGetOperand(end, 0));
  return mlirOperationIsNull(last) ? op : last;
}

const char *tp__described_op(const tp_describer *d, int number) {
  const tp_rule *rule = tp__described_maker(d, number);
  const tp_name_stack *stack = &d->values[number].stack;
  MlirOperation op = tp__defining_op(tp__described_value(d, number));
  if (d->values[number].viewed >= 0)
    return tp__described_view(rule);
  if (*stack->op && d->has_stacks)
    return stack->op;
  if (mlirOperationIsNull(op))
    return tp__report_text(d->r, "value %d of the loop",
                           (int)mlirBlockArgumentGetArgNumber(tp__described_value(d, number)));
  if (tp__described_is_contraction(rule))
    return "matmul";
  if (rule && rule->n_results == 1 && rule->results[0].has_combiner)
    return tp_combiner_name(rule->results[0].combiner);
  MlirStringRef name = tp__op_name(yielding(op));
  const char *text = tp__report_text(d->r, "%.*s", (int)name.length, name.data);
  const char *dot = strrchr(text, '.');
  text = dot ? dot + 1 : text;
  return mlirOperationGetNumResults(op) == 1
             ? text
             : tp__report_text(d->r, "value %d of %s",
                               (int)mlirOpResultGetResultNumber(tp__described_value(d, number)),
                               text);
}

void tp__describe_views(tp_describer *d) {
  for (int k = 0; k < d->n; k++) {
    MlirOperation op = tp__defining_op(tp__described_value(d, k));
    const tp_value_map *from = operand_of_view(d->r, tp__described_maker(d, k));
    if (from)
      d->values[k].viewed = from->number;
    else if (!mlirOperationIsNull(op) && tp__op_is(op, "shard.shard"))
      d->values[k].viewed = tp__func_graph_number(d->graph, mlirOperationGetOperand(op, 0));
  }
}

void tp__describe_stacks(tp_describer *d) {
  for (int k = 0; k < d->n; k++) {
    tp_described *v = &d->values[k];
    MlirValue value = tp__described_value(d, k);
    MlirOperation op = tp__defining_op(value);
    v->after = v->after_place = v->viewed = v->first_use = v->last_use = -1;
    d->failed |= !tp__name_stack_read(&d->r->arena,
                                      mlirOperationIsNull(op) ? mlirValueGetLocation(value)
                                                              : mlirOperationGetLocation(op),
                                      &v->stack);
    d->has_stacks |= !mlirOperationIsNull(op) && v->stack.is_stack;
  }
}
