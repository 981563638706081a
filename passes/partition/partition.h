/* The plan of a function as tp-partition reads it from the IR, checked. Shared by the files of
 * tp-partition. */
#ifndef TP_PASSES_PARTITION_H
#define TP_PASSES_PARTITION_H

#include "ir/collectives.h"
#include "passes/registry.h"
#include "rules/program.h"
#include "support/memo.h"

typedef struct tp_planned_op {
  tp_strategy strategy;
  tp_spec *results;
} tp_planned_op;

typedef struct tp_planned_layout {
  tp_reshard path;
  int rank;
  int64_t shape[TP_MAX_RANK]; /* global */
} tp_planned_layout;

typedef struct tp_partitioner {
  tp_pass *pass;
  const tp_mesh *mesh;
  tp_reshard_cache *reshards;
  tp__arena arena;
  tp_program program;
  tp_spec *specs; /* by number of the value (program.h) */
  bool *has_spec;
  tp_memo same_ops, same_layouts, local_types, without_plan;
  const tp_planned_op **ops; /* by item, of those that are ops; equal ones share one */
  /* by item, of those that change a layout; equal ones share one */
  const tp_planned_layout **layouts;
  /* global types of arguments and results, taken before anything changes */
  MlirType *arg_types;
  MlirType *result_types;
  tp_spec *arg_specs, *result_specs;
} tp_partitioner;

/* Reads and checks everything; nothing is changed, so that a refused module stays as it was. `p`
 * has a program and its arrays. */
tp_status tp__read_plan(tp_partitioner *p);
/* The layout that the plan gives a value; false when it has none, or none yet. */
bool tp__planned_spec(const tp_partitioner *p, MlirValue value, tp_spec *spec);

#endif
