/* State shared by the files that recognize the ops after the scores: the knowledge so far, and the
 * op that is inspected. */
#ifndef TP_RULES_ATTENTION_SCAN_H
#define TP_RULES_ATTENTION_SCAN_H

#include "rules/attention_loops.h"

typedef struct tp_attention_finder {
  tp_attention *a;
  /* values outside of the blocks that depend on the scores, so they are available only after the
   * blocks */
  tp_value_table dependent;
  /* ops other than the scores that use a known value, possibly in a region; the scan skips all
   * others */
  tp_value_table users;
  int n_noted;        /* number of the attention's ops whose users are recorded */
  MlirOperation last; /* the scan ends here; null: at the end of the block */
  bool is_shared;     /* score values may have users that are not part of the attention */
  bool escapes;       /* a score value has a user that cannot be part of the attention */
  bool failed;        /* memory ran out */
} tp_attention_finder;

/* An op that uses values of the blocks, and how it uses them. */
typedef struct tp_attention_step {
  MlirOperation op;
  tp_nest nest; /* if it is one */
  /* number of operands that are computed in blocks; the first of them, and the index of the op that
   * produces it */
  int n_inner, inner;
  int maker;
  bool past; /* after the exponential */
} tp_attention_step;

/* ---- attention.c ---- */

/* True if the value depends on the scores and is outside of the blocks. The second function records
 * the results of an op as such values. */
bool tp__depends_on_scores(const tp_attention_finder *f, MlirValue value);
void tp__mark_depends_on_scores(tp_attention_finder *f, MlirOperation op);
/* Records the users of the ops added since the last call. A TP_ROW_BROADCAST op may be outside of a
 * loop that contains the scores. */
void tp__record_users(tp_attention_finder *f);
/* True if the op overwrites operand `i` without reading it. */
bool tp__is_unread_init(MlirOperation op, int i);
/* Returns the op of the blocks that produces operand `i`; -1: none. */
int tp__inner_producer(const tp_attention *a, MlirOperation op, int i);

/* ---- kinds of ops; each function returns false if the op cannot be part of the blocks ---- */

/* attention_rows.c: takes operand `operand` as the row values that the op applies. If the operand
 * has columns, takes the value that was broadcast along them. */
bool tp__attention_rows_of(tp_attention_finder *f, tp_attention_op *op, int operand);
/* Called once the columns are known: finds the operand of the scores that has them. The loops that
 * only the other operand has are the rows. */
bool tp__attention_find_rows(tp_attention *a);

/* attention_elementwise.c: an op before the exponential, or the exponential itself; values reduced
 * from the scores may only be subtracted, and only here. After the exponential, only ops that
 * commute with sums along the columns are accepted: a row scale is applied to the sums, any other
 * op to the blocks. */
bool tp__attention_before(tp_attention_finder *f, const tp_attention_step *s, tp_attention_op *op);
bool tp__attention_after(tp_attention_finder *f, const tp_attention_step *s, tp_attention_op *op);

/* attention_sums.c: the contraction that produces the scores, reductions along the columns, and the
 * contraction with the values, whose loops `beside` (bits) are not loops of the scores. */
bool tp__attention_scores(tp_attention_finder *f, MlirOperation op);
bool tp__attention_reduction(tp_attention_finder *f, const tp_attention_step *s,
                             tp_attention_op *op);
bool tp__attention_output(tp_attention_finder *f, const tp_attention_step *s, tp_attention_op *op,
                          uint32_t beside);

#endif
