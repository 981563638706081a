/* The order in which a function's ops run, as numbers. */
#include "passes/propagate_memory.h"

static tp_status number(tp_timeline *t, MlirOperation op, int parent) {
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(block);
         block = mlirBlockGetNextInRegion(block))
      for (MlirOperation o = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(o); o = mlirOperationGetNextInBlock(o)) {
        int k = (int)t->n;
        if (tp__grow((void **)&t->moments, &t->capacity, t->n + 1, sizeof *t->moments) != TP_OK ||
            tp__table_put(&t->numbers, o.ptr, k) != TP_OK)
          return TP_NO_MEMORY;
        t->moments[t->n++] = (tp_moment){o, parent, k};
        if (tp__op_has_dialect(o, "scf") && number(t, o, k) != TP_OK)
          return TP_NO_MEMORY;
        t->moments[k].end = (int)t->n - 1;
      }
  return TP_OK;
}

tp_status tp__timeline_build(MlirOperation func, tp_timeline *t) {
  *t = (tp_timeline){0};
  return number(t, func, -1) == TP_OK ? TP_OK : tp__error(func, TP_NO_MEMORY, "out of memory");
}

void tp__timeline_destroy(tp_timeline *t) {
  tp__free(t->moments);
  tp__table_destroy(&t->numbers);
  *t = (tp_timeline){0};
}

/* The number of the op in whose region `value` is defined; -1: the function's. */
static int place_of(const tp_timeline *t, MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  if (!mlirOperationIsNull(op))
    return t->moments[tp__table_get(&t->numbers, op.ptr)].parent;
  return tp__table_get(&t->numbers, mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value)).ptr);
}

int tp__timeline_number(const tp_timeline *t, MlirOperation op) {
  int k;
  while ((k = tp__table_get(&t->numbers, op.ptr)) < 0) /* inside the body of a structured op */
    op = mlirOperationGetParentOperation(op);
  return k;
}

int tp__timeline_around(const tp_timeline *t, int place, int k) {
  while (t->moments[k].parent != place)
    k = t->moments[k].parent;
  return k;
}

int tp__timeline_anchor(const tp_timeline *t, MlirValue value, MlirOperation user) {
  return tp__timeline_around(t, place_of(t, value), tp__timeline_number(t, user));
}

int64_t tp__local_bytes(const tp_mesh *mesh, tp_spec spec, int rank, const int64_t *shape, int64_t element_size) {
  return tp_spec_local_elements(mesh, spec, rank, shape) * element_size;
}

int64_t tp__change_excess(const tp_mesh *mesh, const tp_reshard *path, int rank, const int64_t *shape, int64_t element_size) {
  int64_t excess = 0, result = 0;
  if (path->n_steps > 0)
    result = tp__local_bytes(mesh, path->steps[path->n_steps - 1].to, rank, shape, element_size);
  for (int i = 0; i < path->n_steps; i++) {
    int64_t held = tp__local_bytes(mesh, path->steps[i].to, rank, shape, element_size);
    if (i > 0)
      held += tp__local_bytes(mesh, path->steps[i].from, rank, shape, element_size);
    excess = held - result > excess ? held - result : excess;
  }
  return excess;
}
