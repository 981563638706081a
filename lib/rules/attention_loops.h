/* Helpers shared by the files that recognize attention: collecting its ops, and the loops of their
 * dimensions. */
#ifndef TP_RULES_ATTENTION_LOOPS_H
#define TP_RULES_ATTENTION_LOOPS_H

#include "rules/attention.h"

/* Appends an op; NULL if there are too many. */
tp_attention_op *tp__attention_add(tp_attention *a, MlirOperation op, tp_attention_role role);
/* Appends a loop; -1 if there are too many. */
int tp__attention_loop(tp_attention *a, int64_t size);

bool tp__has_loop(const tp_score_dim *dims, int n, int loop);

/* Fills the shape of a value of static tensor type, and returns its rank. */
int tp__shape_of(MlirValue value, int64_t *shape);

/* Assigns the loops in `dims` to the loops of `nest` that index operand `operand`. False if that
 * contradicts loops assigned before (`known`, bits) or the sizes. */
bool tp__attention_assign(const tp_attention *a, tp_attention_op *op, const tp_nest *nest,
                          int operand, const tp_score_dim *dims, uint32_t *known);

/* Assigns loops to a reshape from those of its operand. If the reshape splits a loop, the loop is
 * split in all ops. */
bool tp__attention_reshape(tp_attention *a, tp_attention_op *op, const tp_score_dim *from);
/* Assigns loops to a reshape from those of its result. False if that requires splitting a loop. */
bool tp__attention_reshape_back(const tp_attention *a, tp_attention_op *op, const tp_score_dim *to);

/* Adds the ops that produce masks for the elementwise ops of a recognized attention. */
void tp__attention_add_masks(tp_attention *a);

#endif
