/* Attentions for tests: shapes, layouts and masks, their operands, and the result in f64. */
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
  bool causal;
  int64_t offset;
  tprt_dtype position_dtype; /* 0: none */
  int64_t position;
  float hidden;
  bool wide;           /* the result is f32 */
  bool hides_a_row;    /* the mask hides all columns of row 1 */
  bool by_tensor_core; /* type and layout allow it */
  bool large;          /* the PTX machine takes long for it without tensor cores */
} attention_case;

extern const attention_case attention_cases[];
extern const int n_attention_cases;

typedef struct attention_memory {
  /* of operands TPRT_ATTENTION_Q, ..., and of the result; NULL: there is none */
  void *of[TPRT_ATTENTION_TENSORS];
  size_t bytes[TPRT_ATTENTION_TENSORS];
  int64_t position; /* as its type, in the lower bytes */
} attention_memory;

/* The site's words. */
tprt_abi_fused_attention attention_words(const attention_case *c);
/* Makes the operands, and a result of NaN. */
void attention_fill(const attention_case *c, attention_memory *memory);
void attention_free(attention_memory *memory);
/* Compares a result with f64: each element within the rounding of weights and results. Returns the
 * number of elements beyond it, of which it prints the first if `what` is not NULL. */
int attention_errors(const attention_case *c, const attention_memory *memory, const char *what);

#endif
