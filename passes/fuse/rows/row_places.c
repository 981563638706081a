/* Maps the dimensions of tensors, indexing maps and reshapes to the frame of row expressions. */
#include "passes/fuse/rows/row_places.h"

#include <mlir-c/Dialect/Linalg.h>

/* ---- shapes ---- */

/* Returns the first dimension of the frame from `at` on that is longer than 1, or the last
 * dimension. */
static int next_outer(const tp__rows *rows, int at) {
  while (at < rows->rank - 1 && rows->shape[at] == 1)
    at++;
  return at;
}

static tp__row_form form_in_groups(const tp__rows *rows, int64_t group, MlirValue value,
                                   int *dims) {
  int rank, at = 0, last = rows->rank - 1;
  int64_t shape[TP_MAX_RANK], hidden = rows->shape[last];
  tp__row_form form = hidden == 1 ? TP_ROW_WHOLE : TP_ROW_NUMBERS;
  if (!tp__static_tensor(mlirValueGetType(value), &rank, shape))
    return TP_ROW_OTHER;
  for (int d = 0; d < rank; d++) {
    dims[d] = TP_ROW_UNIT;
    if (shape[d] == 1)
      continue;
    at = next_outer(rows, at);
    if (at < last && shape[d] == rows->shape[at]) {
      dims[d] = at++;
    } else if (at == last && form == TP_ROW_NUMBERS && shape[d] == hidden) {
      dims[d] = last;
      form = TP_ROW_WHOLE;
    } else if (at == last && form == TP_ROW_NUMBERS && group && shape[d] == hidden / group) {
      dims[d] = TP_ROW_GROUP;
      form = TP_ROW_GROUP_NUMBERS;
    } else if (form == TP_ROW_GROUP_NUMBERS && shape[d] == group) {
      dims[d] = TP_ROW_MEMBER;
      form = TP_ROW_WHOLE;
    } else {
      return TP_ROW_OTHER;
    }
  }
  return next_outer(rows, at) == last ? form : TP_ROW_OTHER;
}

tp__row_form tp__row_form_of(const tp__rows *rows, MlirValue value, int *dims) {
  return form_in_groups(rows, rows->group, value, dims);
}

/* Maps the dimensions of a reshape that adds or drops dimensions of size 1, or converts between
 * [.., hidden] and [.., hidden / group, group]. */
bool tp__row_reshape(const tp__rows *rows, MlirOperation op, const int *dims, int *of) {
  int rank, to_rank, at = 0;
  int64_t shape[TP_MAX_RANK], to_shape[TP_MAX_RANK];
  if (!tp__static_tensor(mlirValueGetType(mlirOperationGetOperand(op, 0)), &rank, shape) ||
      !tp__static_tensor(mlirValueGetType(mlirOperationGetResult(op, 0)), &to_rank, to_shape))
    return false;
  int last = rows->rank - 1;
  for (int d = 0; d < rank; d++) {
    of[d] = TP_ROW_UNIT;
    if (shape[d] == 1)
      continue;
    while (at < to_rank && to_shape[at] == 1)
      at++;
    if (at == to_rank)
      return false;
    int next = at + 1, below = d + 1;
    while (next < to_rank && to_shape[next] == 1)
      next++;
    while (below < rank && shape[below] == 1)
      of[below++] = TP_ROW_UNIT;
    if (to_shape[at] == shape[d]) {
      of[d] = dims[at++];
    } else if (next < to_rank && dims[at] == TP_ROW_GROUP && dims[next] == TP_ROW_MEMBER &&
               shape[d] == rows->shape[last]) {
      of[d] = last;
      at = next + 1;
    } else if (below < rank && rows->group && dims[at] == last && shape[below] == rows->group &&
               shape[d] == rows->shape[last] / rows->group) {
      of[d] = TP_ROW_GROUP;
      of[below] = TP_ROW_MEMBER;
      at++;
      d = below;
    } else {
      return false;
    }
  }
  return true;
}

/* ---- maps ---- */

bool tp__row_maps(MlirOperation op, MlirAttribute *maps) {
  if (!tp__op_has_dialect(op, "linalg") || tp__op_is(op, "linalg.yield") ||
      tp__op_is(op, "linalg.index"))
    return false;
  *maps = mlirLinalgGetIndexingMapsAttribute(op);
  return !mlirAttributeIsNull(*maps) &&
         mlirArrayAttrGetNumElements(*maps) == mlirOperationGetNumOperands(op) &&
         mlirOperationGetNumResults(op) > 0;
}

/* A map result that is not a single loop: loop * size + member, loop floordiv size, or loop mod
 * size. `loop` and `member` are loop numbers; `member` is -1 except in the first form. */
typedef struct grouped {
  int loop, member;
  int64_t size;
  int dim, made; /* frame dimensions: that of `loop`, and that of the result */
} grouped;

static bool is_loop_and_number(MlirAffineExpr e, int *loop, int64_t *number) {
  MlirAffineExpr a = mlirAffineBinaryOpExprGetLHS(e), b = mlirAffineBinaryOpExprGetRHS(e);
  if (!mlirAffineExprIsADim(a) || !mlirAffineExprIsAConstant(b))
    return false;
  *loop = (int)mlirAffineDimExprGetPosition(a);
  *number = mlirAffineConstantExprGetValue(b);
  return *number > 1;
}

static bool read_grouped(const tp__rows *rows, MlirAffineExpr e, grouped *g) {
  int last = rows->rank - 1;
  *g = (grouped){.member = -1, .dim = last};
  if (mlirAffineExprIsAFloorDiv(e) || mlirAffineExprIsAMod(e)) {
    g->made = mlirAffineExprIsAMod(e) ? TP_ROW_MEMBER : TP_ROW_GROUP;
    return is_loop_and_number(e, &g->loop, &g->size);
  }
  if (!mlirAffineExprIsAAdd(e))
    return false;
  MlirAffineExpr a = mlirAffineBinaryOpExprGetLHS(e), b = mlirAffineBinaryOpExprGetRHS(e);
  MlirAffineExpr scaled = mlirAffineExprIsADim(a) ? b : a, member = mlirAffineExprIsADim(a) ? a : b;
  if (!mlirAffineExprIsADim(member) || !mlirAffineExprIsAMul(scaled) ||
      !is_loop_and_number(scaled, &g->loop, &g->size))
    return false;
  g->member = (int)mlirAffineDimExprGetPosition(member);
  g->dim = TP_ROW_GROUP;
  g->made = last;
  return true;
}

int tp__row_place(const tp__rows *rows, MlirAffineExpr e, const int *loops) {
  grouped g;
  if (mlirAffineExprIsADim(e))
    return loops[mlirAffineDimExprGetPosition(e)];
  if (mlirAffineExprIsAConstant(e))
    return TP_ROW_UNIT;
  bool known = read_grouped(rows, e, &g) && g.size == rows->group && loops[g.loop] == g.dim &&
               (g.member < 0 || loops[g.member] == TP_ROW_MEMBER);
  return known ? g.made : TP_ROW_NO_DIM;
}

/* True if the loops read exactly the elements of a dimension of size `extent`. */
static bool reads_all(const grouped *g, const int64_t *sizes, int64_t extent) {
  if (g->member >= 0)
    return sizes[g->member] == g->size && extent % g->size == 0 &&
           sizes[g->loop] == extent / g->size;
  return sizes[g->loop] % g->size == 0 &&
         extent == (g->made == TP_ROW_MEMBER ? g->size : sizes[g->loop] / g->size);
}

bool tp__row_loop_sizes(const tp__rows *rows, MlirOperation op, MlirAttribute maps,
                        int64_t *sizes) {
  intptr_t n_loops = mlirAffineMapGetNumDims(tp__map_at(maps, 0));
  if (n_loops > TP_MAX_RANK)
    return false;
  for (intptr_t i = 0; i < n_loops; i++)
    sizes[i] = 0;
  for (int pass = 0; pass < 2; pass++) /* first plain loops, then compound results */
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
      int rank;
      int64_t shape[TP_MAX_RANK];
      MlirAffineMap map = tp__map_at(maps, i);
      if (!tp__is_tensor(mlirValueGetType(mlirOperationGetOperand(op, i))))
        continue;
      if (!tp__static_tensor(mlirValueGetType(mlirOperationGetOperand(op, i)), &rank, shape))
        return false;
      for (int d = 0; d < rank; d++) {
        MlirAffineExpr e = mlirAffineMapGetResult(map, d);
        grouped g;
        if (mlirAffineExprIsADim(e))
          sizes[mlirAffineDimExprGetPosition(e)] = shape[d];
        else if (pass == 1 && !(mlirAffineExprIsAConstant(e) && shape[d] == 1) &&
                 !(rows->group && read_grouped(rows, e, &g) && reads_all(&g, sizes, shape[d])))
          return false;
      }
    }
  return true;
}

/* ---- groups ---- */

/* Returns `size` if it can be a group size of the rows, else 0. */
static int64_t group_of(const tp__rows *rows, int64_t size) {
  int64_t hidden = rows->shape[rows->rank - 1];
  return size > 1 && size < hidden && hidden % size == 0 ? size : 0;
}

static int64_t group_of_shape(const tp__rows *rows, MlirValue value) {
  int rank, dims[TP_MAX_RANK];
  int64_t shape[TP_MAX_RANK];
  if (!tp__static_tensor(mlirValueGetType(value), &rank, shape))
    return 0;
  while (rank > 0 && shape[rank - 1] == 1)
    rank--;
  int64_t group = rank > 0 ? group_of(rows, shape[rank - 1]) : 0;
  bool has = group && form_in_groups(rows, group, value, dims) == TP_ROW_WHOLE &&
             dims[rank - 1] == TP_ROW_MEMBER;
  return has ? group : 0;
}

int64_t tp__row_group_of(const tp__rows *rows, MlirOperation op) {
  MlirAttribute maps;
  grouped g;
  int64_t group = 0;
  for (intptr_t k = 0; k < mlirOperationGetNumResults(op) && !group; k++)
    group = group_of_shape(rows, mlirOperationGetResult(op, k));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) && !group; i++)
    group = group_of_shape(rows, mlirOperationGetOperand(op, i));
  for (intptr_t i = 0; tp__row_maps(op, &maps) && i < mlirOperationGetNumOperands(op) && !group;
       i++)
    for (intptr_t d = 0; d < mlirAffineMapGetNumResults(tp__map_at(maps, i)) && !group; d++)
      if (read_grouped(rows, mlirAffineMapGetResult(tp__map_at(maps, i), d), &g))
        group = group_of(rows, g.size);
  return group;
}

/* ---- ops ---- */

bool tp__row_is_elementwise(MlirOperation op) {
  if ((!tp__op_has_dialect(op, "arith") && !tp__op_has_dialect(op, "math")) ||
      mlirOperationGetNumResults(op) != 1)
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (!tp__is_tensor(mlirValueGetType(mlirOperationGetOperand(op, i))))
      return false;
  return tp__is_tensor(mlirValueGetType(mlirOperationGetResult(op, 0)));
}
