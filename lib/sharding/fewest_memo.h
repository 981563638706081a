/* Paths that send the fewest bytes, found once. Shared by fewest_memo.c and reshard_bytes.c. */
#ifndef TP_LIB_SHARDING_FEWEST_MEMO_H
#define TP_LIB_SHARDING_FEWEST_MEMO_H

#include "sharding/layout_fewest.h"
#include "support/memo.h"

/* Empty if zeroed. */
typedef struct tp__fewest_memo {
  tp__arena arena;
  tp_memo results, bounds;
} tp__fewest_memo;

void tp__fewest_memo_destroy(tp__fewest_memo *memo);

/* Sets *bound to a number of elements that no path sends fewer than. */
tp_status tp__fewest_bound(tp__fewest_memo *memo, const tp__fewest *problem, int64_t *bound);
/* Sets *below to whether a path sends fewer than `limit` elements. */
tp_status tp__fewest_below(tp__fewest_memo *memo, const tp__fewest *problem, int64_t limit,
                           bool *below);
/* As tp__fewest_path. */
tp_status tp__fewest_find(tp__fewest_memo *memo, const tp__fewest *problem, int64_t *limit,
                          tp_step_kind *kinds, tp_spec *after, int *n);

#endif
