/* Lowers calls of fused functions that compute the row statistics of a softmax over sharded columns
 * to TPRT_SITE_FUSED_SOFTMAX. */
#include "passes/lower/lower_fused.h"

#include "tprt/cuda.h"

#include <string.h>

static const char *const input_names[] = {"logits", "target"};
static const tprt_operand inputs[] = {TPRT_IN_TENSOR, TPRT_IN_TARGET};
static const char *const output_names[] = {"largest", "sum", "picked"};
static const tprt_operand outputs[] = {TPRT_OUT_MAX, TPRT_OUT_SUM, TPRT_OUT_PICKED};
enum { LOGITS = 1, PICKED = 4 /* bits of the names */ };

/* The contents of a call: inputs and outputs as bits, and the words of its site. */
typedef struct softmax_call {
  int64_t inputs, outputs;
  tprt_abi_fused_softmax words;
} softmax_call;

static tp_status read_softmax(const tp__fused_call *d, softmax_call *c) {
  static const char *const infinite[] = {"nan", "zero"}, *const picks_of[] = {"group", "device"};
  static const char *const picks[] = {[TPRT_CUDA_LOGIT] = "logit",
                                      [TPRT_CUDA_LESS_LARGEST] = "less_largest",
                                      [TPRT_CUDA_LOG_PROBABILITY] = "log_probability"};
  int n_inputs = (int)mlirOperationGetNumOperands(d->call);
  *c = (softmax_call){0};
  TP_TRY(tp__fused_bits(d, "operands", TP_LEN(input_names), input_names, &c->inputs));
  if (tp__n_bits(c->inputs) != n_inputs || !(c->inputs & LOGITS))
    return tp__fused_refuse(d, "operands");
  TP_TRY(tp__fused_bits(d, "results", TP_LEN(output_names), output_names, &c->outputs));
  bool picks_any = c->outputs & PICKED;
  if (tp__n_bits(c->outputs) != mlirOperationGetNumResults(d->call) || c->outputs == 0 ||
      picks_any != (n_inputs == 2))
    return tp__fused_refuse(d, "results");
  TP_TRY(tp__fused_choice(d, "infinite", TP_LEN(infinite), infinite, &c->words.finite));
  if (!picks_any)
    return TP_OK;
  c->words.target =
      tp__runtime_dtype(tp__element_type(mlirValueGetType(mlirOperationGetOperand(d->call, 1))));
  TP_TRY(tp__fused_choice(d, "pick", TP_LEN(picks), picks, &c->words.pick));
  return tp__fused_choice(d, "picks_of", TP_LEN(picks_of), picks_of, &c->words.own);
}

tp_status tp__lower_fused_softmax(tp__lowering *l, const tp__fused_call *d) {
  softmax_call c;
  tprt_abi_site site;
  int64_t extra[sizeof c.words / sizeof(int64_t)];
  int n_axes, axes[TP_MAX_AXES];
  TP_TRY(read_softmax(d, &c));
  TP_TRY(tp__fused_mesh_axes(d, &l->mesh, &n_axes, axes));
  TP_TRY(tp__site_begin(d->call, TPRT_SITE_FUSED_SOFTMAX, n_axes, axes,
                        mlirValueGetType(mlirOperationGetOperand(d->call, 0)), &site));
  tprt_operand input_of[TP_LEN(inputs)], output_of[TP_LEN(outputs)];
  tp__fused_operands(c.inputs, TP_LEN(inputs), inputs, input_of);
  tp__fused_operands(c.outputs, TP_LEN(outputs), outputs, output_of);
  memcpy(extra, &c.words, sizeof c.words);
  return tp__fused_replace(l, d, &site, TP_LEN(extra), extra, input_of, output_of);
}
