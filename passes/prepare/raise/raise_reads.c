/* Raises captured reads: a tensor.extract of a captured tensor at loop indices or constants becomes
 * an input operand. */
#include "passes/prepare/raise/raise.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

/* Computes the part of the tensor that is read and the map from loops to it. False if an index is
 * anything else or may be out of bounds. */
static bool find_part(const tp__generic *generic, MlirOperation read, int rank,
                      const int64_t *shape, int64_t *offsets, int64_t *sizes, MlirAffineMap *map) {
  MlirContext context = mlirOperationGetContext(read);
  MlirAffineExpr exprs[TP_MAX_RANK];
  for (int d = 0; d < rank; d++) {
    tp__index index;
    int64_t lo, hi;
    if (!tp__index_of(generic, mlirOperationGetOperand(read, d + 1), &index))
      return false;
    tp__index_bounds(generic, index, &lo, &hi);
    if (lo < 0 || hi >= shape[d])
      return false;
    bool is_loop = index.loop >= 0;
    offsets[d] = is_loop ? lo : 0;
    sizes[d] = is_loop ? hi - lo + 1 : shape[d];
    exprs[d] = is_loop ? mlirAffineDimExprGet(context, index.loop)
                       : mlirAffineConstantExprGet(context, index.offset);
  }
  *map = mlirAffineMapGet(context, generic->n_loops, 0, rank, exprs);
  return true;
}

static bool raise_read(tp__raise *raise, tp__generic *generic, MlirOperation read) {
  MlirValue tensor = mlirOperationGetOperand(read, 0), argument;
  int rank;
  int64_t shape[TP_MAX_RANK], offsets[TP_MAX_RANK], sizes[TP_MAX_RANK];
  MlirAffineMap map;
  if (!tp__is_captured(generic->op, tensor) ||
      !tp__static_tensor(mlirValueGetType(tensor), &rank, shape) ||
      !mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(mlirValueGetType(tensor))) ||
      !find_part(generic, read, rank, shape, offsets, sizes, &map) ||
      generic->n_inputs + generic->n_inits + 1 >= TP_RAISE_MAX_OPERANDS)
    return false;
  MlirValue part = tp__slice(generic->op, tensor, offsets, sizes);
  if (!tp__generic_add_input(generic, part, map, &argument))
    return false;
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(read, 0), argument);
  tp__destroy(raise, read);
  raise->statistics[TP_RAISED_READ]++;
  return true;
}

bool tp__raise_reads(tp__raise *raise, tp__generic *generic) {
  return tp__raise_each_read(raise, generic, raise_read);
}
