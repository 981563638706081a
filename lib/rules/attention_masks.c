/* Finds the masks of an attention: values as large as the scores that do not depend on scores, and
 * are therefore computed block by block with them. A mask that takes many ops, such as the random
 * numbers of a dropout, is computed once and stored: as bools where it is made of bools. */
#include "rules/attention.h"
#include "rules/attention_loops.h"

static bool is_as_large(const tp_attention *a, const tp_score_dim *dims, int n) {
  bool has_rows = false;
  for (int l = 0; l < a->n_loops; l++)
    has_rows |= (a->rows >> l & 1) && tp__has_loop(dims, n, l);
  return has_rows && tp__has_loop(dims, n, a->column);
}

/* True if the elements are computed from their places alone, such as the positions of columns that
 * a mask compares with those of rows. */
static bool are_positions(MlirValue value, int depth) {
  enum { DEEPEST = 8 };
  MlirOperation op = tp__defining_op(value);
  MlirType element = tp__element_type(mlirValueGetType(value));
  tp_nest nest;
  if (mlirOperationIsNull(op) || depth == DEEPEST ||
      !(mlirTypeIsAInteger(element) || mlirTypeIsAIndex(element)))
    return false;
  if (tp__op_is(op, "linalg.fill"))
    return true;
  if (tp__op_is(op, "arith.constant")) {
    MlirAttribute numbers = tp__inherent(op, "value"); /* a resource has different numbers */
    return mlirAttributeIsADenseElements(numbers) && mlirDenseElementsAttrIsSplat(numbers);
  }
  if (!tp__nest_of(op, &nest) || !tp__nest_is_elementwise(&nest))
    return false;
  for (int i = 0; i < nest.n_inputs; i++)
    if (!mlirTypeIsARankedTensor(mlirValueGetType(mlirOperationGetOperand(op, i))) ||
        !are_positions(mlirOperationGetOperand(op, i), depth + 1))
      return false;
  return true;
}

/* Most ops that compute a mask in blocks. */
enum { MOST_MASK_OPS = 24 };

typedef struct mask_finder {
  tp_attention *a;
  bool is_of_dropout;
  bool to_bools;    /* bools are stored */
  bool is_too_long; /* the attention has no room for an op */
} mask_finder;

/* Adds the op that produces `value`, if it is a mask, and those that compute its inputs. */
static void add_mask(mask_finder *f, MlirValue value, const tp_score_dim *dims) {
  tp_attention *a = f->a;
  MlirOperation op = tp__defining_op(value);
  tp_score_dim of[TP_MAX_RANK];
  int n_ops = a->n_ops;
  uint32_t known = 0;
  int rank = mlirTypeIsARankedTensor(mlirValueGetType(value))
                 ? (int)mlirShapedTypeGetRank(mlirValueGetType(value))
                 : 0;
  if (mlirOperationIsNull(op) ||
      (f->to_bools && tp__is_bool(tp__element_type(mlirValueGetType(value)))) ||
      tp__attention_producer(a, value) >= 0 ||
      !(is_as_large(a, dims, rank) ||
        (mlirTypeIsARankedTensor(mlirValueGetType(value)) && are_positions(value, 0))))
    return;
  tp_attention_op *made = tp__attention_add(a, op, TP_MASK);
  if (!made) {
    f->is_too_long = true;
    return;
  }
  made->is_of_dropout = f->is_of_dropout;
  if (tp__is_reshape(op)) {
    if (tp__attention_reshape_back(a, made, dims))
      add_mask(f, mlirOperationGetOperand(op, 0), made->from);
    else
      a->n_ops = n_ops;
    return;
  }
  bool fits =
      made->is_nest && tp__nest_is_elementwise(&made->nest) && !tp__op_is(op, "linalg.fill");
  const tp_nest *nest = &made->nest;
  made->n_loops = nest->n_loops;
  for (int d = 0; d < rank && fits; d++) {
    int loop = nest->is_written ? tp__nest_loop(nest, nest->n_inputs, d) : d;
    fits = loop != TP_WHOLE_DIM;
    if (fits) {
      made->loops[loop] = dims[d];
      known |= UINT32_C(1) << loop;
    }
  }
  if (!fits || known != (UINT32_C(1) << nest->n_loops) - 1) {
    a->n_ops = n_ops;
    return;
  }
  for (int i = 0; i < nest->n_inputs; i++)
    if (mlirTypeIsARankedTensor(mlirValueGetType(mlirOperationGetOperand(op, i)))) {
      tp__attention_operand_dims(made, i, of);
      add_mask(f, mlirOperationGetOperand(op, i), of);
    }
}

/* Adds what computes a mask: all of it, or only what is made of bools. */
static void add_short_mask(tp_attention *a, MlirValue value, const tp_score_dim *dims,
                           bool is_of_dropout) {
  int n_ops = a->n_ops;
  for (int to_bools = 0; to_bools < 2; to_bools++) {
    mask_finder f = {.a = a, .is_of_dropout = is_of_dropout, .to_bools = to_bools};
    add_mask(&f, value, dims);
    if (!f.is_too_long && a->n_ops - n_ops <= MOST_MASK_OPS)
      return;
    a->n_ops = n_ops;
  }
}

void tp__attention_add_masks(tp_attention *a) {
  tp_score_dim dims[TP_MAX_RANK];
  for (int i = 0, n = a->n_ops; i < n; i++) {
    if ((a->ops[i].role != TP_BEFORE && a->ops[i].role != TP_AFTER) || !a->ops[i].is_nest)
      continue;
    for (int k = 0; k < a->ops[i].nest.n_inputs; k++)
      if (mlirTypeIsARankedTensor(mlirValueGetType(mlirOperationGetOperand(a->ops[i].op, k)))) {
        tp__attention_operand_dims(&a->ops[i], k, dims);
        add_short_mask(a, mlirOperationGetOperand(a->ops[i].op, k), dims,
                       a->ops[i].role == TP_AFTER);
      }
  }
}
