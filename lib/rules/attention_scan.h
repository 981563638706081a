/* What the files that recognise attention share about the ops behind the scores: what is known so
 * far, and one op that reads it. */
#ifndef TP_RULES_ATTENTION_SCAN_H
#define TP_RULES_ATTENTION_SCAN_H

#include "rules/attention_loops.h"

typedef struct tp_attention_finder {
  tp_attention *a;
  /* values outside of the blocks that follow from the scores, and so come behind them */
  tp_value_table dependent;
  /* ops beside the scores that read, or have ops that read, what is known: the others are passed
   * by */
  tp_value_table users;
  int n_noted;        /* ops of the attention whose users these are */
  MlirOperation last; /* as far as the scan goes; null: to the end of the block */
  bool strays;        /* a value of the blocks is read where no op of the attention can be */
  bool failed;        /* memory ran out */
} tp_attention_finder;

/* An op that reads values of the blocks, and how. */
typedef struct tp_attention_step {
  MlirOperation op;
  tp_nest nest;       /* if it is one */
  int n_inner, inner; /* operands that are made in blocks; the first one, and what makes it */
  int maker;
  bool past; /* behind the exponential */
} tp_attention_step;

/* ---- attention.c ---- */

/* Does the value follow from the scores, outside of the blocks? Puts the results of an op there. */
bool tp__is_behind_scores(const tp_attention_finder *f, MlirValue value);
void tp__put_behind_scores(tp_attention_finder *f, MlirOperation op);
/* Notes who reads the ops that were added. What repeats rows may stand outside of a loop that the
 * scores are in. */
void tp__note_added(tp_attention_finder *f);
/* Is operand `i` one that is overwritten without being read? */
bool tp__is_unread_init(MlirOperation op, int i);
/* The op of the blocks that makes what is read as operand `i`, -1: none. */
int tp__inner_maker(const tp_attention *a, MlirOperation op, int i);

/* ---- the kinds of ops; each is false where the op is none that blocks may have ---- */

/* attention_rows.c: takes operand `operand` for rows that the op applies; where it has columns,
 * what was repeated along them. */
bool tp__attention_rows_of(tp_attention_finder *f, tp_attention_op *op, int operand);
/* Once the columns are known: which of the operands of the scores has them, and what the other one
 * has beside. */
bool tp__attention_find_rows(tp_attention *a);

/* attention_elementwise.c: in front of the exponential, or the exponential itself; rows that were
 * found in the scores may only be subtracted, and only there. Behind it only what goes through
 * sums: a factor of rows is applied to what comes out, all else to the blocks. */
bool tp__attention_before(tp_attention_finder *f, const tp_attention_step *s, tp_attention_op *op);
bool tp__attention_after(tp_attention_finder *f, const tp_attention_step *s, tp_attention_op *op);

/* attention_sums.c: the contraction that makes the scores, reductions along columns, and the
 * contraction with the values, which has the loops `beside` (bits) beside those of the scores. */
bool tp__attention_scores(tp_attention_finder *f, MlirOperation op);
bool tp__attention_reduction(tp_attention_finder *f, const tp_attention_step *s,
                             tp_attention_op *op);
bool tp__attention_output(tp_attention_finder *f, const tp_attention_step *s, tp_attention_op *op,
                          uint32_t beside);

#endif
