/* The layouts that a node can have at one input or output, each listed once. Reshards depend on
 * layouts only, and many strategies share one. */
#ifndef TP_PASSES_PROPAGATE_LAYOUT_COLUMN_H
#define TP_PASSES_PROPAGATE_LAYOUT_COLUMN_H

#include "passes/propagate/model/planner.h"

typedef struct tp_layout_column {
  int n;
  tp_spec *specs;   /* the n different layouts */
  uint16_t *number; /* by strategy: index of its layout in `specs` */
} tp_layout_column;

/* Lists the layouts of output (`makes`) or input `at` of a node. Nodes that share their arrays
 * share a list. It is in `arena`, and `memo` finds it again. NULL when memory runs out. */
const tp_layout_column *tp__layout_column(tp_memo *memo, tp__arena *arena, const tp_node *node,
                                          bool makes, int at);

#endif
