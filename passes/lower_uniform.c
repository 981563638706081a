/* Proof that no collective hangs: each value gets the set of mesh axes along which it may differ between devices.
 *
 * Sources of difference are arguments (along the axes of their sharding), the process indices and the own slice of a value. Ops
 * spread it from operands, captured values and the conditions they stand under to their results; collectives that give
 * every device of a group the same value remove the group's axes. Loops are iterated to a fixed point (sets only grow).
 * A collective is refused when a condition around it may differ along an axis of its group. */
#include "passes/lower.h"

#include "passes/value_map.h"
#include "rules/collective.h"

typedef struct analysis {
  const tp_mesh *mesh;
  tp__value_map axes; /* value -> set of axes */
  bool changed, report;
  tp_status status;
} analysis;

static uint32_t get(analysis *a, MlirValue value) {
  int64_t *axes = tp__value_find(&a->axes, value);
  return axes ? (uint32_t)*axes : 0;
}

static void add(analysis *a, MlirValue value, uint32_t axes) {
  if (!axes || a->status != TP_OK)
    return;
  int64_t *set = tp__value_add(&a->axes, value, 0);
  if (!set) {
    a->status = TP_NO_MEMORY;
  } else if ((*set | axes) != *set) {
    *set |= axes;
    a->changed = true;
  }
}

static uint32_t group_axes(analysis *a, MlirOperation op) {
  int n, axes[TP_MAX_AXES];
  uint32_t set = 0;
  if (mlirAttributeIsNull(tp__inherent(op, "grid_axes"))) /* not a collective of a group: all axes */
    return (1u << a->mesh->n_axes) - 1;
  tp_status status = tp__read_grid_axes(op, a->mesh, &n, axes);
  if (status != TP_OK)
    a->status = status;
  for (int i = 0; i < n && status == TP_OK; i++)
    if (a->mesh->axes[axes[i]].size > 1)
      set |= 1u << axes[i];
  return set;
}

static bool is_permute(MlirOperation op) { return !mlirAttributeIsNull(tp__get(op, "tp.pairs")); }

/* What the op's own meaning adds to (or takes from) the axes that flow in. */
static uint32_t own_axes(analysis *a, MlirOperation op, uint32_t in) {
  static const char *const equalize[] = {"shard.all_reduce", "shard.all_gather", "shard.broadcast"};
  static const char *const differ[] = {"shard.all_slice", "shard.reduce_scatter", "shard.all_to_all", "shard.shift",
                                       "shard.scatter",   "shard.reduce",         "shard.gather"};
  for (int i = 0; i < TP_LEN(equalize); i++)
    if (tp__op_is(op, equalize[i]))
      return in & ~group_axes(a, op);
  for (int i = 0; i < TP_LEN(differ); i++)
    if (tp__op_is(op, differ[i]))
      return in | group_axes(a, op);
  return is_permute(op) ? (1u << a->mesh->n_axes) - 1 : in;
}

static bool communicates(MlirOperation op) {
  return is_permute(op) || (tp__op_has_dialect(op, "shard") && !mlirAttributeIsNull(tp__inherent(op, "grid_axes")) &&
                            !tp__op_is(op, "shard.all_slice"));
}

static void check(analysis *a, MlirOperation op, uint32_t control) {
  uint32_t conflict = control & (is_permute(op) ? (1u << a->mesh->n_axes) - 1 : group_axes(a, op));
  if (!conflict || !a->report || a->status != TP_OK)
    return;
  int axis = 0;
  while (!(conflict >> axis & 1))
    axis++;
  char text[2 * TP_MAX_AXIS_NAME];
  tp_mesh_axis_text(a->mesh, axis, 1, text, sizeof text);
  a->status = tp__error(op, TP_UNSUPPORTED,
                        "communication under a condition that may differ between devices along axis \"%s\", which its group "
                        "spans: some would wait forever; move it out of the branch or loop, or make the condition the same "
                        "on all devices",
                        text);
}

static void visit_block(analysis *a, MlirBlock block, uint32_t control);

/* Operands of an scf op that decide which of its blocks run, or how often; a while loop has its condition inside. */
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

/* Visits the blocks of all regions; returns the axes of the conditions that they stand under. */
static uint32_t visit_regions(analysis *a, MlirOperation op, uint32_t control) {
  for (int i = 0; i < n_control_operands(op); i++)
    control |= get(a, mlirOperationGetOperand(op, i));
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    MlirBlock first = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    if (!mlirBlockIsNull(first) && !mlirBlockIsNull(mlirBlockGetNextInRegion(first)))
      control |= (1u << a->mesh->n_axes) - 1; /* branches: not analysed */
    for (MlirBlock block = first; !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block)) {
      MlirOperation end = mlirBlockGetTerminator(block);
      if (!mlirOperationIsNull(end) && tp__op_is(end, "scf.condition"))
        control |= get(a, mlirOperationGetOperand(end, 0));
      visit_block(a, block, control);
    }
  }
  return control;
}

/* Position-wise flow through scf: operands -> block arguments -> yielded values -> results. */
static void flow_scf(analysis *a, MlirOperation op, uint32_t control) {
  intptr_t n_results = mlirOperationGetNumResults(op);
  bool is_for = tp__op_is(op, "scf.for");
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    if (mlirBlockIsNull(block))
      continue;
    MlirOperation end = mlirBlockGetTerminator(block);
    bool condition = tp__op_is(end, "scf.condition");
    for (intptr_t i = condition ? 1 : 0; i < mlirOperationGetNumOperands(end); i++) {
      uint32_t axes = get(a, mlirOperationGetOperand(end, i)) | control;
      intptr_t at = i - (condition ? 1 : 0);
      if (at < n_results && !(tp__op_is(op, "scf.while") && !condition))
        add(a, mlirOperationGetResult(op, at), axes);
      MlirBlock next = condition ? mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 1))
                                 : mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
      intptr_t argument = at + (is_for ? 1 : 0);
      if (!tp__op_is(op, "scf.if") && argument < mlirBlockGetNumArguments(next))
        add(a, mlirBlockGetArgument(next, argument), axes);
    }
  }
  MlirBlock first = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(first); i++) {
    intptr_t operand = is_for ? i + 2 : i; /* lower, upper, step, then the initial values */
    if (is_for && i == 0)
      continue;
    if (operand < mlirOperationGetNumOperands(op))
      add(a, mlirBlockGetArgument(first, i), get(a, mlirOperationGetOperand(op, operand)));
  }
}

/* Any other op with regions, e.g. linalg.generic: every block argument may come from every operand. */
static uint32_t visit_opaque(analysis *a, MlirOperation op, uint32_t in, uint32_t control) {
  uint32_t out = in;
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    for (intptr_t i = 0; !mlirBlockIsNull(block) && i < mlirBlockGetNumArguments(block); i++)
      add(a, mlirBlockGetArgument(block, i), in);
  }
  visit_regions(a, op, control);
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    MlirOperation end = mlirBlockIsNull(block) ? (MlirOperation){NULL} : mlirBlockGetTerminator(block);
    for (intptr_t i = 0; !mlirOperationIsNull(end) && i < mlirOperationGetNumOperands(end); i++)
      out |= get(a, mlirOperationGetOperand(end, i));
  }
  return out;
}

static void visit_op(analysis *a, MlirOperation op, uint32_t control) {
  static const char *const structured[] = {"scf.if", "scf.for", "scf.while", "scf.index_switch"};
  if (communicates(op))
    check(a, op, control);
  for (int i = 0; i < TP_LEN(structured); i++)
    if (tp__op_is(op, structured[i])) {
      flow_scf(a, op, visit_regions(a, op, control));
      return;
    }
  uint32_t axes = control;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    axes |= get(a, mlirOperationGetOperand(op, i));
  axes = own_axes(a, op, visit_opaque(a, op, axes, control));
  bool is_index = tp__op_is(op, "shard.process_multi_index") || tp__op_is(op, "shard.process_linear_index");
  for (int i = 0; i < mlirOperationGetNumResults(op); i++)
    add(a, mlirOperationGetResult(op, i), axes | (is_index ? tp__index_axes(op, a->mesh, i) : 0));
}

static void visit_block(analysis *a, MlirBlock block, uint32_t control) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op) && a->status == TP_OK;
       op = mlirOperationGetNextInBlock(op))
    visit_op(a, op, control);
}

/* A tensor argument differs along the axes that its sharding uses; one without sharding along all. Scalars are equal. */
static tp_status seed_arguments(analysis *a, MlirOperation func) {
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(entry); i++) {
    MlirType type = mlirValueGetType(mlirBlockGetArgument(entry, i));
    uint32_t axes = 0;
    if (!mlirTypeIsARankedTensor(type))
      continue;
    MlirAttribute attr = tp__arg_attr(func, (int)i, "tp.sharding");
    tp_annotation annotation = {0};
    if (!mlirAttributeIsNull(attr)) {
      tp_status status = tp__read_sharding(func, "an argument", attr, a->mesh, (int)mlirShapedTypeGetRank(type), &annotation);
      if (status != TP_OK)
        return status;
    }
    for (int k = 0; k < a->mesh->n_axes; k++)
      if (mlirAttributeIsNull(attr) || tp_spec_place(annotation.spec, k).kind != TP_REPLICATED)
        axes |= 1u << k;
    add(a, mlirBlockGetArgument(entry, i), axes);
  }
  return a->status;
}

tp_status tp__check_uniform(MlirOperation func, const tp_mesh *mesh) {
  analysis a = {.mesh = mesh};
  a.status = seed_arguments(&a, func);
  do {
    a.changed = false;
    visit_regions(&a, func, 0);
  } while (a.changed && a.status == TP_OK);
  a.report = true;
  if (a.status == TP_OK)
    visit_regions(&a, func, 0);
  tp__value_map_destroy(&a.axes);
  if (a.status == TP_NO_MEMORY)
    return tp__error(func, TP_NO_MEMORY, "memory ran out");
  return a.status;
}
