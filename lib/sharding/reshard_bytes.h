/* Paths of the objective "bytes": those of the other search, unless one with cut axes or uneven
 * layouts sends less. Shared by reshard.c and reshard_bytes.c. */
#ifndef TP_LIB_SHARDING_RESHARD_BYTES_H
#define TP_LIB_SHARDING_RESHARD_BYTES_H

#include "sharding/fewest_memo.h"
#include "sharding/layout_view.h"

/* Empty if zeroed. */
typedef struct tp__bytes_cache {
  unsigned whole; /* axes that are not cut, as bits */
  tp__fewest_memo memo;
  struct tp__cuts *cuts; /* by set of axes that stay whole */
  tp__arena arena;
} tp__bytes_cache;

void tp__bytes_cache_destroy(tp__bytes_cache *cache);

/* Returns a number of elements that no path sends fewer than, in little time; 0 if there is no
 * simple bound. */
int64_t tp__least_elements(const tp_mesh *mesh, tp_spec from, tp_spec to, int rank,
                           const int64_t *shape);

/* True if no path sends fewer than `bytes`. In doubt false, also if memory runs out. */
bool tp__are_fewest(tp__bytes_cache *cache, const tp__reshard_problem *problem, int64_t bytes);

/* False if no path sends fewer than `bytes`. In doubt true, also if memory runs out. Faster than
 * tp__find_fewer. */
bool tp__may_be_fewer(tp__bytes_cache *cache, const tp__reshard_problem *problem, int64_t bytes);

/* A path on a refinement of the problem's mesh. */
typedef struct tp__bytes_path {
  tp_mesh mesh;
  tp_spec from; /* on that mesh */
  int n;        /* 0: none */
  tp_step_kind kinds[TP_MAX_STEPS];
  tp_spec after[TP_MAX_STEPS];
} tp__bytes_path;

/* Finds a path that sends fewer than `bytes`, and the fewest. */
tp_status tp__find_fewer(tp__bytes_cache *cache, const tp__reshard_problem *problem, int64_t bytes,
                         tp__bytes_path *path);

#endif
