/* Lowers permutes (calls of tp.permute declarations) to calls of tprt_abi_collective. */
#include "passes/support/lower.h"

#include "support/support.h"

#include <string.h>

enum { MAX_DEVICES = 65536 };

static tp_status begin_permute(tp__lowering *l, MlirOperation op, int32_t **source_of) {
  int64_t n = tp_mesh_size(&l->mesh);
  if (n > MAX_DEVICES)
    return tp__error(op, TP_UNSUPPORTED, "permutes over %lld devices; at most %d are supported",
                     (long long)n, MAX_DEVICES);
  *source_of = tp__calloc((size_t)n, sizeof **source_of);
  if (!*source_of)
    return tp__out_of_memory(op);
  for (int64_t d = 0; d < n; d++)
    (*source_of)[d] = -1;
  return TP_OK;
}

/* Collects the axes along which at least one pair moves data; they span the groups. Returns their
 * number. */
static int moved_axes(const tp_mesh *mesh, const int32_t *source_of, int axes[TP_MAX_AXES]) {
  int n = 0;
  for (int a = 0; a < mesh->n_axes; a++) {
    bool moves = false;
    for (int64_t d = 0; d < tp_mesh_size(mesh); d++)
      moves |= source_of[d] >= 0 &&
               tp_mesh_coordinate(mesh, d, a) != tp_mesh_coordinate(mesh, source_of[d], a);
    if (moves)
      axes[n++] = a;
  }
  return n;
}

static bool is_identity(const tp_mesh *mesh, const int32_t *source_of) {
  for (int64_t d = 0; d < tp_mesh_size(mesh); d++)
    if (source_of[d] != d)
      return false;
  return true;
}

static tp_status collect_pairs(const tp_mesh *mesh, MlirOperation op, const int32_t *source_of,
                               tp__words *pairs) {
  for (int64_t d = 0; d < tp_mesh_size(mesh); d++) {
    if (source_of[d] < 0)
      continue;
    tp_status status =
        tp__grow((void **)&pairs->items, &pairs->capacity, pairs->n + 2, sizeof *pairs->items);
    if (status != TP_OK)
      return tp__out_of_memory(op);
    pairs->items[pairs->n++] = source_of[d];
    pairs->items[pairs->n++] = d;
  }
  return TP_OK;
}

/* Replaces `op` by a permute. source_of[d] is the device that device d receives from; -1 means that
 * d receives zeros. Frees `source_of`. */
static tp_status replace_by_permute(tp__lowering *l, MlirOperation op, int32_t *source_of) {
  tprt_abi_site site;
  tp__words pairs = {0};
  int axes[TP_MAX_AXES], n_axes = moved_axes(&l->mesh, source_of, axes);
  bool identity = is_identity(&l->mesh, source_of);
  MlirValue value = mlirOperationGetOperand(op, 0);
  tp_status status =
      tp__site_begin(op, TPRT_SITE_PERMUTE, n_axes, axes, mlirValueGetType(value), &site);
  if (status == TP_OK && !identity)
    status = collect_pairs(&l->mesh, op, source_of, &pairs);
  if (status == TP_OK && !identity)
    value = tp__site_call(l, op, &site, (int)pairs.n, pairs.items, value, mlirValueGetType(value));
  if (status == TP_OK)
    tp__replace_op(op, value);
  tp__free(pairs.items);
  tp__free(source_of);
  return status;
}

static tp_status lower_permute_call(tp__lowering *l, MlirOperation op) {
  MlirAttribute pairs = tp__get(op, "tp.pairs");
  if (mlirAttributeIsNull(pairs) || !mlirAttributeIsAArray(pairs) ||
      mlirOperationGetNumOperands(op) != 1 || mlirOperationGetNumResults(op) != 1)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "a permute must take one tensor, return one tensor, and have tp.pairs = "
                     "[[source, destination], ...]");
  int32_t *source_of;
  tp_status status = begin_permute(l, op, &source_of);
  if (status != TP_OK)
    return status;
  int64_t n_devices = tp_mesh_size(&l->mesh);
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(pairs) && status == TP_OK; i++) {
    int64_t pair[2];
    if (tp__int_list(mlirArrayAttrGetElement(pairs, i), 2, pair) != 2 || pair[0] < 0 ||
        pair[1] < 0 || pair[0] >= n_devices || pair[1] >= n_devices || source_of[pair[1]] >= 0)
      status =
          tp__error(op, TP_INVALID_ARGUMENT,
                    "tp.pairs: entry %lld is not a pair of device numbers below %lld, or names a "
                    "destination twice",
                    (long long)i, (long long)n_devices);
    else
      source_of[pair[1]] = (int32_t)pair[0];
  }
  if (status == TP_OK)
    return replace_by_permute(l, op, source_of);
  tp__free(source_of);
  return status;
}

static bool is_permute_call(MlirOperation op) {
  static const char prefix[] = "tp.permute";
  if (!tp__op_is(op, "func.call"))
    return false;
  MlirStringRef callee = mlirFlatSymbolRefAttrGetValue(tp__inherent(op, "callee"));
  return callee.length >= sizeof prefix - 1 && memcmp(callee.data, prefix, sizeof prefix - 1) == 0;
}

tp_status tp__lower_permute(tp__lowering *l, MlirOperation op, bool *done) {
  *done = is_permute_call(op);
  return *done ? lower_permute_call(l, op) : TP_OK;
}
