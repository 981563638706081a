/* The layouts of one tensor and the moves between them. Shared by layout_field.c,
 * layout_distances.c and layout_symmetry.c. */
#ifndef TP_LIB_SHARDING_LAYOUT_FIELD_H
#define TP_LIB_SHARDING_LAYOUT_FIELD_H

#include "sharding/layout_cache.h"
#include "tp/reshard.h"

/* The moves out of each layout, or those into it: the layouts at their other ends, and their
 * costs. `first` has n_states + 1 entries. */
typedef struct tp__field_moves {
  uint32_t *first;
  int32_t *other;
  tp_cost *cost;
} tp__field_moves;

struct tp_reshard_field {
  const tp__layout_graph *graph;
  tp__arena arena; /* has the graph, unless that is shared */
  tp__layout_view view;
  tp_mesh mesh;
  unsigned axes;              /* those of size > 1 */
  int64_t sizes[TP_MAX_RANK]; /* of the view's dimensions */
  int n_states;
  int32_t *number; /* by state of the graph: its number here; -1: not included */
  tp__field_moves out, into;
  int32_t *queue; /* scratch, by state */
  bool *is_queued;
};

/* Permutations of the layouts that keep all costs of moves, the identity first. */
enum { TP__MAX_SYMMETRIES = 24 };

typedef struct tp__field_symmetries {
  int n;
  int32_t *images[TP__MAX_SYMMETRIES]; /* by layout */
} tp__field_symmetries;

/* Must be cleared also when it fails. */
tp_status tp__field_symmetries_find(const tp_reshard_field *field,
                                    tp__field_symmetries *symmetries);
void tp__field_symmetries_clear(tp__field_symmetries *symmetries);

#endif
