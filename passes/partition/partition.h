/* The checked plan of a function as tp-partition reads it from the IR. Shared by the files of
 * tp-partition. */
#ifndef TP_PASSES_PARTITION_H
#define TP_PASSES_PARTITION_H

#include "ir/collectives.h"
#include "passes/registry.h"
#include "passes/support/func_graphs.h"
#include "rules/func_graph.h"
#include "support/memo.h"

typedef struct tp_planned_op {
  tp_strategy strategy;
  tp_spec *results;
} tp_planned_op;

typedef struct tp_planned_layout {
  tp_reshard path;
  int rank;
  int64_t shape[TP_MAX_RANK]; /* global shape */
} tp_planned_layout;

typedef struct tp_partitioner {
  tp_pass *pass;
  const tp_mesh *mesh;
  tp_reshard_cache *reshards;
  tp__arena arena;
  tp_func_graph graph;
  tp_spec *specs; /* by value number (func_graph.h) */
  bool *has_spec;
  tp_memo same_ops, same_layouts, local_types, without_plan;
  const tp_planned_op **ops; /* by item, for op items; equal ops share one plan */
  /* by item, for reshard items; equal reshards share one */
  const tp_planned_layout **layouts;
  /* global types of arguments and results, saved before rewriting */
  MlirType *arg_types;
  MlirType *result_types;
  tp_spec *arg_specs, *result_specs;
} tp_partitioner;

/* partition_cuts.c: cuts the axes of *mesh that the paths of the module's reshards use in parts.
 * `reshards` is a cache for *mesh. Emits an error where the program cannot be read. */
tp_status tp__cut_for_paths(tp_pass *pass, tp_reshard_cache *reshards, bool unknown_replicate,
                            tp_mesh *mesh);
/* Reads and checks the whole plan without changing the module, so that a refused module stays
 * unchanged. The graph and the arrays of `p` are already set up. */
tp_status tp__read_plan(tp_partitioner *p);
/* Returns the sharding that the plan gives a value. False if it has none, or none yet. */
bool tp__planned_spec(const tp_partitioner *p, MlirValue value, tp_spec *spec);

/* Gives functions without a body the local types of their calls. Fails with a diagnostic if two
 * calls of a function have different types. */
tp_status tp__localize_declarations(MlirOperation module);

#endif
