/* The planner's view of a function: nodes with strategies, values with uses. Shared by the files of tp-propagate. */
#ifndef TP_PASSES_PROPAGATE_H
#define TP_PASSES_PROPAGATE_H

#include "ir/collectives.h"
#include "passes/table.h"
#include "rules/program.h"

#include "tp/solver.h"

typedef enum tp_node_kind {
  TP_NODE_ARG,    /* function argument `index` */
  TP_NODE_OP,     /* item `index` */
  TP_NODE_LAYOUT, /* shard.shard, item `index`: a constraint */
  TP_NODE_RESULT, /* function result `index` */
  TP_NODE_COPY,   /* the materialised layout of a value with several uses */
} tp_node_kind;

/* One decision. Specs are stored strategy-major: spec of input o under strategy s is in[s * n_in + o]. */
typedef struct tp_node {
  tp_node_kind kind;
  int index;
  int n; /* strategies */
  int n_in, n_out;
  tp_spec *in, *out;
  tp_strategy *strategies; /* TP_NODE_OP */
  tp_cost *costs;
  int chosen;
} tp_node;

typedef struct tp_use {
  int node, input;      /* consumer */
  MlirOperation op;     /* to be rewired: operand `operand` of `op`, or all uses inside a region when operand < 0 */
  int operand;
} tp_use;

typedef struct tp_planned_value {
  MlirValue value;
  int node, output; /* producer */
  int copy;         /* TP_NODE_COPY, or -1 */
  int rank;
  int64_t shape[TP_MAX_RANK];
  int64_t element_size;
  int n_uses;
  tp_use *uses;
  size_t use_capacity;
} tp_planned_value;

typedef struct tp_planner {
  tp_pass *pass;
  const tp_mesh *mesh;
  const tp_topology *topology;
  tp_reshard_cache *reshards;
  tp__arena *arena;
  tp_program program;
  bool follow;
  bool mixes_sub_axes; /* an annotation splits an axis: any mix of its parts is offered */
  tp_node *nodes;
  size_t n_nodes, node_capacity;
  tp_planned_value *values;
  size_t n_values, value_capacity;
  tp_value_table table; /* value -> index into values */
  struct tp_flow *flow; /* follow mode: which axes may reach which dimension */
  int64_t work, width;
  tp_cost cost, bound;
  const char *method;
} tp_planner;

/* propagate_strategies.c: fills strategies, specs and costs of one node. */
tp_status tp__node_for_arg(tp_planner *planner, int arg, tp_node *node);
tp_status tp__node_for_op(tp_planner *planner, int item, tp_node *node);
tp_status tp__node_for_layout(tp_planner *planner, int item, tp_node *node);

/* propagate_flow.c */
tp_status tp__flow_build(tp_planner *planner);
void tp__flow_destroy(tp_planner *planner);
/* May `axis` stand on dimension `dim` of `value`? Always, unless strategy=follow. */
bool tp__flow_allows(const tp_planner *planner, MlirValue value, int dim, int axis);

/* propagate_problem.c: builds nodes, values and edges, solves, sets chosen. */
tp_status tp__plan_solve(tp_planner *planner);
tp_planned_value *tp__planned_value(const tp_planner *planner, MlirValue value);

/* propagate_write.c: writes the chosen plan into the IR. */
tp_status tp__plan_write(tp_planner *planner);

#endif
