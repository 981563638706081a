/* Recognizes attention: the contraction of queries and keys, the elementwise ops on the scores, the
 * softmax of their rows, and the contraction with the values. These may be separate ops anywhere in
 * a function.
 *
 * The scores have one loop for every row and every column of every head. If only the attention
 * itself uses them, it can compute them block by block and carry the maximum and the sum of each
 * row along (online softmax: Milakov and Gimelshein 2018; Dao et al. 2022). Recognition changes no
 * ops, neither before planning nor in a per-device program. It reports which values never need to
 * be stored.
 *
 * The maxima and sums of the rows may pass through arbitrary ops, including collectives, before
 * they are subtracted from the scores or divide them. */
#ifndef TP_RULES_ATTENTION_H
#define TP_RULES_ATTENTION_H

#include "ir/value_table.h"
#include "rules/nest.h"
#include "rules/rule.h"

enum { TP_MAX_SCORE_LOOPS = 16, TP_MAX_ATTENTION_OPS = 48 };

/* The maximum number of scores in a block. A few such blocks fit into the cache of a core, and a
 * contraction of one block is large enough to run at full speed. */
enum { TP_BLOCK_SCORES = 1 << 16 };

/* Limits on the row reductions plus the output, and on the row scales. Attention with more of them
 * is not recognized. */
enum { TP_MAX_ATTENTION_SUMS = 16, TP_MAX_ATTENTION_SCALES = 8 };

/* The loops of the attention that a dimension of a value runs through, major to minor. With n == 0,
 * the dimension is not split into blocks. */
typedef struct tp_score_dim {
  uint8_t n;
  uint8_t loops[TP_MAX_DIM_FACTORS];
} tp_score_dim;

typedef enum tp_attention_role {
  TP_SCORES, /* queries times keys */
  TP_BEFORE, /* elementwise op or reshape before the exponential */
  /* reduces the input of the exponential along the columns: the maximum, and possibly others */
  TP_ROW_REDUCTION,
  TP_SHIFT,       /* subtracts row values, before the exponential */
  TP_EXPONENTIAL, /* may itself subtract row values */
  TP_ROW_SUM,     /* sums along the columns, after the exponential */
  TP_SCALE,       /* applies row values after the exponential: tp_row_scale */
  /* elementwise op that is linear in the exponential, or reshape, after the exponential */
  TP_AFTER,
  /* broadcasts row values along the columns, for TP_SHIFT, TP_EXPONENTIAL or TP_SCALE */
  TP_ROW_BROADCAST,
  /* elementwise op that does not use scores, with a result as large as them, such as a causal
   * mask */
  TP_MASK,
  TP_OUTPUT, /* times values */
  TP_N_ATTENTION_ROLES,
} tp_attention_role;

/* How a row value acts on the scores of its row. Each operation distributes over sums, so it may be
 * applied to a sum instead of its terms. The last two give zero where the row's condition holds, or
 * where it does not; programs use them to zero fully masked rows. */
typedef enum tp_row_scale {
  TP_SCALE_MULTIPLY,
  TP_SCALE_DIVIDE,
  TP_SCALE_ZERO_IF,
  TP_SCALE_ZERO_UNLESS
} tp_row_scale;

/* One op of the attention. Its loops are those of its nest; for a reshape, the dimensions of its
 * result. */
typedef struct tp_attention_op {
  MlirOperation op;
  bool is_nest; /* otherwise a reshape */
  tp_nest nest; /* valid if is_nest */
  tp_attention_role role;
  int n_loops;
  tp_score_dim loops[TP_MAX_NEST_LOOPS];
  int n_from; /* reshape: number of dimensions of the operand */
  tp_score_dim from[TP_MAX_RANK];
  /* the row values that TP_SHIFT, TP_EXPONENTIAL or TP_SCALE applies, which have no columns; null:
   * none */
  MlirValue rows;
  int n_rows;
  tp_score_dim row_dims[TP_MAX_RANK];
  tp_row_scale scale; /* of TP_SCALE */
  bool is_scaled;     /* this op, or an op between the exponential and it, applies row values */
  bool is_of_dropout; /* of TP_MASK: the mask changes weights instead of scores */
  /* of TP_AFTER: a select drops weights (dropout) by operand `condition`; `scale` says which. So a
   * row that keeps none is 0 even where its weights are NaN. */
  bool drops;
  int condition;
} tp_attention_op;

typedef struct tp_attention {
  int n_loops;
  int64_t sizes[TP_MAX_SCORE_LOOPS];
  int column;    /* the loop that the softmax reduces */
  uint32_t rows; /* bits: loops of the queries that the keys do not have */
  /* bits: loops that the scores do not have, which are the features of queries and keys, and of
   * values */
  uint32_t whole;
  const char *exp;                  /* name of the exponential: math.exp or math.exp2 */
  int maximum, exponential, output; /* indices in `ops` */
  int n_ops;
  tp_attention_op ops[TP_MAX_ATTENTION_OPS]; /* scores first; masks last */
} tp_attention;

/* Is `scores` the first contraction of attention? Never, if a value as large as the scores is used
 * elsewhere, if what it needs is not there before the maxima of the rows are, or where the result
 * would be another one (docs/explanation/planning.md says when). */
bool tp__attention_at(MlirOperation scores, tp_attention *attention);

/* The same where values as large as the scores may also be used elsewhere, as a training step uses
 * them for gradients. */
bool tp__attention_shared(MlirOperation scores, tp_attention *attention);

/* A cache for the search limit: the last op that can belong to the attention of `scores`, as
 * computed for the previous scores. */
typedef struct tp_attention_reach {
  MlirOperation scores, last; /* both in one block; last is null: to the end of the block */
} tp_attention_reach;

/* Like tp__attention_at, for a sequence of scores in program order. Start with a zeroed reach. Ops
 * must not change in between. */
bool tp__attention_next(tp_attention_reach *reach, MlirOperation scores, tp_attention *attention);
/* Likewise, like tp__attention_shared. */
bool tp__attention_next_shared(tp_attention_reach *reach, MlirOperation scores,
                               tp_attention *attention);

/* Marks the values of a program that are computed in blocks (tp_value_map.in_blocks). This requires
 * that the annotated shardings allow it: all of these values are annotated or none is, and each
 * mesh axis splits the same loop in all of them. The keys and values may then travel in a ring
 * (tp_rule.ring): an axis splits the rows of the queries, each device holds a part of the columns,
 * and blocks are computed with one part after the other (Liu, Zaharia and Abbeel 2023).
 *
 * kernel_features > 0: kernels compute attention with at most so many features, and its gradient in
 * training steps (attention_backward.h). What these do not store is marked (in_kernel), and what
 * they compute again is counted (tp_rule.n_again). 0: there are no kernels.
 * TP_NO_MEMORY with a diagnostic. */
struct tp_func_graph;
tp_status tp__mark_attention(struct tp_func_graph *graph, int64_t kernel_features);

/* Returns the value of which `value` is a reshape, or the same scores in another order. */
MlirValue tp__attention_arranged(const tp_attention *attention, MlirValue value);
/* Returns the index of the op that produces `value`; -1: none of the attention's ops does. */
int tp__attention_producer(const tp_attention *attention, MlirValue value);
/* True if results of this role are as large as the scores, so that they are never stored. */
bool tp__attention_is_inner(tp_attention_role role);

/* True if nothing reads what the op computes, nor what is computed from it. Traced programs compute
 * parts of gradients that are not used. */
bool tp__leads_nowhere(MlirOperation op, int depth);

/* Lists the ops that must run after the blocks, in program order: the TP_ROW_SUM ops, and the ops
 * between the scores and the output that depend on the rows without being part of the attention.
 * TP_NO_MEMORY with a diagnostic. */
tp_status tp__attention_followers(const tp_attention *attention, tp_op_list *list);

/* Fill `dims` with the loops of the dimensions of an operand or of the result. Capacity:
 * TP_MAX_RANK. */
void tp__attention_operand_dims(const tp_attention_op *op, int operand, tp_score_dim *dims);
void tp__attention_result_dims(const tp_attention_op *op, tp_score_dim *dims);

#endif
