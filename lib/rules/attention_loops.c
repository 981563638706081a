/* Tracks which loops of an attention each dimension of its values runs through. */
#include "rules/attention_loops.h"

#include <string.h>

tp_attention_op *tp__attention_add(tp_attention *a, MlirOperation op, tp_attention_role role) {
  if (a->n_ops == TP_MAX_ATTENTION_OPS)
    return NULL;
  tp_attention_op *made = &a->ops[a->n_ops++];
  *made = (tp_attention_op){.op = op, .role = role};
  made->is_nest = tp__nest_of(op, &made->nest);
  return made;
}

int tp__attention_loop(tp_attention *a, int64_t size) {
  if (a->n_loops == TP_MAX_SCORE_LOOPS)
    return -1;
  a->sizes[a->n_loops] = size;
  return a->n_loops++;
}

bool tp__has_loop(const tp_score_dim *dims, int n, int loop) {
  for (int d = 0; d < n; d++)
    for (int k = 0; k < dims[d].n; k++)
      if (dims[d].loops[k] == loop)
        return true;
  return false;
}

static int64_t size_of(const tp_attention *a, tp_score_dim dim) {
  int64_t size = 1;
  for (int k = 0; k < dim.n; k++)
    size *= a->sizes[dim.loops[k]];
  return size;
}

static bool same_dim(tp_score_dim x, tp_score_dim y) {
  return x.n == y.n && memcmp(x.loops, y.loops, x.n) == 0;
}

bool tp__attention_assign(const tp_attention *a, tp_attention_op *op, const tp_nest *nest,
                          int operand, const tp_score_dim *dims, uint32_t *known) {
  MlirType type = mlirValueGetType(mlirOperationGetOperand(nest->op, operand));
  op->n_loops = nest->n_loops;
  for (int d = 0; d < mlirShapedTypeGetRank(type); d++) {
    int loop = tp__nest_loop(nest, operand, d);
    int64_t size = mlirShapedTypeGetDimSize(type, d);
    if (loop == TP_WHOLE_DIM ? dims[d].n != 0 : size_of(a, dims[d]) != size)
      return false;
    if (loop == TP_WHOLE_DIM)
      continue;
    if ((*known >> loop & 1) && !same_dim(op->loops[loop], dims[d]))
      return false;
    op->loops[loop] = dims[d];
    *known |= UINT32_C(1) << loop;
  }
  return true;
}

void tp__attention_operand_dims(const tp_attention_op *op, int operand, tp_score_dim *dims) {
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetOperand(op->op, operand)));
  for (int d = 0; d < rank; d++) {
    int loop = op->is_nest ? tp__nest_loop(&op->nest, operand, d) : d;
    dims[d] = !op->is_nest           ? op->from[d]
              : loop == TP_WHOLE_DIM ? (tp_score_dim){0}
                                     : op->loops[loop];
  }
}

void tp__attention_result_dims(const tp_attention_op *op, tp_score_dim *dims) {
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetResult(op->op, 0)));
  bool is_written = op->is_nest && op->nest.is_written;
  for (int d = 0; d < rank; d++) {
    int loop = is_written ? tp__nest_loop(&op->nest, op->nest.n_inputs, d) : d;
    dims[d] = loop == TP_WHOLE_DIM ? (tp_score_dim){0} : op->loops[loop];
  }
}

/* ---- reshapes ---- */

static bool split_dims(tp_score_dim *dims, int n, int loop, int minor) {
  for (int d = 0; d < n; d++)
    for (int k = 0; k < dims[d].n; k++) {
      if (dims[d].loops[k] != loop)
        continue;
      if (dims[d].n == TP_MAX_DIM_FACTORS)
        return false;
      memmove(&dims[d].loops[k + 2], &dims[d].loops[k + 1], (size_t)(dims[d].n - k - 1));
      dims[d].loops[k + 1] = (uint8_t)minor;
      dims[d].n++;
      break; /* a loop occurs at most once in a dimension */
    }
  return true;
}

/* Splits a loop in two. The loop itself becomes the major one, with `major` iterations. */
static bool split_loop(tp_attention *a, int loop, int64_t major) {
  int minor = tp__attention_loop(a, a->sizes[loop] / major);
  if (minor < 0 || loop == a->column)
    return false;
  a->sizes[loop] = major;
  a->rows |= (a->rows >> loop & 1) << minor;
  bool fits = true;
  for (int i = 0; i < a->n_ops; i++) {
    tp_attention_op *op = &a->ops[i];
    fits &= split_dims(op->loops, op->n_loops, loop, minor) &&
            split_dims(op->from, op->n_from, loop, minor) &&
            split_dims(op->row_dims, op->n_rows, loop, minor);
  }
  return fits;
}

int tp__shape_of(MlirValue value, int64_t *shape) {
  int rank = 0;
  tp__static_tensor(mlirValueGetType(value), &rank, shape);
  return rank;
}

/* Distributes the loops of `flat` over dimensions of these sizes, in order. SPLIT: `loop` must
 * first be split, with `major` iterations for its major part. */
typedef enum dims_match { MATCHED, SPLIT, UNFIT } dims_match;

static dims_match match_dims(const tp_attention *a, int n_flat, const uint8_t *flat, int rank,
                             const int64_t *shape, tp_score_dim *dims, int *loop, int64_t *major) {
  int at = 0;
  for (int d = 0; d < rank; d++) {
    int64_t left = shape[d];
    dims[d].n = 0;
    while (left > 1 && at < n_flat) {
      int64_t size = a->sizes[flat[at]];
      if (size > left && size % left == 0) {
        *loop = flat[at];
        *major = left;
        return SPLIT;
      }
      if (left % size != 0 || dims[d].n == TP_MAX_DIM_FACTORS)
        return UNFIT;
      left /= size;
      dims[d].loops[dims[d].n++] = flat[at++];
    }
    if (left != 1)
      return UNFIT;
  }
  return at == n_flat ? MATCHED : UNFIT;
}

static int flatten(const tp_score_dim *dims, int rank, int max, uint8_t *flat) {
  int n = 0;
  for (int d = 0; d < rank; d++)
    for (int k = 0; k < dims[d].n; k++) {
      if (n == max)
        return -1;
      flat[n++] = dims[d].loops[k];
    }
  return n;
}

bool tp__attention_reshape(tp_attention *a, tp_attention_op *op, const tp_score_dim *from) {
  int64_t shape[TP_MAX_RANK], major = 0;
  uint8_t flat[TP_MAX_SCORE_LOOPS];
  int loop = 0;
  op->n_from = (int)mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetOperand(op->op, 0)));
  memcpy(op->from, from, (size_t)op->n_from * sizeof *from);
  op->n_loops = tp__shape_of(mlirOperationGetResult(op->op, 0), shape);
  for (;;) {
    int n = flatten(op->from, op->n_from, TP_LEN(flat), flat);
    dims_match how =
        n < 0 ? UNFIT : match_dims(a, n, flat, op->n_loops, shape, op->loops, &loop, &major);
    if (how != SPLIT)
      return how == MATCHED;
    op->n_loops = 0; /* the partial assignment must not be split as well */
    if (!split_loop(a, loop, major))
      return false;
    op->n_loops = tp__shape_of(mlirOperationGetResult(op->op, 0), shape);
  }
}

bool tp__attention_reshape_back(const tp_attention *a, tp_attention_op *op,
                                const tp_score_dim *to) {
  int64_t shape[TP_MAX_RANK], major;
  uint8_t flat[TP_MAX_SCORE_LOOPS];
  int loop;
  op->n_loops = (int)mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetResult(op->op, 0)));
  memcpy(op->loops, to, (size_t)op->n_loops * sizeof *to);
  op->n_from = tp__shape_of(mlirOperationGetOperand(op->op, 0), shape);
  int n = flatten(op->loops, op->n_loops, TP_LEN(flat), flat);
  return n >= 0 && match_dims(a, n, flat, op->n_from, shape, op->from, &loop, &major) == MATCHED;
}
