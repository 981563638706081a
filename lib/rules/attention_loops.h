/* What the files that recognise attention share: its ops while they are collected, and the loops of
 * their dimensions. */
#ifndef TP_RULES_ATTENTION_LOOPS_H
#define TP_RULES_ATTENTION_LOOPS_H

#include "rules/attention.h"

/* The next free op; NULL when there are too many. */
tp_attention_op *tp__attention_add(tp_attention *a, MlirOperation op, tp_attention_role role);
/* The next free loop; -1 when there are too many. */
int tp__attention_loop(tp_attention *a, int64_t size);

bool tp__has_loop(const tp_score_dim *dims, int n, int loop);

/* Gives the loops of `nest` that operand `operand` moves along those of `dims`; false where that
 * contradicts what `known` (bits) of them are, or the sizes. */
bool tp__attention_assign(const tp_attention *a, tp_attention_op *op, const tp_nest *nest,
                          int operand, const tp_score_dim *dims, uint32_t *known);

/* Gives a reshape its loops, from those of its operand; a loop that it splits is split
 * everywhere. */
bool tp__attention_reshape(tp_attention *a, tp_attention_op *op, const tp_score_dim *from);
/* From those of its result, where no loop has to be split for that. */
bool tp__attention_reshape_back(const tp_attention *a, tp_attention_op *op, const tp_score_dim *to);

/* Adds the ops that make masks for the elementwise ops of an attention that was found. */
void tp__attention_add_masks(tp_attention *a);

#endif
