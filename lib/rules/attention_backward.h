/* What kernels of attention do not store, for plans: the kernels of the runtime
 * (TPRT_SITE_FUSED_ATTENTION, TPRT_SITE_FUSED_ATTENTION_GRADIENT) compute scores, weights and their
 * gradients in registers. tp-fuse-attention decides for each per-device program whether they
 * compute an attention; this is what it decides for the whole program, by simpler rules. */
#ifndef TP_RULES_ATTENTION_BACKWARD_H
#define TP_RULES_ATTENTION_BACKWARD_H

#include "rules/attention.h"
#include "rules/func_graph.h"

/* True if a kernel for at most `features` computes the attention. */
bool tp__attention_fits_kernel(const tp_attention *attention, int64_t features);

/* The ops of a training step that compute the gradients of an attention from its scores. */
typedef struct tp_attention_backward {
  tp_op_list ops;
  tp_value_table inside; /* these ops and those of the attention */
  /* values as large as the scores, which nothing else uses */
  tp_value_table values;
  MlirOperation slopes; /* the product of the gradient of the result with the values */
} tp_attention_backward;

/* Finds them. *found: scores, weights and their gradients are used for nothing but gradients of
 * queries, keys and values. TP_NO_MEMORY with a diagnostic. Destroy `made` in any case. */
tp_status tp__attention_backward(const tp_attention *attention, tp_attention_backward *made,
                                 bool *found);
void tp__attention_backward_destroy(tp_attention_backward *made);

#endif
