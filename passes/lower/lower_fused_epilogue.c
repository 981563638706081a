/* Lowers calls of fused functions that are a matmul with an epilogue to TPRT_SITE_FUSED_MATMUL, or
 * several that share their rows to TPRT_SITE_FUSED_CONTRACTIONS, which runs them side by side. */
#include "passes/lower/lower_fused.h"

#include "passes/lower/contractions.h"
#include "tprt/cuda_gemm.h"

#include <string.h>

/* A matmul with an epilogue. */
typedef struct product {
  const tp__fused_call *d;
  MlirType type; /* of the product [m, n] */
  int64_t bits;  /* of its operands: a, b, bias */
  int64_t m, n, k, transpose_b, function;
} product;

static tp_status read(const tp__fused_call *d, product *p) {
  static const char *const functions[] = {
      [TPRT_CUDA_NOTHING] = "none", [TPRT_CUDA_RELU] = "relu", [TPRT_CUDA_GELU] = "gelu"};
  static const char *const names[] = {"a", "b", "bias"};
  enum { FACTORS = 3 /* the bits of a and b */ };
  *p = (product){.d = d, .m = 1};
  TP_TRY(tp__fused_bits(d, "operands", TP_LEN(names), names, &p->bits));
  if ((p->bits & FACTORS) != FACTORS ||
      tp__n_bits(p->bits) != mlirOperationGetNumOperands(d->call) ||
      mlirOperationGetNumResults(d->call) != 1)
    return tp__fused_refuse(d, "operands");
  TP_TRY(tp__fused_choice(d, "function", TP_LEN(functions), functions, &p->function));
  TP_TRY(tp__fused_matmul(d, &p->type, &p->k, &p->transpose_b));
  intptr_t rank = mlirShapedTypeGetRank(p->type);
  for (intptr_t i = 0; i < rank - 1; i++)
    p->m *= mlirShapedTypeGetDimSize(p->type, i);
  p->n = mlirShapedTypeGetDimSize(p->type, rank - 1);
  return TP_OK;
}

static const tprt_operand roles[] = {TPRT_IN_A, TPRT_IN_B, TPRT_IN_BIAS};

static tp_status lower_one(tp__lowering *l, const product *p) {
  static const tprt_operand output = TPRT_OUT_TENSOR;
  tprt_abi_fused_matmul words = {.k = p->k, .transpose_b = p->transpose_b, .function = p->function};
  int64_t extra[sizeof words / sizeof(int64_t)];
  tprt_abi_site site;
  tprt_operand given[TP_LEN(roles)];
  TP_TRY(tp__site_begin(p->d->call, TPRT_SITE_FUSED_MATMUL, 0, NULL, p->type, &site));
  tp__fused_operands(p->bits, TP_LEN(roles), roles, given);
  memcpy(extra, &words, sizeof words);
  return tp__fused_replace(l, p->d, &site, TP_LEN(extra), extra, given, &output);
}

/* ---- several ---- */

/* True if the value is defined in front of the op. */
static bool is_available(MlirValue value, MlirOperation at) {
  MlirOperation op = tp__defining_op(value);
  return mlirOperationIsNull(op) ||
         !mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(at)) ||
         mlirOperationIsBeforeInBlock(op, at);
}

static bool is_small(const product *p) {
  return p->m > 0 && p->n > 0 && p->m <= tp__most_elements / p->n;
}

/* True if the product can run beside the first one, where that is: they have the same rows. */
static bool may_join(const product *first, const product *p) {
  MlirOperation at = first->d->call, call = p->d->call;
  bool joins = mlirBlockEqual(mlirOperationGetBlock(at), mlirOperationGetBlock(call)) &&
               mlirValueEqual(mlirOperationGetOperand(at, 0), mlirOperationGetOperand(call, 0)) &&
               is_small(first) && is_small(p);
  for (intptr_t i = 1; i < mlirOperationGetNumOperands(call) && joins; i++)
    joins = is_available(mlirOperationGetOperand(call, i), at);
  return joins;
}

/* Adds a product to the words and the operands of a site. */
static void add(const product *p, tprt_abi_fused_contractions *words, tp__site_operands *o) {
  int64_t i = words->n++, k = p->k, n = p->n;
  bool turned = p->transpose_b;
  tprt_operand given[TP_LEN(roles)];
  tp__fused_operands(p->bits, TP_LEN(roles), roles, given);
  for (int j = 0; j < tp__n_bits(p->bits); j++) {
    o->input_of[o->n_inputs] = given[j];
    o->inputs[o->n_inputs++] = mlirOperationGetOperand(p->d->call, j);
    words->biases |= (int64_t)(given[j] == TPRT_IN_BIAS) << i;
  }
  o->output_of[o->n_outputs] = TPRT_OUT_TENSOR;
  o->outputs[o->n_outputs++] = mlirValueGetType(mlirOperationGetResult(p->d->call, 0));
  words->functions[i] = p->function;
  words->n_loops[i] = 3;
  words->loops[i][0] = (tprt_abi_loop){p->m, {k, 0, n}};
  words->loops[i][1] = (tprt_abi_loop){n, {0, turned ? k : 1, 1}};
  words->loops[i][2] = (tprt_abi_loop){k, {1, turned ? 1 : n, 0}};
}

static void lower_several(tp__lowering *l, int n, const product *products) {
  tprt_abi_fused_contractions words = {.n = 0};
  tp__site_operands operands = {.n_inputs = 0};
  MlirOperation where = products[0].d->call;
  MlirValue results[TPRT_MAX_OUTPUTS];
  int64_t extra[sizeof words / sizeof(int64_t)];
  const tprt_abi_site site = {.kind = TPRT_SITE_FUSED_CONTRACTIONS,
                              .dtype = tp__runtime_dtype(tp__element_type(products[0].type))};
  for (int i = 0; i < n; i++)
    add(&products[i], &words, &operands);
  memcpy(extra, &words, sizeof words);
  tp__fused_build_site(l, where, &site, TP_LEN(extra), extra, &operands, results);
  for (int i = n; i-- > 0;) {
    MlirOperation call = products[i].d->call;
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(call, 0), results[i]);
    mlirOperationDestroy(call);
  }
}

tp_status tp__lower_fused_epilogue(tp__lowering *l, int n, const tp__fused_call *calls,
                                   MlirOperation *const *entries) {
  product group[TPRT_MAX_MATMULS];
  int n_group = 1, n_inputs;
  TP_TRY(read(&calls[0], &group[0]));
  n_inputs = tp__n_bits(group[0].bits);
  for (int i = 1; i < n && n_group < TPRT_MAX_MATMULS; i++) {
    product *p = &group[n_group];
    TP_TRY(read(&calls[i], p));
    if (!may_join(&group[0], p) || n_inputs + tp__n_bits(p->bits) > TPRT_MAX_INPUTS)
      continue;
    n_inputs += tp__n_bits(p->bits);
    *entries[i] = (MlirOperation){NULL};
    n_group++;
  }
  if (n_group == 1)
    return lower_one(l, &group[0]);
  lower_several(l, n_group, group);
  return TP_OK;
}
