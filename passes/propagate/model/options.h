/* The options of tp-propagate. */
#ifndef TP_PASSES_PROPAGATE_OPTIONS_H
#define TP_PASSES_PROPAGATE_OPTIONS_H

#include "tp/cost.h"

typedef struct tp_propagate_options {
  const char *mesh, *topology, *report, *against, *explain;
  enum { TP_STRATEGY_PLAN, TP_STRATEGY_FOLLOW } strategy;
  enum { TP_BOUNDARY_ANY, TP_BOUNDARY_WHOLE, TP_BOUNDARY_EVEN } boundary;
  enum { TP_UNKNOWN_REFUSE, TP_UNKNOWN_REPLICATE } unknown_ops;
  tp_objective objective;
  bool overlap, has_graph;
  int64_t byte_flops;   /* operations that cost as much as a byte, see TP_OBJECTIVE_BYTES */
  int64_t memory_limit; /* bytes; TP_NO_VALUE, TP_LIMIT_OF_TOPOLOGY */
  int64_t remark_bytes; /* INT64_MAX: no remarks */
  int64_t n_alternatives, n_frontier;
  double effort, gap;
  double entries;    /* of tables, beyond which the whole problem is not stated */
  double time_limit; /* seconds; TP_NO_VALUE */
} tp_propagate_options;

#endif
