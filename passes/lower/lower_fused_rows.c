/* Sums of rows with what is done to them -> tprt_abi_reduce_rows and the like. */
#include "passes/fuse/fuse.h"
#include "passes/lower/lower_fused.h"

#include "tprt/cuda.h"

/* ---- sites ---- */

/* The names of operands and results, in the order of their bits. */
static const char *const operand_names[TP_FUSED_OPERANDS] = {
    "input", "a", "b", "residual", "bias", "gamma", "beta", "static_scale"};
static const char *const result_names[TP_FUSED_RESULTS] = {[TP_RESULT_SUM] = "residual_out",
                                                           [TP_RESULT_OUT] = "out",
                                                           [TP_RESULT_QUANTISED] = "quantised",
                                                           [TP_RESULT_SCALE] = "scale"};
enum { N_ROW_OPERANDS = 3 }; /* input, a, b: the rows; others may be missing */
enum { GIVEN = 1, PRODUCT = 6, STATIC_SCALE = TP_FUSED_OPERANDS - 1 };

/* The kinds of functions. */
typedef struct row_kind {
  const char *name;
  tprt_site_kind kind;
  const char *callee;
  int64_t rows; /* operands that are the rows, as bits */
  bool quantises;
} row_kind;

static const row_kind kinds[] = {
    {"reduce_rows", TPRT_SITE_REDUCE_ROWS, "tprt_abi_reduce_rows", GIVEN, false},
    {"multiply_rows", TPRT_SITE_MULTIPLY_ROWS, "tprt_abi_multiply_rows", PRODUCT, false},
    {"quantise_rows", TPRT_SITE_QUANTISE_ROWS, "tprt_abi_quantise_rows", GIVEN, true},
    {"multiply_quantise_rows", TPRT_SITE_MULTIPLY_QUANTISE_ROWS, "tprt_abi_multiply_quantise_rows",
     PRODUCT, true},
};

/* What a call has of it: bits of the names. */
typedef struct row_call {
  const row_kind *kind;
  int64_t operands, results;
  int n_operands, n_results; /* of the runtime's function */
} row_call;

static bool has(int64_t bits, int i) { return bits >> i & 1; }

static tp_status read_kind(const tp__fused_call *d, row_call *c) {
  for (int i = 0; i < TP_LEN(kinds); i++)
    if (tp__fused_text(tp__fused_entry(d, "kind"), 1, &kinds[i].name) == 0) {
      c->kind = &kinds[i];
      c->n_operands = kinds[i].quantises ? TP_FUSED_OPERANDS : STATIC_SCALE;
      c->n_results = kinds[i].quantises ? TP_FUSED_RESULTS : TP_RESULT_QUANTISED;
      return TP_OK;
    }
  return tp__fused_refuse(d, "kind");
}

/* ---- words ---- */

static tp_status read_rows(const tp__fused_call *d, int64_t *extra) {
  static const char *const algorithms[] = {[TPRT_CUDA_AUTO] = "auto",
                                           [TPRT_CUDA_PUSH] = "push",
                                           [TPRT_CUDA_PULL] = "pull",
                                           [TPRT_CUDA_SLICES] = "slices"};
  static const char *const norms[] = {[TPRT_CUDA_NO_NORM] = "none",
                                      [TPRT_CUDA_RMS_NORM] = "rms_norm",
                                      [TPRT_CUDA_LAYER_NORM] = "layer_norm"};
  static const char *const layouts[] = {[TPRT_ROWS_WHOLE] = "whole",
                                        [TPRT_ROWS_SCATTERED] = "scattered",
                                        [TPRT_ROWS_GATHERED] = "gathered"};
  tp_status status =
      tp__fused_choice(d, "layout", TP_LEN(layouts), layouts, &extra[TPRT_ROWS_LAYOUT]);
  if (status == TP_OK)
    status = tp__fused_choice(d, "algorithm", TP_LEN(algorithms), algorithms,
                              &extra[TPRT_ROWS_ALGORITHM]);
  if (status == TP_OK)
    status = tp__fused_choice(d, "norm", TP_LEN(norms), norms, &extra[TPRT_ROWS_NORM]);
  if (status != TP_OK || extra[TPRT_ROWS_NORM] == TPRT_CUDA_NO_NORM)
    return status;
  return tp__fused_float(d, "epsilon", &extra[TPRT_ROWS_EPSILON]);
}

static tp_status read_names(const tp__fused_call *d, row_call *c) {
  tp_status status = tp__fused_bits(d, "operands", TP_FUSED_OPERANDS, operand_names, &c->operands);
  if (status == TP_OK)
    status = tp__fused_bits(d, "results", TP_FUSED_RESULTS, result_names, &c->results);
  int64_t rows = c->operands & ((1 << N_ROW_OPERANDS) - 1);
  if (status == TP_OK && (tp__n_bits(c->operands) != mlirOperationGetNumOperands(d->call) ||
                          rows != c->kind->rows || c->operands >> c->n_operands))
    status = tp__fused_refuse(d, "operands");
  if (status == TP_OK &&
      (tp__n_bits(c->results) != mlirOperationGetNumResults(d->call) ||
       c->results >> c->n_results ||
       !has(c->results, c->kind->quantises ? TP_RESULT_QUANTISED : TP_RESULT_OUT)))
    status = tp__fused_refuse(d, "results");
  return status;
}

static tp_status read_quantisation(const tp__fused_call *d, const row_call *c, int64_t *extra) {
  /* from TPRT_CUDA_STATIC on */
  static const char *const names[] = {"static", "per_token", "per_group"};
  int64_t kind = 0;
  tp_status status = tp__fused_choice(d, "quantise", TP_LEN(names), names, &kind);
  if (status == TP_OK)
    status = tp__fused_float(d, "least_largest", &extra[TPRT_QUANTISE_LEAST_LARGEST]);
  if (status == TP_OK)
    status = tp__fused_float(d, "least_scale", &extra[TPRT_QUANTISE_LEAST_SCALE]);
  extra[TPRT_QUANTISE_KIND] = TPRT_CUDA_STATIC + kind;
  extra[TPRT_QUANTISE_DIVIDES] = 1;
  bool is_static = kind == 0;
  if (status == TP_OK && is_static != has(c->operands, STATIC_SCALE))
    status = tp__fused_refuse(d, "operands");
  if (status == TP_OK && is_static == has(c->results, TP_RESULT_SCALE))
    status = tp__fused_refuse(d, "results");
  return status;
}

/* All of a site but its axes; the number of words of its extra data. */
static tp_status read_site(const tp__fused_call *d, row_call *c, MlirType *rows, int64_t *extra,
                           int *n_extra) {
  MlirAttribute dim = tp__fused_entry(d, "dim");
  *n_extra = TPRT_ROWS_WORDS;
  tp_status status = read_kind(d, c);
  if (status == TP_OK)
    status = read_rows(d, extra);
  if (status == TP_OK)
    status = read_names(d, c);
  if (status == TP_OK && c->kind->quantises) {
    status = read_quantisation(d, c, extra);
    *n_extra = TPRT_QUANTISE_WORDS;
  }
  if (status == TP_OK && (mlirAttributeIsNull(dim) || !mlirAttributeIsAInteger(dim)))
    status = tp__fused_refuse(d, "dim");
  if (status != TP_OK)
    return status;
  if (c->kind->rows == GIVEN) {
    *rows = mlirValueGetType(mlirOperationGetOperand(d->call, 0));
  } else {
    status = tp__fused_product(d, rows, &extra[*n_extra], &extra[*n_extra + 1]);
    *n_extra += TPRT_MULTIPLY_WORDS - TPRT_ROWS_WORDS;
  }
  extra[TPRT_ROWS_OPERANDS] =
      (c->operands >> N_ROW_OPERANDS & (TPRT_ROWS_RESIDUAL_OUT - 1)) |
      (has(c->results, TP_RESULT_SUM) ? TPRT_ROWS_RESIDUAL_OUT : 0) |
      (c->kind->quantises && has(c->results, TP_RESULT_OUT) ? TPRT_ROWS_OUT : 0);
  return status;
}

/* ---- the call ---- */

tp_status tp__lower_fused_rows(tp__lowering *l, const tp__fused_call *d) {
  MlirOperation op = d->call;
  int64_t site[TPRT_SITE_WORDS], extra[TPRT_MULTIPLY_QUANTISE_WORDS] = {0};
  int n_axes, axes[TP_MAX_AXES], at = 0, n_extra;
  row_call c;
  MlirType rows = {NULL};
  tp_status status = read_site(d, &c, &rows, extra, &n_extra);
  if (status == TP_OK)
    status = tp__fused_mesh_axes(d, &l->mesh, &n_axes, axes);
  if (status == TP_OK)
    status = tp__site_begin(op, c.kind->kind, n_axes, axes, rows, site);
  if (status != TP_OK)
    return status;
  site[2] = TPRT_SUM;
  site[27] = mlirIntegerAttrGetValueInt(tp__fused_entry(d, "dim"));
  MlirValue none = tp__build_one(op, "llvm.mlir.zero", 0, NULL, l->ptr), buffers[TP_FUSED_RESULTS],
            received[TP_FUSED_RESULTS];
  MlirValue given[2 + TP_FUSED_OPERANDS + TP_FUSED_RESULTS] = {l->ctx};
  int n_given = 2;
  for (int i = 0; i < c.n_results; i++)
    received[i] = has(c.results, i)
                      ? tp__site_receive(l, op, mlirValueGetType(mlirOperationGetResult(op, at++)),
                                         &buffers[i])
                      : none;
  at = 0;
  for (int i = 0; i < c.n_operands; i++)
    if (has(c.operands, i))
      given[n_given++] = tp__site_send(l, op, mlirOperationGetOperand(op, at++));
    else if (i >= N_ROW_OPERANDS)
      given[n_given++] = none;
  for (int i = 0; i < c.n_results; i++)
    given[n_given++] = received[i];
  given[1] = tp__build_int(op, l->i32, tp__lowering_site(l, site, n_extra, extra));
  tp__build_call(l, op, c.kind->callee, n_given, given, l->i32);
  at = 0;
  for (int i = 0; i < c.n_results; i++) {
    if (!has(c.results, i))
      continue;
    MlirValue result = mlirOperationGetResult(op, at++);
    mlirValueReplaceAllUsesOfWith(result,
                                  tp__site_value(l, op, mlirValueGetType(result), buffers[i]));
  }
  mlirOperationDestroy(op);
  return TP_OK;
}
