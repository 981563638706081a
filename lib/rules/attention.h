/* Attention as one thing: the contraction of queries and keys, what is done to the scores, the
 * softmax of their rows, and the contraction with the values, wherever they stand in a function as
 * ops of their own.
 *
 * Scores have a loop for each row and each column of each head, and nothing else needs them: so
 * they can be made block by block, with the maximum and the sum of each row carried along (online
 * softmax: Milakov and Gimelshein 2018; Dao et al. 2022). Ops stay as they are, in a program that
 * is to be planned as in that of one device; what is found here says which of their values need
 * never be stored.
 *
 * What may stand between the ops is free: the maxima and sums of the rows may go through any ops,
 * collectives too, before rows are subtracted from the scores or divide them. */
#ifndef TP_RULES_ATTENTION_H
#define TP_RULES_ATTENTION_H

#include "ir/value_table.h"
#include "rules/nest.h"
#include "rules/rule.h"

enum { TP_MAX_SCORE_LOOPS = 16, TP_MAX_ATTENTION_OPS = 48 };

/* Scores of a block, at most: a few of them fit into the cache of a core, and a contraction of one
 * is large enough to run at full speed. */
enum { TP_BLOCK_SCORES = 1 << 16 };

/* Reductions and the output, and factors of rows; attention that has more is not recognised. */
enum { TP_MAX_ATTENTION_SUMS = 16, TP_MAX_ATTENTION_SCALES = 8 };

/* The loops of the attention that a dimension of some value runs through, major to minor; none: it
 * stays whole. */
typedef struct tp_score_dim {
  uint8_t n;
  uint8_t loops[TP_MAX_DIM_FACTORS];
} tp_score_dim;

typedef enum tp_attention_role {
  TP_SCORES, /* queries times keys */
  TP_BEFORE, /* elementwise or a reshape, in front of the exponential */
  /* along the columns, of what stands in front of the exponential: its maximum, and others */
  TP_ROW_REDUCTION,
  TP_SHIFT,       /* subtracts rows, for the exponential behind it */
  TP_EXPONENTIAL, /* may subtract rows itself */
  TP_ROW_SUM,     /* along the columns, behind the exponential */
  TP_SCALE,       /* applies rows, behind the exponential: tp_row_scale */
  TP_AFTER,       /* elementwise and linear in the exponential, or a reshape, behind it */
  TP_SPREAD,      /* repeats rows along the columns, for TP_SHIFT, TP_EXPONENTIAL or TP_SCALE */
  TP_MASK,        /* elementwise, of no scores, but as large: a causal mask, say */
  TP_OUTPUT,      /* times values */
  TP_N_ATTENTION_ROLES,
} tp_attention_role;

/* What rows do to a sum of what they meet, as to each part of it. The last two are zero where the
 * row's condition holds, or where it does not: with them rows in which nothing is seen are made
 * zero. */
typedef enum tp_row_scale { TP_TIMES, TP_OVER, TP_ZERO_IF, TP_ZERO_UNLESS } tp_row_scale;

/* An op. Its loops are those of its nest, or for a reshape the dimensions of its result. */
typedef struct tp_attention_op {
  MlirOperation op;
  bool is_nest; /* else a reshape */
  tp_nest nest; /* if it is one */
  tp_attention_role role;
  int n_loops;
  tp_score_dim loops[TP_MAX_NEST_LOOPS];
  int n_from; /* a reshape: the dimensions of its operand */
  tp_score_dim from[TP_MAX_RANK];
  /* what TP_SHIFT, TP_EXPONENTIAL or TP_SCALE applies: a value without columns; null: nothing */
  MlirValue rows;
  int n_rows;
  tp_score_dim row_dims[TP_MAX_RANK];
  tp_row_scale scale; /* TP_SCALE */
  bool is_scaled;     /* rows have been applied by this op, or on the way to it */
} tp_attention_op;

typedef struct tp_attention {
  int n_loops;
  int64_t sizes[TP_MAX_SCORE_LOOPS];
  int column;    /* the loop that is reduced by the softmax */
  uint32_t rows; /* loops of the queries that the keys do not have */
  /* loops that scores do not have: features of queries and keys, and of values */
  uint32_t whole;
  const char *exp;                  /* name of the exponential: math.exp or math.exp2 */
  int maximum, exponential, output; /* among `ops` */
  int n_ops;
  tp_attention_op ops[TP_MAX_ATTENTION_OPS]; /* scores first; masks last */
} tp_attention;

/* Is `scores` the first contraction of attention? Never, if a value as large as the scores is used
 * elsewhere, if what it needs is not there before the maxima of the rows are, or where the result
 * would be another one (docs/explanation/planning.md says when). */
bool tp__attention_at(MlirOperation scores, tp_attention *attention);

/* How far the ops of an attention may stand behind its scores, as it was found out for the scores
 * before. */
typedef struct tp_attention_reach {
  MlirOperation scores, last; /* of one block; null: to the end of the block */
} tp_attention_reach;

/* The same for one after the other in program order. A zeroed reach is to begin with; ops do not
 * change in between. */
bool tp__attention_next(tp_attention_reach *reach, MlirOperation scores, tp_attention *attention);

/* Marks the values of a program that are made in blocks (tp_value_map.in_blocks), where the layouts
 * that its ops are annotated with allow it: all of them or none are, and a mesh axis splits the
 * same loop of all. Keys and values of these may come in a ring (tp_rule.ring): while rows of the
 * queries are split by an axis, each device has a part of the columns, and blocks are computed with
 * one part after the other (Liu, Zaharia and Abbeel 2023). TP_NO_MEMORY with a diagnostic. */
struct tp_program;
tp_status tp__mark_attention(struct tp_program *program);

/* The number of the op that makes `value`, -1: none of them does. */
int tp__attention_maker(const tp_attention *attention, MlirValue value);
/* Is the result of an op of this role as large as the scores, so that it is never stored? */
bool tp__attention_is_inner(tp_attention_role role);

/* The ops between the scores and the output that are no part of it but follow from its rows, and
 * its TP_ROW_SUMs, in program order: what has to come behind the blocks. TP_NO_MEMORY with a
 * diagnostic. */
tp_status tp__attention_followers(const tp_attention *attention, tp_op_list *list);

/* The loops of the dimensions of operand `operand`, or of the result, of an op. Room for
 * TP_MAX_RANK. */
void tp__attention_operand_dims(const tp_attention_op *op, int operand, tp_score_dim *dims);
void tp__attention_result_dims(const tp_attention_op *op, tp_score_dim *dims);

#endif
