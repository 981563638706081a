/* Lowers calls of fused functions that reduce rows with an epilogue to TPRT_SITE_FUSED_REDUCE. */
#include "passes/fuse/fuse.h"
#include "passes/lower/lower_fused.h"

#include "tprt/cuda.h"

#include <string.h>

/* ---- operands ---- */

/* Names of inputs and outputs in tp.fused, in the order of their bits, and their roles. */
static const char *const input_names[TP_FUSED_OPERANDS] = {
    "input", "a", "b", "residual", "bias", "gamma", "beta", "static_scale"};
static const tprt_operand inputs[TP_FUSED_OPERANDS] = {
    TPRT_IN_TENSOR, TPRT_IN_A,     TPRT_IN_B,    TPRT_IN_RESIDUAL,
    TPRT_IN_BIAS,   TPRT_IN_GAMMA, TPRT_IN_BETA, TPRT_IN_STATIC_SCALE};
static const char *const output_names[TP_FUSED_RESULTS] = {[TP_RESULT_SUM] = "residual_out",
                                                           [TP_RESULT_OUT] = "out",
                                                           [TP_RESULT_QUANTIZED] = "quantized",
                                                           [TP_RESULT_SCALE] = "scale"};
static const tprt_operand outputs[TP_FUSED_RESULTS] = {[TP_RESULT_SUM] = TPRT_OUT_RESIDUAL,
                                                       [TP_RESULT_OUT] = TPRT_OUT_TENSOR,
                                                       [TP_RESULT_QUANTIZED] = TPRT_OUT_QUANTIZED,
                                                       [TP_RESULT_SCALE] = TPRT_OUT_SCALE};
enum { N_ROW_INPUTS = 3 }; /* input, a and b provide the rows; all other inputs are optional */
enum { GIVEN = 1, PRODUCT = 6, STATIC_SCALE = TP_FUSED_OPERANDS - 1 };

/* The kinds of fused functions. */
typedef struct row_kind {
  const char *name;
  int64_t rows; /* the inputs that provide the rows, as bits */
  bool quantizes;
} row_kind;

static const row_kind kinds[] = {
    {"reduce_rows", GIVEN, false},
    {"multiply_rows", PRODUCT, false},
    {"quantize_rows", GIVEN, true},
    {"multiply_quantize_rows", PRODUCT, true},
};

/* The contents of a call: inputs and outputs as bits, and the words of its site. */
typedef struct row_call {
  const row_kind *kind;
  int64_t inputs, outputs;
  tprt_abi_fused_reduce words;
} row_call;

static bool has(int64_t bits, int i) { return bits >> i & 1; }

static tp_status read_kind(const tp__fused_call *d, row_call *c) {
  for (int i = 0; i < TP_LEN(kinds); i++)
    if (tp__attr_which(tp__fused_entry(d, "kind"), 1, &kinds[i].name) == 0) {
      *c = (row_call){.kind = &kinds[i]};
      return TP_OK;
    }
  return tp__fused_refuse(d, "kind");
}

static tp_status read_names(const tp__fused_call *d, row_call *c) {
  bool quantizes = c->kind->quantizes;
  int n_inputs = quantizes ? TP_FUSED_OPERANDS : STATIC_SCALE,
      n_outputs = quantizes ? TP_FUSED_RESULTS : TP_RESULT_QUANTIZED;
  TP_TRY(tp__fused_bits(d, "operands", TP_FUSED_OPERANDS, input_names, &c->inputs));
  TP_TRY(tp__fused_bits(d, "results", TP_FUSED_RESULTS, output_names, &c->outputs));
  int64_t rows = c->inputs & ((1 << N_ROW_INPUTS) - 1);
  if (tp__n_bits(c->inputs) != mlirOperationGetNumOperands(d->call) || rows != c->kind->rows ||
      c->inputs >> n_inputs)
    return tp__fused_refuse(d, "operands");
  if (tp__n_bits(c->outputs) != mlirOperationGetNumResults(d->call) || c->outputs >> n_outputs ||
      !has(c->outputs, quantizes ? TP_RESULT_QUANTIZED : TP_RESULT_OUT))
    return tp__fused_refuse(d, "results");
  return TP_OK;
}

/* ---- words ---- */

static tp_status read_rows(const tp__fused_call *d, tprt_abi_fused_reduce *words) {
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
  TP_TRY(tp__fused_choice(d, "layout", TP_LEN(layouts), layouts, &words->layout));
  TP_TRY(tp__fused_choice(d, "algorithm", TP_LEN(algorithms), algorithms, &words->algorithm));
  TP_TRY(tp__fused_choice(d, "norm", TP_LEN(norms), norms, &words->norm));
  if (words->norm == TPRT_CUDA_NO_NORM)
    return TP_OK;
  return tp__fused_float(d, "epsilon", &words->epsilon);
}

static tp_status read_quantization(const tp__fused_call *d, row_call *c) {
  /* in the order of tprt_cuda_quantize, from TPRT_CUDA_STATIC */
  static const char *const names[] = {"static", "per_token", "per_group"};
  int64_t kind = 0;
  tp_status status = tp__fused_choice(d, "quantize", TP_LEN(names), names, &kind);
  if (status == TP_OK)
    status = tp__fused_float(d, "least_largest", &c->words.least_max);
  if (status == TP_OK)
    status = tp__fused_float(d, "least_scale", &c->words.least_scale);
  c->words.quantize = TPRT_CUDA_STATIC + kind;
  c->words.divides = 1;
  bool is_static = kind == 0;
  if (status == TP_OK && is_static != has(c->inputs, STATIC_SCALE))
    status = tp__fused_refuse(d, "operands");
  if (status == TP_OK && is_static == has(c->outputs, TP_RESULT_SCALE))
    status = tp__fused_refuse(d, "results");
  return status;
}

/* Reads everything but the axes. *rows: the type of the send tensor. */
static tp_status read_call(const tp__fused_call *d, row_call *c, MlirType *rows) {
  MlirAttribute dim = tp__fused_entry(d, "dim");
  TP_TRY(read_kind(d, c));
  TP_TRY(read_rows(d, &c->words));
  TP_TRY(read_names(d, c));
  if (c->kind->quantizes)
    TP_TRY(read_quantization(d, c));
  if (mlirAttributeIsNull(dim) || !mlirAttributeIsAInteger(dim))
    return tp__fused_refuse(d, "dim");
  if (c->kind->rows == PRODUCT)
    return tp__fused_matmul(d, rows, &c->words.k, &c->words.transpose_b);
  *rows = mlirValueGetType(mlirOperationGetOperand(d->call, 0));
  return TP_OK;
}

/* ---- the call ---- */

tp_status tp__lower_fused_rows(tp__lowering *l, const tp__fused_call *d) {
  row_call c;
  tprt_abi_site site;
  int64_t extra[sizeof c.words / sizeof(int64_t)];
  int n_axes, axes[TP_MAX_AXES];
  MlirType rows = {NULL};
  TP_TRY(read_call(d, &c, &rows));
  TP_TRY(tp__fused_mesh_axes(d, &l->mesh, &n_axes, axes));
  TP_TRY(tp__site_begin(d->call, TPRT_SITE_FUSED_REDUCE, n_axes, axes, rows, &site));
  site.reduction = TPRT_SUM;
  site.dim = mlirIntegerAttrGetValueInt(tp__fused_entry(d, "dim"));
  tprt_operand input_of[TP_FUSED_OPERANDS], output_of[TP_FUSED_RESULTS];
  tp__fused_operands(c.inputs, TP_FUSED_OPERANDS, inputs, input_of);
  tp__fused_operands(c.outputs, TP_FUSED_RESULTS, outputs, output_of);
  memcpy(extra, &c.words, sizeof c.words);
  return tp__fused_replace(l, d, &site, TP_LEN(extra), extra, input_of, output_of);
}
