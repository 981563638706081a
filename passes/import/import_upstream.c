/* Imports annotations of upstream's sharding-propagation: shard.shard ops whose layout is a
 * shard.sharding with axis numbers. */
#include "passes/import/import.h"

#include "ir/place.h"

bool tp__is_upstream_shard(MlirOperation op) {
  return tp__op_is(op, "shard.shard") && mlirAttributeIsNull(tp__get(op, "tp.sharding"));
}

bool tp__is_for_users(MlirOperation op) {
  return !mlirAttributeIsNull(tp__inherent(op, "annotate_for_users"));
}

/* ---- one annotation ---- */

static tp_status check_unsupported_fields(const tp_importer *im, MlirOperation op,
                                          MlirOperation sharding) {
  if (mlirOperationIsNull(sharding) || !tp__op_is(sharding, "shard.sharding"))
    return tp__error(
        op, TP_UNSUPPORTED,
        "the sharding operand is not defined by a shard.sharding op; add one, or use tp.sharding");
  MlirStringRef grid = mlirFlatSymbolRefAttrGetValue(tp__inherent(sharding, "grid"));
  if (!tp__ref_is(grid, im->mesh.name))
    return tp__error(sharding, TP_NOT_FOUND, "grid @%.*s is not the module's mesh @%s",
                     (int)grid.length, grid.data, im->mesh.name);
  static const char *const sizes[] = {"static_halo_sizes", "static_sharded_dims_offsets"};
  int64_t none[1];
  for (int i = 0; i < TP_LEN(sizes); i++) {
    MlirAttribute list = tp__inherent(sharding, sizes[i]);
    if (mlirOperationGetNumOperands(sharding) > 0 ||
        (!mlirAttributeIsNull(list) && tp__int_list(list, 0, none) != 0))
      return tp__error(sharding, TP_UNSUPPORTED,
                       "halo_sizes and sharded_dims_offsets are not supported: shards do not "
                       "overlap and have equal sizes, except for smaller last ones; remove them");
  }
  return TP_OK;
}

tp_status tp__upstream_sharding(const tp_importer *im, MlirOperation op, MlirAttribute *attr) {
  MlirContext context = im->pass->context;
  MlirOperation sharding = tp__defining_op(mlirOperationGetOperand(op, 1));
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetResult(op, 0)));
  int n_dims, counts[TP_MAX_RANK];
  int64_t axes[TP_MAX_RANK][TP_MAX_AXES];
  MlirAttribute dims[TP_MAX_RANK], names[TP_MAX_AXES];
  TP_TRY(check_unsupported_fields(im, op, sharding));
  if (rank > TP_MAX_RANK ||
      !tp__axis_lists(tp__inherent(sharding, "split_axes"), &n_dims, counts, axes))
    return tp__error(op, TP_UNSUPPORTED,
                     "split_axes: at most %d dimensions with %d axes each are supported",
                     TP_MAX_RANK, TP_MAX_AXES);
  for (int d = 0; d < n_dims; d++) {
    if (d >= rank && counts[d] > 0)
      return tp__error(op, TP_INVALID_ARGUMENT,
                       "split_axes splits dimension %d, but the tensor has rank %d", d, rank);
    for (int i = 0; i < counts[d]; i++) {
      if (axes[d][i] < 0 || axes[d][i] >= im->mesh.n_axes)
        return tp__error(op, TP_INVALID_ARGUMENT,
                         "split_axes names axis %lld, but grid @%s has %d axes",
                         (long long)axes[d][i], im->mesh.name, im->mesh.n_axes);
      names[i] = tp__attr_string(context, im->mesh.axes[axes[d][i]].name);
    }
    if (d < rank)
      dims[d] = mlirArrayAttrGet(context, counts[d], names);
  }
  for (int d = n_dims; d < rank; d++) /* dimensions that split_axes omits are not split */
    dims[d] = mlirArrayAttrGet(context, 0, NULL);
  *attr = mlirArrayAttrGet(context, rank, dims);
  return TP_OK;
}

/* ---- arguments and results ---- */

/* Finds the layout of an argument. An annotation without annotate_for_users describes the producer
 * of the value, here the caller. */
static tp_status of_argument(const tp_importer *im, MlirOperation func, int i, MlirValue arg,
                             MlirAttribute *attr) {
  for (MlirOpOperand use = mlirValueGetFirstUse(arg); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    MlirAttribute one;
    if (!tp__is_upstream_shard(user) || tp__is_for_users(user))
      continue;
    TP_TRY(tp__upstream_sharding(im, user, &one));
    if (!mlirAttributeIsNull(*attr) && !mlirAttributeEqual(*attr, one))
      return tp__error(func, TP_INVALID_ARGUMENT,
                       "shard.shard ops give argument %d two layouts; add annotate_for_users to "
                       "the one that is meant for the users",
                       i);
    *attr = one;
  }
  return TP_OK;
}

tp_status tp__upstream_boundary(const tp_importer *im, MlirOperation func, bool is_arg, int i,
                                MlirAttribute *attr) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  *attr = (MlirAttribute){NULL};
  if (mlirBlockIsNull(block))
    return TP_OK;
  if (is_arg)
    return of_argument(im, func, i, mlirBlockGetArgument(block, i), attr);
  MlirOperation end = mlirBlockGetTerminator(block);
  if (!tp__op_is(end, "func.return"))
    return TP_OK; /* several blocks; partitioning rejects them */
  MlirOperation shard = tp__defining_op(mlirOperationGetOperand(end, i));
  return mlirOperationIsNull(shard) || !tp__is_upstream_shard(shard)
             ? TP_OK
             : tp__upstream_sharding(im, shard, attr);
}
