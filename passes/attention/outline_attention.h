/* Outlines attention as a function that a kernel of the runtime computes. */
#ifndef TP_PASSES_ATTENTION_OUTLINE_ATTENTION_H
#define TP_PASSES_ATTENTION_OUTLINE_ATTENTION_H

#include "passes/attention/gradient.h"

/* Replaces the result by a call of @tp.attention.NUMBER and, with `g` (NULL: none), the gradients
 * by one of @tp.attention_gradient.NUMBER. TP_UNSUPPORTED without a diagnostic, and nothing is
 * changed but dead ops, if the ops depend on more than the operands. */
tp_status tp__outline_attention(MlirOperation module, int64_t number, const tp_attention_form *form,
                                const tp_gradient *g);

#endif
