/* The planner's model of a function: nodes with strategies, values with uses. Shared by the files
 * of tp-propagate. */
#ifndef TP_PASSES_PROPAGATE_H
#define TP_PASSES_PROPAGATE_H

#include "ir/collectives.h"
#include "passes/propagate/model/options.h"
#include "passes/propagate/model/time_limit.h"
#include "passes/registry.h"
#include "rules/func_graph.h"
#include "support/memo.h"

#include "tp/solver.h"

#include <mlir-c/Diagnostics.h>

typedef enum tp_node_kind {
  TP_NODE_ARG,    /* function argument `index` */
  TP_NODE_OP,     /* item `index` */
  TP_NODE_LAYOUT, /* shard.shard, item `index`: a constraint */
  TP_NODE_RESULT, /* function result `index` */
  /* carried value `slot` of item `index`: an iteration argument or a branch result */
  TP_NODE_CARRIED,
  TP_NODE_COPY, /* the materialized layout of a value with several uses */
  /* under a memory limit: a point where the layout of a value may change; see routes.h */
  TP_NODE_CHANGE,
  /* under a memory limit: the layout held until the last use, set by station `slot` */
  TP_NODE_HELD,
  TP_NODE_SPACE, /* under a memory limit: extra memory that node `slot` needs for a while */
} tp_node_kind;

/* One decision. Specs are stored strategy-major: in[s * n_in + o] is the spec of input o under
 * strategy s. */
typedef struct tp_node {
  tp_node_kind kind : 8;
  int n_in : 12, n_out : 12;
  int index;
  int slot; /* for TP_NODE_CARRIED, TP_NODE_HELD and TP_NODE_SPACE */
  int n;    /* number of strategies */
  int chosen;
  int left_out; /* number of strategies dropped beyond TP_MAX_STRATEGIES */
  tp_spec *in, *out;
  tp_strategy *strategies; /* for TP_NODE_OP */
  tp_cost *costs;
  const struct tp_station_strategy *station_strategies; /* for TP_NODE_CHANGE */
} tp_node;

/* Returns the spec of an output (`makes`) or of an input under strategy s. */
static inline tp_spec tp__node_spec(const tp_node *node, bool makes, int column, int s) {
  return makes ? node->out[s * node->n_out + column] : node->in[s * node->n_in + column];
}

enum { TP_EXPOSED_UNITS = 16 };

typedef struct tp_use {
  int node, input; /* consumer */
  /* Bit k: the consumer's input k, before this one, reads the same value. Where both want the same
   * layout, the reshard of the earlier one serves both. */
  uint64_t earlier;
  int served_by; /* one that does so with all strategies; -1: none */
  /* the operand to rewire: `operand` of `op`; if `operand` < 0, all uses inside a region of `op` */
  MlirOperation op;
  int operand;
  /* paid share of its reshard, of TP_EXPOSED_UNITS; less than all of it only with overlap */
  uint8_t exposed;
} tp_use;

/* The first input of the consumer that reads the value in the same layout as this use, with
 * strategy s of the consumer. */
static inline int tp__serving_input(const tp_node *node, const tp_use *u, int s) {
  const tp_spec *in = &node->in[s * node->n_in];
  for (int k = 0; k < u->input && k < 64; k++)
    if (u->earlier >> k & 1 && tp_spec_equal(in[k], in[u->input]))
      return k;
  return u->input;
}

typedef struct tp_planned_value {
  MlirValue value;
  int node, output; /* producer */
  int copy;         /* its TP_NODE_COPY, or -1 */
  int rank;
  const int64_t *shape;
  int64_t element_size;
  double trips; /* how often a reshard placed behind the producer would run */
  tp_use *uses;
  int n_uses, use_capacity;
  bool in_blocks; /* computed block by block, never stored as a whole (attention.h) */
  bool in_kernel; /* likewise, by a kernel that stores nothing of it */
  /* used in the layout in which it is produced: computed in blocks, or a constant fill under a
   * memory limit */
  bool keeps_layout;
  uint8_t exposed; /* of the reshard into its copy, as in tp_use */
} tp_planned_value;

enum { TP_MAX_ORDERS = 8 };

/* An argument and a result with one layout (ties.c). `next`: the next tie of the argument, and of
 * the result, or -1. */
typedef struct tp_tie {
  int arg, result;
  int attr; /* which attribute says so */
  int next[2];
} tp_tie;

/* What is planned: a function with the strategies of its nodes. Immutable once tp__plan_nodes has
 * built it, except for the choices of the nodes. Planners that keep fewer strategies have nodes of
 * their own. */
typedef struct tp_plan_problem {
  tp_pass *pass;
  const tp_propagate_options *options;
  const tp_mesh *mesh;
  const tp_topology *topology; /* prices of the objective, by which plans are compared */
  const tp_topology *machine;  /* execution times */
  tp_reshard_cache *reshards;
  tp__arena *arena;
  tp_func_graph graph;
  size_t number; /* index of the function in the module */
  bool follow;
  bool overlaps;                           /* choose by the simulated time of two streams */
  const tp_tie *ties;                      /* of arguments and results that get one layout */
  int n_ties, *tie_of_arg, *tie_of_result; /* by number: the first tie, or -1 */
  bool mixes_sub_axes;  /* an annotation splits an axis, so any mix of its parts is offered */
  struct tp_flow *flow; /* which axes annotations propagate to which dimension */
  /* orders in which axes may follow each other on one dimension: that of the mesh, and those of
   * annotations */
  int n_orders;
  uint8_t orders[TP_MAX_ORDERS][TP_MAX_AXES];
  tp_node *nodes;
  size_t n_nodes, node_capacity;
  tp_planned_value *values; /* by value number (func_graph.h) */
  size_t n_values;
  /* by value number: an op that computes by itself, a collective or the caller reads the value, so
   * it is stored even if an elementwise op makes it */
  bool *stored;
} tp_plan_problem;

/* What a plan has to keep to, and what planning may take. */
typedef struct tp_plan_limits {
  int64_t memory;  /* bytes per device at any time; -1: no limit */
  double effort;   /* planning effort under a memory limit */
  int64_t work;    /* the same as a budget of solver work */
  double gap;      /* relative gap of cost over bound that is accepted */
  tp_clock *clock; /* of the pass */
  double end;      /* deadline for planning this function */
  bool is_other;   /* another plan, for a report: the search ends with the work, even with none */
  bool binds;      /* the plan without the memory limit is known to exceed it */
} tp_plan_limits;

/* The plan that was chosen; the strategies are in the nodes. */
typedef struct tp_plan_result {
  tp_cost cost, bound;
  tp_cost overlapped; /* simulated time of two streams, if the problem `overlaps` */
  /* execution time of the reshards that were written; several ops may share one, which they pay
   * each in `cost` */
  tp_cost reshards;
  const char *method;
  int64_t work, width;
  int64_t peak;      /* peak bytes of a device in the written plan */
  bool is_cut_short; /* the clock ended the search; another run may find another plan */
} tp_plan_result;

/* A problem with its limits and its plan, and the state of planning. */
typedef struct tp_planner {
  tp_plan_problem problem;
  tp_plan_limits limits;
  tp_plan_result result;
  struct tp_report *report; /* NULL: no report was requested */
  tp_memo same_rules, first_rules, same_ops, same_surroundings, same_layouts, same_edges,
      written_ops, forms, layout_changes, reshard_times, step_times;
  tp_cost *no_costs; /* of nodes that cost nothing: TP_MAX_STRATEGIES zeros, which are shared */
  struct layout_list *layout_scratch; /* scratch that every node reuses */
  struct tp_layout_set *set_scratch;
  struct enumeration *op_scratch;
  tp_problem *stated;       /* the problem as the solver has it */
  struct tp_routes *routes; /* NULL without a memory limit */
  /* by node, nodes of routes left out: which strategies are stated; NULL: all */
  const bool *const *kept;
  /* NULL: reshards are priced exactly; otherwise as in these (limits/layout_messages.h) */
  struct tp_layout_messages *messages;
  int64_t n_cut; /* number of strategies that are not stated; for those only a bound is known */
  bool is_restricted; /* under a limit: tp__planner_restrict removed strategies of one node */
  bool hides_rings;   /* in what is stated, ring parts travel while others are computed with */
  bool heeds_clock;   /* stating the problem may be given up when the time is over */
  bool is_given_up;   /* it was given up; what is stated has wrong prices and is discarded */
} tp_planner;

/* The result of tp__flow_build for a planner. */
typedef struct tp_found_flow {
  struct tp_flow *flow;
  int n_orders;
  uint8_t orders[TP_MAX_ORDERS][TP_MAX_AXES];
} tp_found_flow;

typedef struct tp_func_list {
  size_t n, capacity;
  tp_func_graph *graphs;
  /* by function, if refining left the mesh unchanged; NULL: the flows are of another mesh */
  tp_found_flow *flows;
} tp_func_list;

/* A module that was read for planning. */
typedef struct tp_planning {
  tp_mesh mesh; /* refined for reshapes and sizes */
  tp_topology topology, machine;
  tp__arena arena;
  tp_func_list functions;
  tp_reshard_cache *reshards; /* NULL: the cache of another planning is used */
  unsigned whole;             /* axes that paths do not cut, as bits (tp.whole_axes) */
  tp_clock clock;
  tp_planner common; /* initial values for the planners of all functions */
} tp_planning;

enum {
  TP_MAX_STRATEGIES = 1024, /* per decision */
  TP_MAX_FOUND = 1 << 14,   /* strategies enumerated, from which the kept ones are chosen */
};

/* strategy_bound.c */
/* Returns the indices of `max` of n > max items, ascending: the first item, and the cheapest of the
 * others. */
tp_status tp__select_cheapest(tp__arena *arena, const tp_cost *costs, int n, int max, int **kept);
typedef struct tp_layout_set tp_layout_set;
/* Empties the planner's only set and returns it; NULL when memory runs out. */
tp_layout_set *tp__layout_set_empty(tp_planner *planner);
void tp__layout_set_add(tp_layout_set *set, tp_spec spec);
/* Returns the added layouts in order of insertion. Of more than TP_MAX_STRATEGIES layouts it
 * returns the first one and those added most often. Valid until the set is emptied. */
tp_status tp__layout_set_list(tp_planner *planner, const tp_layout_set *set, const tp_spec **specs,
                              int *n, int *left_out);

/* accumulators.c: true if a loop combines the value with others in each step, as *combiner does, or
 * writes parts of it, and nothing else in the loop reads it: then it may be partial. A value that
 * the loop only passes on is one, too. */
bool tp__accumulates(const tp_func_graph *graph, const tp_carried *carried, tp_combiner *combiner);

/* open_layouts.c: fills in layouts of nodes that accept every layout their annotation leaves
 * open. */
tp_status tp__node_for_arg(tp_planner *planner, int arg, tp_node *node);
tp_status tp__node_for_layout(tp_planner *planner, int item, tp_node *node);
tp_status tp__node_for_carried(tp_planner *planner, int item, int slot, tp_node *node);
tp_status tp__node_for_result(tp_planner *planner, int result, MlirValue value, tp_node *node,
                              bool *pinned);
/* True if an argument or result of this type may have the layout, by the option `boundary`. */
bool tp__may_cross_boundary(const tp_planner *planner, MlirType type, tp_spec spec);
tp_status tp__node_allocate(tp_planner *planner, tp_node *node, int n, int n_in, int n_out);
/* True if the planner may split a dimension of `size` by `axes` (bit a: axis a). Uneven splits are
 * offered only for whole axes, and only if there are more elements than shards: an axis is cut into
 * parts only where the parts divide. If annotations request all these axes there (`named`), shards
 * may also be empty; parts of an axis may then split unevenly if some annotation splits an axis
 * itself. */
bool tp__is_offered(const tp_planner *planner, int64_t size, unsigned axes, bool named);
/* False if no set of axes containing `axis` can be offered. */
bool tp__may_be_offered(const tp_planner *planner, int64_t size, int axis, bool named);

/* take_in_place.c: of these pads and concats, gives each window that can read a pad in place a pad
 * of its own, and each shift slices of its own (rules/in_place.h, rules/shift.h). */
tp_status tp__take_in_place(const tp_op_list *ops, tp__arena *arena);

/* sub_axes.c */
/* Sets `refined` to the planner's mesh, with axes cut into sub-axes where that pays off for one of
 * the n graphs. flows[i] becomes the flow of graph i for the planner's mesh. */
tp_status tp__refine_mesh(const tp_planner *planner, size_t n, const tp_func_graph *graphs,
                          tp_found_flow *flows, tp_mesh *refined);
/* Returns the size of the leading part of an axis of `parts` devices that divides the factor, if
 * the whole axis does not. Returns 0 if there is none or if it would save only a little padding. */
int64_t tp__size_cut(const tp_factor *factor, int64_t parts);

/* op_strategies.c: fills in the strategies, layouts and costs of an op's node. */
tp_status tp__node_for_op(tp_planner *planner, int item, tp_node *node);
/* op_cost.c: modeled compute time of a node's op under its chosen strategy, without
 * communication. */
tp_cost tp__node_compute(const tp_planner *planner, const tp_node *node);
/* Time that strategy `s` of a node saves by receiving the next ring part while it computes with the
 * current one; 0 without a ring. */
tp_cost tp__ring_hidden(const tp_planner *planner, const tp_node *node, int s);
/* Returns a cost multiplied by the trip count, capped at TP_COST_FORBIDDEN. */
tp_cost tp__cost_times(tp_cost cost, double trips);
/* Returns how often the op of a node runs; 1 for other nodes. */
double tp__node_trips(const tp_planner *planner, const tp_node *node);

/* cost_keys.c */

enum { TP_MAX_KEY_WORDS = 512 };

/* A memo key under construction. If n > TP_MAX_KEY_WORDS, the key did not fit: do not use it. */
typedef struct tp_memo_key {
  size_t n;
  int64_t words[TP_MAX_KEY_WORDS];
} tp_memo_key;

void tp__memo_key_add(tp_memo_key *words, int64_t word);
/* Adds everything of a rule that strategies and their costs depend on. */
void tp__memo_key_add_rule(tp_memo_key *words, const tp_rule *rule);
/* Returns a word shared by all rules that are equal for tp__memo_key_add_rule; 0 if the rule is too
 * long for a key. False when memory runs out. */
bool tp__rule_word(tp_planner *planner, const tp_rule *rule, int64_t *word);

/* axis_flow.c */
tp_status tp__flow_build(tp_planner *planner);
/* True if an annotation puts `axis` on a dimension that is split unevenly. */
bool tp__flow_is_uneven(const tp_planner *planner, int axis);
/* True if `axis` may split dimension `dim` of value number `value` (func_graph.h). Always true
 * unless strategy=follow. */
bool tp__flow_allows(const tp_planner *planner, int value, int dim, int axis);
/* True if an annotation puts `axis` on `dim` of `value`, or on a dimension linked to it by
 * factors. */
bool tp__flow_names(const tp_planner *planner, int value, int dim, int axis);
/* The same for all axes at once, as bits. `named`: the axes for which tp__flow_names is true.
 * `cut`: the sub-axes that were cut because of the size of `dim` of `value` or of a dimension
 * linked to it by factors. */
void tp__flow_axes(const tp_planner *planner, int value, int dim, uint8_t *named, uint8_t *cut);

/* node_order.c: renumbers the nodes into the order in which the solver is fastest. */
tp_status tp__order_nodes(tp_planner *planner);

/* nodes.c: reports on the function that memory ran out. Returns TP_NO_MEMORY. */
tp_status tp__plan_no_memory(const tp_planner *planner);
/* nodes.c: builds nodes and values. */
tp_status tp__plan_nodes(tp_planner *planner);
/* Gives each value with several uses a node for its shared copy, with the layouts that its producer
 * or a consumer can have. tp__plan_nodes calls it when there is no memory limit. */
tp_status tp__plan_copies(tp_planner *planner);
/* searches.c: plans within the limits. Sets the choices of the nodes, and the result. */
tp_status tp__plan(tp_planner *planner);
/* selection_problem.c: prices nodes and the edges between them, without a memory limit. There is no
 * problem if the time was over meanwhile. */
tp_status tp__plan_state(tp_planner *planner);
/* Solves that problem, and sets choices and result. */
tp_status tp__plan_stated(tp_planner *planner);
/* Builds the problem, with its memory limit or without. *problem is NULL if it was given up. */
tp_status tp__plan_make_problem(tp_planner *planner, bool limited, tp_problem **problem);
/* Solves with reshards priced by their exposed shares, and updates `chosen`. */
tp_status tp__plan_exposed(tp_planner *planner);
/* overlap.c: solves for several sets of exposed shares and keeps the plan that takes the least time
 * when communication overlaps with compute. Sets `overlapped`, and sets `cost` to the cost of that
 * plan without overlap. */
tp_status tp__plan_overlap(tp_planner *planner);
/* NULL for a value that has no layout or is not planned yet. */
tp_planned_value *tp__planned_value(const tp_planner *planner, MlirValue value);

/* Bytes that an attention value takes in blocks, given the bytes it would take as a whole. */
int64_t tp__block_bytes(const tp_planned_value *value, int64_t bytes);

/* The layouts of the plan: what the producer makes, and what a use expects. */
tp_spec tp__plan_produced(const tp_planner *planner, const tp_planned_value *value);
tp_spec tp__plan_wanted(const tp_planner *planner, const tp_use *use);

/* time_limit.c: true if stating the problem is given up, now or earlier. */
bool tp__clock_gives_up(tp_planner *planner);
/* time_limit.c: emits a remark that the clock ended the search. */
void tp__clock_remark(const tp_planner *planner);
/* Emits the error that the clock ended the search before there was a plan. */
tp_status tp__clock_exceeded(const tp_planner *planner);
/* TP_CANCELLED, with an error, if the caller of tp_text_run has cancelled the run. */
tp_status tp__plan_cancelled(const tp_planner *planner);

/* remarks.c: emits remarks about large tensors of the plan, before the plan is written. */
tp_status tp__plan_remarks(const tp_planner *planner);

/* whole_axes.c: returns the axes, as bits, that paths of the chosen plan cut and tp-partition
 * cannot cut. */
unsigned tp__wrongly_cut_axes(const tp_planner *planner);

/* ties.c: reads the pairs of an argument and a result that must have the same layout (tp.updates,
 * tp.gradient). */
tp_status tp__read_ties(tp_planner *planner);
/* Adds an edge between the nodes of each pair. */
tp_status tp__tie_layouts(tp_planner *planner, tp_problem *problem);
/* Finds the annotation of an argument or a result. If it has none, the annotation of a value that
 * it is tied to counts: this may ask for a layout that the planner does not offer by itself. */
tp_status tp__pin_of_argument(tp_planner *planner, int number, tp_annotation *pin, bool *pinned);
tp_status tp__pin_of_result(tp_planner *planner, int number, tp_annotation *pin, bool *pinned);

/* write_plan.c: writes the chosen plan into the IR. */
tp_status tp__plan_write(tp_planner *planner);

/* A function that is planned again with other annotations. `planner` has its nodes and can go on to
 * price and solve. Must not be moved. */
typedef struct tp_replan {
  tp_pass pass;
  tp_planning planning;
  tp_planner planner;
} tp_replan;

/* propagate.c: reads the module of `pass`, a copy of the one that `like` planned, and builds the
 * nodes of the same function. With `keep_mesh` it uses the same mesh, whatever the annotations say.
 * Must be closed also when it fails. */
tp_status tp__replan_open(tp_pass *pass, const tp_planner *like, bool keep_mesh, tp_replan *again);
void tp__replan_close(tp_replan *again);

#endif
