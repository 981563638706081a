/* Softmaxes of split rows -> tprt_abi_softmax_rows. */
#include "passes/lower/lower_fused.h"

#include "tprt/cuda.h"

static const char *const softmax_operands[] = {"logits", "target"};
static const char *const softmax_results[] = {"largest", "sum", "picked"};

static tp_status read_softmax(const tp__fused_call *d, int64_t *extra, int64_t *operands) {
  static const char *const infinite[] = {"nan", "zero"}, *const picks_of[] = {"group", "device"};
  static const char *const picks[] = {[TPRT_CUDA_LOGIT] = "logit",
                                      [TPRT_CUDA_LESS_LARGEST] = "less_largest",
                                      [TPRT_CUDA_LOG_PROBABILITY] = "log_probability"};
  int n_operands = (int)mlirOperationGetNumOperands(d->call);
  tp_status status =
      tp__fused_bits(d, "operands", TP_LEN(softmax_operands), softmax_operands, operands);
  if (status == TP_OK && (tp__n_bits(*operands) != n_operands || !(*operands & 1)))
    status = tp__fused_refuse(d, "operands");
  if (status == TP_OK)
    status = tp__fused_bits(d, "results", TP_LEN(softmax_results), softmax_results,
                            &extra[TPRT_SOFTMAX_RESULTS]);
  bool picks_any = extra[TPRT_SOFTMAX_RESULTS] & TPRT_SOFTMAX_PICKED;
  if (status == TP_OK &&
      (tp__n_bits(extra[TPRT_SOFTMAX_RESULTS]) != mlirOperationGetNumResults(d->call) ||
       extra[TPRT_SOFTMAX_RESULTS] == 0 || picks_any != (n_operands == 2)))
    status = tp__fused_refuse(d, "results");
  if (status == TP_OK)
    status =
        tp__fused_choice(d, "infinite", TP_LEN(infinite), infinite, &extra[TPRT_SOFTMAX_FINITE]);
  if (status != TP_OK || !picks_any)
    return status;
  extra[TPRT_SOFTMAX_TARGET] =
      tp__runtime_dtype(tp__element_type(mlirValueGetType(mlirOperationGetOperand(d->call, 1))));
  status = tp__fused_choice(d, "pick", TP_LEN(picks), picks, &extra[TPRT_SOFTMAX_PICK]);
  return status == TP_OK
             ? tp__fused_choice(d, "picks_of", TP_LEN(picks_of), picks_of, &extra[TPRT_SOFTMAX_OWN])
             : status;
}

tp_status tp__lower_fused_softmax(tp__lowering *l, const tp__fused_call *d) {
  enum { FIRST_RESULT = 2 + TP_LEN(softmax_operands), N = FIRST_RESULT + TP_LEN(softmax_results) };
  MlirOperation op = d->call;
  int64_t site[TPRT_SITE_WORDS], extra[TPRT_SOFTMAX_WORDS] = {0}, operands;
  int n_axes, axes[TP_MAX_AXES], at = 0;
  tp_status status = read_softmax(d, extra, &operands);
  if (status == TP_OK)
    status = tp__fused_mesh_axes(d, &l->mesh, &n_axes, axes);
  if (status == TP_OK)
    status = tp__site_begin(op, TPRT_SITE_SOFTMAX_ROWS, n_axes, axes,
                            mlirValueGetType(mlirOperationGetOperand(op, 0)), site);
  if (status != TP_OK)
    return status;
  MlirValue none = tp__build_one(op, "llvm.mlir.zero", 0, NULL, l->ptr),
            buffers[TP_LEN(softmax_results)], given[N] = {l->ctx};
  for (int i = 0; i < TP_LEN(softmax_results); i++)
    given[FIRST_RESULT + i] =
        extra[TPRT_SOFTMAX_RESULTS] >> i & 1
            ? tp__site_receive(l, op, mlirValueGetType(mlirOperationGetResult(op, at++)),
                               &buffers[i])
            : none;
  at = 0;
  for (int i = 0; i < TP_LEN(softmax_operands); i++)
    given[2 + i] =
        operands >> i & 1 ? tp__site_send(l, op, mlirOperationGetOperand(op, at++)) : none;
  given[1] = tp__build_int(op, l->i32, tp__lowering_site(l, site, TPRT_SOFTMAX_WORDS, extra));
  tp__build_call(l, op, "tprt_abi_softmax_rows", TP_LEN(given), given, l->i32);
  at = 0;
  for (int i = 0; i < TP_LEN(softmax_results); i++) {
    if (!(extra[TPRT_SOFTMAX_RESULTS] >> i & 1))
      continue;
    MlirValue result = mlirOperationGetResult(op, at++);
    mlirValueReplaceAllUsesOfWith(result,
                                  tp__site_value(l, op, mlirValueGetType(result), buffers[i]));
  }
  mlirOperationDestroy(op);
  return TP_OK;
}
