/* Which values differ between devices in a program that is still global, because a user's communication or device index made them.
 *
 * A global value is the same on all devices that hold it, and only such a value can be sharded: a slice of it is a slice of the value. What
 * differs has no layout but "whole, on each device its own". The set of axes along which it differs flows from operands to results, through
 * conditions and through loops to a fixed point; a collective that gives all devices of its group one value ends it. */
#include "rules/collective.h"

#include "support/support.h"

typedef struct analysis {
  tp_program *program;
  tp_value_table sets; /* value -> axes, as bits; absent: none */
  bool changed, report;
  tp_status status;
} analysis;

static uint32_t get(const analysis *a, MlirValue value) {
  int set = tp__table_get(&a->sets, value.ptr);
  return set < 0 ? 0 : (uint32_t)set;
}

static void add(analysis *a, MlirValue value, uint32_t axes) {
  uint32_t old = get(a, value);
  if ((old | axes) == old || a->status != TP_OK)
    return;
  a->status = tp__table_put(&a->sets, value.ptr, (int)(old | axes));
  a->changed = true;
  if (a->status != TP_OK)
    tp__error(a->program->func, a->status, "out of memory");
}

static void axis_name(const analysis *a, uint32_t axes, char *text, size_t size) {
  int axis = 0;
  while (!(axes >> axis & 1))
    axis++;
  tp_mesh_axis_text(a->program->mesh, axis, 1, text, size);
}

static void visit_block(analysis *a, MlirBlock block, uint32_t control);

/* ---- control flow ---- */

/* Leading operands of an op that decide which of its blocks run, or how often. */
static int n_control_operands(MlirOperation op) {
  static const struct {
    const char *name;
    int n;
  } table[] = {{"scf.if", 1}, {"scf.index_switch", 1}, {"scf.for", 3}};
  for (int i = 0; i < TP_LEN(table); i++)
    if (tp__op_is(op, table[i].name))
      return table[i].n;
  return 0;
}

/* From operand `first + i` of `from` to the i-th argument of region `r` behind `skip`, or, for r < 0, to the i-th result. */
static void flow(analysis *a, MlirOperation op, MlirOperation from, int first, int r, int skip, uint32_t control) {
  MlirBlock block = r < 0 ? (MlirBlock){NULL} : mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
  intptr_t n = r < 0 ? mlirOperationGetNumResults(op) : mlirBlockGetNumArguments(block) - skip;
  for (intptr_t i = 0; i < n && first + i < mlirOperationGetNumOperands(from); i++)
    add(a, r < 0 ? mlirOperationGetResult(op, i) : mlirBlockGetArgument(block, skip + i),
        control | get(a, mlirOperationGetOperand(from, first + i)));
}

static MlirOperation end_of(MlirOperation op, intptr_t r) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
  return mlirBlockIsNull(block) ? (MlirOperation){NULL} : mlirBlockGetTerminator(block);
}

static void visit_structured(analysis *a, MlirOperation op, uint32_t control) {
  bool is_for = tp__op_is(op, "scf.for"), is_while = tp__op_is(op, "scf.while");
  for (int i = 0; i < n_control_operands(op); i++)
    control |= get(a, mlirOperationGetOperand(op, i));
  if (is_while)
    control |= get(a, mlirOperationGetOperand(end_of(op, 0), 0));
  if (is_for) {
    flow(a, op, op, 3, 0, 1, control);
    flow(a, op, end_of(op, 0), 0, 0, 1, control);
    flow(a, op, op, 3, -1, 0, control);
    flow(a, op, end_of(op, 0), 0, -1, 0, control);
  } else if (is_while) {
    flow(a, op, op, 0, 0, 0, control);
    flow(a, op, end_of(op, 1), 0, 0, 0, control);
    flow(a, op, end_of(op, 0), 1, 1, 0, control);
    flow(a, op, end_of(op, 0), 1, -1, 0, control);
  }
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    MlirOperation end = end_of(op, r);
    if (mlirOperationIsNull(end))
      continue;
    visit_block(a, mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)), control);
    if (!is_for && !is_while)
      flow(a, op, end, 0, -1, 0, control);
  }
}

/* Any other op: everything inside may come from every operand, and every result from everything inside. */
static uint32_t visit_body(analysis *a, MlirOperation op, uint32_t in) {
  uint32_t out = in;
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
    for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(b);
         b = mlirBlockGetNextInRegion(b)) {
      for (intptr_t i = 0; i < mlirBlockGetNumArguments(b); i++)
        add(a, mlirBlockGetArgument(b, i), in);
      visit_block(a, b, in);
      for (MlirOperation inner = mlirBlockGetFirstOperation(b); !mlirOperationIsNull(inner);
           inner = mlirOperationGetNextInBlock(inner))
        for (intptr_t i = 0; i < mlirOperationGetNumOperands(inner); i++)
          out |= get(a, mlirOperationGetOperand(inner, i));
    }
  return out;
}

/* ---- ops ---- */

static void check_control(analysis *a, MlirOperation op, uint32_t conflict) {
  char axis[2 * TP_MAX_AXIS_NAME];
  if (!conflict || !a->report || a->status != TP_OK)
    return;
  axis_name(a, conflict, axis, sizeof axis);
  a->status = tp__error(
      op, TP_UNSUPPORTED,
      "communicates along axis \"%s\" under a condition that may differ between devices of this axis: some would wait "
      "forever; move it out of the branch or loop, or make the condition equal by an all_reduce",
      axis);
}

static uint32_t visit_shard(analysis *a, MlirOperation op, uint32_t in, uint32_t control) {
  uint32_t axes;
  tp_equality equality;
  if (a->status == TP_OK)
    a->status = tp__collective_effect(op, a->program->mesh, &equality, &axes);
  for (int i = 0; i < mlirOperationGetNumResults(op) && a->status == TP_OK && equality == TP_INDEX; i++)
    add(a, mlirOperationGetResult(op, i), tp__index_axes(op, a->program->mesh, i));
  if (a->status != TP_OK || equality == TP_KEEP || equality == TP_INDEX)
    return in;
  check_control(a, op, control & axes);
  return equality == TP_DIFFER ? in | axes : (in & ~axes) | control;
}

static void visit_op(analysis *a, MlirOperation op, uint32_t control) {
  static const char *const structured[] = {"scf.if", "scf.for", "scf.while", "scf.index_switch"};
  for (int i = 0; i < TP_LEN(structured); i++)
    if (tp__op_is(op, structured[i])) {
      visit_structured(a, op, control);
      return;
    }
  uint32_t axes = control;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    axes |= get(a, mlirOperationGetOperand(op, i));
  axes = tp__op_has_dialect(op, "shard") ? visit_shard(a, op, axes, control) : visit_body(a, op, axes);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op) && axes; i++)
    add(a, mlirOperationGetResult(op, i), axes);
}

static void visit_block(analysis *a, MlirBlock block, uint32_t control) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op) && a->status == TP_OK;
       op = mlirOperationGetNextInBlock(op))
    visit_op(a, op, control);
}

/* ---- what follows for the items ---- */

static uint32_t of_operands(const analysis *a, MlirOperation op) {
  uint32_t axes = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    axes |= get(a, mlirOperationGetOperand(op, i));
  return axes;
}

/* All axes, not only those along which it differs: a change of layout may take a detour over any axis. */
static uint8_t all_axes(const analysis *a) { return (uint8_t)((1u << a->program->mesh->n_axes) - 1); }

static tp_status mark_op(analysis *a, const tp_item *item) {
  tp_rule *rule = item->rule;
  uint32_t differs = 0, axes = 0;
  for (int i = 0; i < rule->n_operands; i++)
    differs |= get(a, rule->operands[i].value);
  for (int i = 0; i < rule->n_results; i++)
    differs |= get(a, rule->results[i].value);
  tp_equality equality;
  tp_status status =
      tp__op_has_dialect(item->op, "shard") ? tp__collective_effect(item->op, a->program->mesh, &equality, &axes) : TP_OK;
  rule->barred_axes = differs ? all_axes(a) : (uint8_t)axes;
  return status;
}

static tp_status refuse_layout(const analysis *a, MlirOperation op, uint32_t axes) {
  char axis[2 * TP_MAX_AXIS_NAME];
  axis_name(a, axes, axis, sizeof axis);
  return tp__error(
      op, TP_UNSUPPORTED,
      "its value may differ between devices along axis \"%s\" (it comes from communication or a device index), so it has no "
      "layout but whole; make it equal by an all_gather, all_reduce or broadcast over \"%s\" before",
      axis, axis);
}

static tp_status mark_layout(analysis *a, const tp_item *item) {
  uint32_t axes = of_operands(a, item->op);
  tp_annotation annotation = {0};
  bool present;
  if (!axes)
    return TP_OK;
  tp_status status = tp__program_op(a->program, item->op, 0, &annotation, &present);
  bool whole = present && tp_spec_equal(annotation.spec, tp_spec_replicated()) && annotation.open == 0;
  return status != TP_OK || whole ? status : refuse_layout(a, item->op, axes);
}

static tp_status mark_carried(analysis *a, const tp_item *item) {
  for (int k = 0; k < item->n_carried; k++) {
    tp_carried *c = &item->carried[k];
    tp_annotation annotation = {0};
    uint32_t axes = 0;
    bool present;
    for (int i = 0; i < c->n_values; i++)
      axes |= get(a, c->values[i]);
    c->differs = axes != 0;
    if (!axes)
      continue;
    tp_status status = tp__program_carried(a->program, item->op, c, &annotation, &present);
    if (status == TP_OK && present && !tp_spec_equal(annotation.spec, tp_spec_replicated()))
      status = refuse_layout(a, item->op, axes);
    if (status != TP_OK)
      return status;
  }
  return TP_OK;
}

static tp_status mark_return(const analysis *a, const tp_item *item) {
  for (int i = 0; i < a->program->n_results; i++) {
    uint32_t axes = get(a, mlirOperationGetOperand(item->op, i));
    char axis[2 * TP_MAX_AXIS_NAME];
    if (!axes)
      continue;
    axis_name(a, axes, axis, sizeof axis);
    return tp__error(
        item->op, TP_UNSUPPORTED,
        "result %d may differ between devices along axis \"%s\" (it comes from communication or a device index), but a "
        "result is one value; make it equal by an all_gather, all_reduce or broadcast over \"%s\"",
        i, axis, axis);
  }
  return TP_OK;
}

static tp_status mark_item(analysis *a, const tp_item *item) {
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

static tp_status find_shard(MlirOperation op, void *found) {
  *(bool *)found |= tp__op_has_dialect(op, "shard") && !tp__op_is(op, "shard.shard") && !tp__op_is(op, "shard.sharding");
  return TP_OK;
}

tp_status tp__mark_differing(tp_program *program) {
  analysis a = {.program = program};
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(program->func, 0));
  bool found = false;
  tp__walk(program->func, find_shard, &found);
  if (!found)
    return TP_OK;
  do {
    a.changed = false;
    visit_block(&a, entry, 0);
  } while (a.changed && a.status == TP_OK);
  a.report = true;
  visit_block(&a, entry, 0);
  for (int i = 0; i < program->n_items && a.status == TP_OK; i++)
    a.status = mark_item(&a, &program->items[i]);
  tp__table_destroy(&a.sets);
  return a.status;
}
