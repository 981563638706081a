/* Finds the values that a program computes from the rows of a reduction over devices: the sum with
 * bias and residual, the norm, and the f8 quantization. */
#include "passes/fuse/fuse.h"

#include "support/support.h"

/* Returns the node of result k of an op if it has the element type of the rows, else
 * TP_ROW_UNKNOWN. */
static int node_of_result(tp__rows *rows, MlirOperation op, int k, MlirValue *value) {
  if (k >= mlirOperationGetNumResults(op))
    return TP_ROW_UNKNOWN;
  *value = mlirOperationGetResult(op, k);
  bool same = mlirTypeEqual(tp__element_type(mlirValueGetType(*value)),
                            tp__element_type(mlirValueGetType(rows->root)));
  return same ? tp__row_of_whole(rows, *value) : TP_ROW_UNKNOWN;
}

enum { MAX_SUMS = 16, MAX_RESULTS = 4 };

typedef struct row_sums {
  int n;
  struct {
    tp__row_sum sum;
    MlirValue value; /* first value that equals the sum */
  } items[MAX_SUMS];
} row_sums;

/* Finds sums of the root with other values, shorter sums first. */
static void find_sums(tp__rows *rows, row_sums *sums) {
  sums->n = 1;
  sums->items[0].value = rows->root;
  tp__match_row_sum(rows, tp__row_of_whole(rows, rows->root), &sums->items[0].sum);
  for (int i = 0; i < rows->n_ops; i++)
    for (int k = 0; k < MAX_RESULTS; k++) {
      MlirValue value;
      tp__row_sum sum;
      int node = node_of_result(rows, rows->ops[i], k, &value);
      bool is_new = node >= 0 && sums->n < MAX_SUMS && tp__match_row_sum(rows, node, &sum);
      for (int j = 0; j < sums->n && is_new; j++)
        is_new = sums->items[j].sum.node != node;
      if (!is_new)
        continue;
      sums->items[sums->n].sum = sum;
      sums->items[sums->n++].value = value;
    }
}

/* Finds the sum that is normalized and its norm. Without a norm, takes the sum with the most
 * terms. */
static void find_rows(tp__rows *rows, tp__fusion *f) {
  row_sums sums;
  find_sums(rows, &sums);
  for (int i = 0; i < rows->n_ops; i++)
    for (int k = 0; k < MAX_RESULTS; k++) {
      MlirValue value;
      int node = node_of_result(rows, rows->ops[i], k, &value);
      for (int j = sums.n; node >= 0 && j-- > 0;)
        if (tp__match_row_norm(rows, node, sums.items[j].sum.node, &f->norm)) {
          f->sum = sums.items[j].sum;
          f->made[TP_RESULT_SUM].value = sums.items[j].value;
          f->made[TP_RESULT_OUT].value = value;
          return;
        }
    }
  f->norm = (tp__row_norm){0};
  f->sum = sums.items[sums.n - 1].sum;
  f->made[TP_RESULT_SUM].value = f->made[TP_RESULT_OUT].value = sums.items[sums.n - 1].value;
}

/* Fails for an arith.maxnumf, which ignores NaN. The kernels propagate NaN. */
static tp_status is_not_maxnum(MlirOperation op, void *data) {
  (void)data;
  return tp__op_is(op, "arith.maxnumf") ? TP_UNSUPPORTED : TP_OK;
}

static bool is_made_before(MlirOperation where, MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  return mlirOperationIsNull(op) ||
         !mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(where)) ||
         mlirOperationIsBeforeInBlock(op, where);
}

bool tp__computes_scales(const tp__fusion *f) {
  return f->quantize.kind == TP_QUANTIZED_PER_TOKEN || f->quantize.kind == TP_QUANTIZED_PER_GROUP;
}

/* Finds the first tensor that holds the computed scales. */
static void find_scales(tp__rows *rows, tp__fusion *f) {
  int (*const node_of)(tp__rows *, MlirValue) =
      f->quantize.kind == TP_QUANTIZED_PER_GROUP ? tp__row_of_group_number : tp__row_of_number;
  for (int i = 0;
       i < rows->n_ops && tp__computes_scales(f) && mlirValueIsNull(f->made[TP_RESULT_SCALE].value);
       i++)
    for (int k = 0; k < mlirOperationGetNumResults(rows->ops[i]) &&
                    mlirValueIsNull(f->made[TP_RESULT_SCALE].value);
         k++) {
      MlirValue value = mlirOperationGetResult(rows->ops[i], k);
      if (node_of(rows, value) == f->quantize.scale &&
          mlirTypeIsAF32(tp__element_type(mlirValueGetType(value))))
        f->made[TP_RESULT_SCALE].value = value;
    }
}

/* Finds the f8 quantization of the output so far, and its scales if the program has a tensor of
 * them. */
static void find_quantization(tp__rows *rows, tp__fusion *f) {
  int y = tp__row_of_whole(rows, f->made[TP_RESULT_OUT].value);
  const char *obstacle = NULL;
  for (int i = 0; i < rows->n_ops && f->quantize.kind == TP_NOT_QUANTIZED; i++)
    for (int k = 0;
         k < mlirOperationGetNumResults(rows->ops[i]) && f->quantize.kind == TP_NOT_QUANTIZED;
         k++) {
      f->made[TP_RESULT_QUANTIZED].value = mlirOperationGetResult(rows->ops[i], k);
      tp__match_row_quantization(rows, tp__row_of_whole(rows, f->made[TP_RESULT_QUANTIZED].value),
                                 y, &f->quantize);
      obstacle = obstacle ? obstacle : f->quantize.obstacle;
    }
  for (int i = 0; i < rows->n_ops && f->quantize.kind != TP_NOT_QUANTIZED; i++)
    if (tp__walk(rows->ops[i], is_not_maxnum, NULL) != TP_OK)
      f->quantize =
          (tp__row_quantization){.obstacle = "a maximum of its rows ignores NaN (maxnumf)"};
  if (f->quantize.kind == TP_QUANTIZED_STATIC &&
      !is_made_before(f->collective, f->quantize.static_scale))
    f->quantize = (tp__row_quantization){.obstacle = "its scale is computed after the collective"};
  if (f->quantize.kind == TP_NOT_QUANTIZED) {
    f->made[TP_RESULT_QUANTIZED].value = (MlirValue){NULL};
    f->quantize.obstacle = obstacle ? obstacle : f->quantize.obstacle;
  }
  find_scales(rows, f);
}

void tp__find_fused_rows(tp__rows *rows, tp__fusion *f) {
  find_rows(rows, f);
  find_quantization(rows, f);
}
