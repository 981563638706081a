/* Fixed-point analysis of the values that may differ between devices because of communication or
 * device indices.
 *
 * Each value has the set of axes along which it differs. The sets flow from operands to results,
 * through conditions and loops, and only grow. Communication that gives all devices of a group the
 * same value removes the axes of the group. Integers computed from device indices and constants
 * have exactly the axes along which their values vary. */
#include "rules/collective.h"

#include "ir/place.h"
#include "support/support.h"

uint32_t tp__divergence_of(const tp_divergence *d, MlirValue value) {
  int set = tp__table_get(&d->sets, value.ptr);
  return set < 0 ? 0 : (uint32_t)set;
}

void tp__divergence_add(tp_divergence *d, MlirValue value, uint32_t axes) {
  uint32_t old = tp__divergence_of(d, value);
  if ((old | axes) == old || d->status != TP_OK)
    return;
  d->status = tp__table_put(&d->sets, value.ptr, (int)(old | axes));
  d->changed = true;
}

static uint32_t of_operands(const tp_divergence *d, MlirOperation op) {
  uint32_t axes = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    axes |= tp__divergence_of(d, mlirOperationGetOperand(op, i));
  return axes;
}

static uint32_t all_axes(const tp_divergence *d) { return (1u << d->mesh->n_axes) - 1; }

static void visit_block(tp_divergence *d, MlirBlock block, uint32_t control);

/* ---- control flow ---- */

/* Returns the number of leading operands of an op that decide which of its blocks run, or how
 * often. */
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

/* Propagates from operand `first + i` of `from` to argument `skip + i` of region `r`, or, for r <
 * 0, to result i. */
static void flow(tp_divergence *d, MlirOperation op, MlirOperation from, int first, int r, int skip,
                 uint32_t control) {
  MlirBlock block =
      r < 0 ? (MlirBlock){NULL} : mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
  intptr_t n = r < 0 ? mlirOperationGetNumResults(op) : mlirBlockGetNumArguments(block) - skip;
  for (intptr_t i = 0; i < n && first + i < mlirOperationGetNumOperands(from); i++)
    tp__divergence_add(
        d, r < 0 ? mlirOperationGetResult(op, i) : mlirBlockGetArgument(block, skip + i),
        control | tp__divergence_of(d, mlirOperationGetOperand(from, first + i)));
}

static MlirOperation end_of(MlirOperation op, intptr_t r) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
  return mlirBlockIsNull(block) ? (MlirOperation){NULL} : mlirBlockGetTerminator(block);
}

static void visit_structured(tp_divergence *d, MlirOperation op, uint32_t control) {
  bool is_for = tp__op_is(op, "scf.for"), is_while = tp__op_is(op, "scf.while");
  for (int i = 0; i < n_control_operands(op); i++)
    control |= tp__divergence_of(d, mlirOperationGetOperand(op, i));
  if (is_while)
    control |= tp__divergence_of(d, mlirOperationGetOperand(end_of(op, 0), 0));
  if (is_for) {
    flow(d, op, op, 3, 0, 1, control);
    flow(d, op, end_of(op, 0), 0, 0, 1, control);
    flow(d, op, op, 3, -1, 0, control);
    flow(d, op, end_of(op, 0), 0, -1, 0, control);
  } else if (is_while) {
    flow(d, op, op, 0, 0, 0, control);
    flow(d, op, end_of(op, 1), 0, 0, 0, control);
    flow(d, op, end_of(op, 0), 1, 1, 0, control);
    flow(d, op, end_of(op, 0), 1, -1, 0, control);
  }
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    MlirOperation end = end_of(op, r);
    if (mlirOperationIsNull(end))
      continue;
    visit_block(d, mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)), control);
    if (!is_for && !is_while)
      flow(d, op, end, 0, -1, 0, control);
  }
}

/* Handles every other op conservatively: all values inside may depend on every operand, and every
 * result on all values inside. If a region has several blocks, each of them may be skipped. */
static uint32_t visit_body(tp_divergence *d, MlirOperation op, uint32_t in) {
  uint32_t out = in;
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
    for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(b);
         b = mlirBlockGetNextInRegion(b)) {
      uint32_t control = mlirBlockIsNull(mlirBlockGetNextInRegion(
                             mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r))))
                             ? in
                             : all_axes(d);
      for (intptr_t i = 0; i < mlirBlockGetNumArguments(b); i++)
        tp__divergence_add(d, mlirBlockGetArgument(b, i), control);
      visit_block(d, b, control);
      for (MlirOperation inner = mlirBlockGetFirstOperation(b); !mlirOperationIsNull(inner);
           inner = mlirOperationGetNextInBlock(inner))
        out |= of_operands(d, inner);
    }
  return out;
}

/* ---- calls ---- */

/* Handles a call of a function that tp-fuse-collectives created as if its ops were inlined here. */
static bool visit_fused(tp_divergence *d, MlirOperation op, uint32_t control) {
  if (d->in_call || !tp__op_is(op, "func.call"))
    return false;
  MlirOperation callee = tp__callee(mlirOperationGetParentOperation(tp__enclosing_func(op)), op);
  if (mlirOperationIsNull(callee) || mlirAttributeIsNull(tp__get(callee, "tp.fused")))
    return false;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(callee, 0));
  flow(d, callee, op, 0, 0, 0, control);
  d->in_call = true;
  visit_block(d, body, control);
  d->in_call = false;
  flow(d, op, mlirBlockGetTerminator(body), 0, -1, 0, control);
  return true;
}

/* ---- ops ---- */

static void refuse_control(tp_divergence *d, MlirOperation op, uint32_t conflict) {
  char text[2 * TP_MAX_AXIS_NAME];
  int axis = 0;
  while (!(conflict >> axis & 1))
    axis++;
  tp_mesh_axis_text(d->mesh, axis, 1, text, sizeof text);
  d->status = tp__error(op, TP_UNSUPPORTED,
                        "communicates along axis \"%s\" under a condition that may differ between "
                        "devices of this axis, so some devices would wait forever; move it out of "
                        "the branch or loop, or make the condition equal with an all_reduce",
                        text);
}

/* Returns the axes along which a result of communication differs. The `control` axes remain: a
 * device that does not reach the op has no result. */
static uint32_t after(const tp_effect *effect, uint32_t in, uint32_t control) {
  switch (effect->equality) {
  case TP_EQUAL:
    return (in & ~effect->axes) | control;
  case TP_DIFFER:
  case TP_INDEX:
    return in | effect->axes;
  case TP_KEEP:
    break;
  }
  return in;
}

/* Computes the axes along which an integer varies that depends on nothing but the device's index:
 * (index / 4) rem 2 varies along one axis, though the index varies along all. False for other
 * values, and on large meshes. */
static bool index_axes(const tp_mesh *mesh, MlirValue value, uint32_t *axes) {
  enum { MAX_DEVICES = 1024 };
  int64_t numbers[MAX_DEVICES], n = tp_mesh_size(mesh);
  *axes = 0;
  if (n > MAX_DEVICES)
    return false;
  for (int64_t i = 0; i < n; i++)
    if (!tp__value_on_device(value, mesh, i, &numbers[i]))
      return false;
  for (int64_t i = 0; i < n; i++)
    for (int a = 0; a < mesh->n_axes; a++)
      if (tp_mesh_coordinate(mesh, i, a) > 0 && numbers[i] != numbers[i - tp_mesh_stride(mesh, a)])
        *axes |= 1u << a;
  return true;
}

/* The axes along which an op's result varies because of its operands, which vary along `in`. */
static uint32_t through(const tp_divergence *d, MlirValue result, uint32_t in) {
  uint32_t axes;
  return in && index_axes(d->mesh, result, &axes) ? axes : in;
}

static void visit_op(tp_divergence *d, MlirOperation op, uint32_t control) {
  static const char *const structured[] = {"scf.if", "scf.for", "scf.while", "scf.index_switch",
                                           "scf.execute_region"};
  for (int i = 0; i < TP_LEN(structured); i++)
    if (tp__op_is(op, structured[i])) {
      visit_structured(d, op, control);
      return;
    }
  if (visit_fused(d, op, control))
    return;
  uint32_t in = visit_body(d, op, control | of_operands(d, op));
  intptr_t n = mlirOperationGetNumResults(op);
  for (intptr_t i = 0; (i < n || i == 0) && d->status == TP_OK; i++) {
    tp_effect effect;
    d->status = tp__collective_effect(op, d->mesh, (int)i, &effect);
    if (d->status == TP_OK && d->report && (control & effect.waits))
      refuse_control(d, op, control & effect.waits);
    if (d->status == TP_OK && i < n && effect.equality == TP_KEEP)
      tp__divergence_add(d, mlirOperationGetResult(op, i),
                         through(d, mlirOperationGetResult(op, i), in) | control);
    else if (d->status == TP_OK && i < n)
      tp__divergence_add(d, mlirOperationGetResult(op, i), after(&effect, in, control));
  }
}

static void visit_block(tp_divergence *d, MlirBlock block, uint32_t control) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block);
       !mlirOperationIsNull(op) && d->status == TP_OK; op = mlirOperationGetNextInBlock(op))
    visit_op(d, op, control);
}

/* Arguments of the function keep the sets recorded for them. Branches between several blocks of the
 * function are not followed; their blocks count as controlled by all axes. */
static void visit_function(tp_divergence *d, MlirOperation func) {
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  bool several = !mlirBlockIsNull(entry) && !mlirBlockIsNull(mlirBlockGetNextInRegion(entry));
  uint32_t control = several ? all_axes(d) : 0;
  for (MlirBlock block = entry; !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block)) {
    for (intptr_t i = 0; several && i < mlirBlockGetNumArguments(block); i++)
      tp__divergence_add(d, mlirBlockGetArgument(block, i), control);
    visit_block(d, block, control);
  }
}

tp_status tp__divergence_run(tp_divergence *d, MlirOperation func) {
  do {
    d->changed = false;
    visit_function(d, func);
  } while (d->changed && d->status == TP_OK);
  d->report = true;
  if (d->status == TP_OK)
    visit_function(d, func);
  return d->status == TP_NO_MEMORY ? tp__out_of_memory(func) : d->status;
}
