/* Attentions for tests: shapes, layouts and masks, their operands, and results and gradients in
 * f64. */
#ifndef TPRT_TEST_ATTENTION_CASES_H
#define TPRT_TEST_ATTENTION_CASES_H

#include "tprt/abi.h"

#include <stdbool.h>
#include <stddef.h>

/* Where heads are in queries, keys, values and results. */
typedef enum attention_layout {
  HEADS_OUTSIDE, /* [batch, head, group, row, feature] */
  HEADS_INSIDE,  /* [batch, row, head, group, feature] */
} attention_layout;

typedef struct attention_case {
  const char *name;
  tprt_dtype dtype;
  int64_t batch, heads, group, rows, columns, features, values;
  attention_layout layout;
  tprt_attention_mask mask; /* has a row and a column for each batch; all heads share it */
  tprt_dtype mask_dtype;
  tprt_attention_dropout dropout; /* has a row and a column for each batch and head */
  tprt_dtype dropout_dtype;
  bool causal;
  int64_t offset;
  tprt_dtype position_dtype; /* 0: none */
  int64_t position;
  float hidden;
  bool wide;             /* the result is f32, and so are the gradients of queries and values */
  bool passes_hidden;    /* hidden scores pass gradients on */
  bool hides_a_row;      /* the mask hides all columns of row 1 */
  bool drops_a_row;      /* the dropout drops all columns of row 1 */
  bool zeroes_dropped;   /* dropped weights are 0 even where they are NaN */
  bool zeroes_hidden;    /* such a row is 0; attention with it has no gradient */
  float cap;             /* of scores; 0: none */
  bool dense_statistics; /* max and sum of rows are [batch, head, group, row] in any layout */
  bool by_tensor_core;   /* type and layout allow it */
  bool large;            /* the PTX machine takes long for it without tensor cores */
} attention_case;

extern const attention_case attention_cases[];
extern const int n_attention_cases;

enum { ATTENTION_MOST_PARTS = 7 };

typedef struct attention_memory {
  /* tensors TPRT_ATTENTION_Q, ...; NULL: there is none */
  void *of[TPRT_ATTENTION_TENSORS];
  size_t bytes[TPRT_ATTENTION_TENSORS];
  double *exact
      [TPRT_ATTENTION_TENSORS]; /* the same numbers; of results, and masks and dropouts of bytes:
                                 * NULL */
  float *workspace;             /* of a gradient */
  size_t workspace_bytes;
  float *partial; /* ATTENTION_MOST_PARTS parts of all rows */
  size_t partial_bytes;
  int64_t position; /* as its type, in the lower bytes */
} attention_memory;

/* The site's words; those of its gradient also have types of gradients. */
tprt_abi_fused_attention attention_words(const attention_case *c);
tprt_abi_fused_attention attention_gradient_words(const attention_case *c);
/* The operand that tensor x is in a site of attention, or of its gradient; 0: none. */
tprt_operand attention_role(int x, bool is_gradient);
/* Lists it as an operand of the site, with `statistics` also those of rows. */
void attention_add_role(tprt_abi_operands *operands, int x, bool statistics, bool is_gradient);
/* Makes the operands and a result, statistics, gradients and a workspace of NaN. */
void attention_fill(const attention_case *c, attention_memory *memory);
void attention_free(attention_memory *memory);
/* Compares a result with f64: each element within the rounding of weights and results. Returns the
 * number of elements beyond it, of which it prints the first if `what` is not NULL. */
int attention_errors(const attention_case *c, const attention_memory *memory, const char *what);
/* The same for max and sum of the rows. */
int attention_statistics_errors(const attention_case *c, const attention_memory *memory,
                                const char *what);
/* The same for the first n gradients, of queries, keys and values. */
int attention_gradient_errors(const attention_case *c, const attention_memory *memory, int n,
                              const char *what);

#endif
