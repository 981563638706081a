/* The planner's view of a function: nodes with strategies, values with uses. Shared by the files of
 * tp-propagate. */
#ifndef TP_PASSES_PROPAGATE_H
#define TP_PASSES_PROPAGATE_H

#include "ir/collectives.h"
#include "passes/propagate/model/time_limit.h"
#include "passes/registry.h"
#include "rules/program.h"
#include "support/memo.h"

#include "tp/solver.h"

#include <mlir-c/Diagnostics.h>

typedef enum tp_node_kind {
  TP_NODE_ARG,    /* function argument `index` */
  TP_NODE_OP,     /* item `index` */
  TP_NODE_LAYOUT, /* shard.shard, item `index`: a constraint */
  TP_NODE_RESULT, /* function result `index` */
  /* carried value `slot` of item `index`: an iteration argument, a result of a branch */
  TP_NODE_CARRIED,
  TP_NODE_COPY, /* the materialised layout of a value with several uses */
  /* under a memory limit: a place where the layout of a value may change; see routes.h */
  TP_NODE_CHANGE,
  /* under a memory limit: what a value is kept in until its last use, that of node `slot` */
  TP_NODE_HELD,
  TP_NODE_SPACE, /* under a memory limit: what node `slot` needs beside that for a while */
} tp_node_kind;

/* One decision. Specs are stored strategy-major: spec of input o under strategy s is in[s * n_in +
 * o]. */
typedef struct tp_node {
  tp_node_kind kind;
  int index;
  int slot; /* TP_NODE_CARRIED, TP_NODE_HELD, TP_NODE_SPACE */
  int n;    /* strategies */
  int n_in, n_out;
  tp_spec *in, *out;
  tp_strategy *strategies; /* TP_NODE_OP */
  tp_cost *costs;
  const struct tp_station_way *ways; /* TP_NODE_CHANGE */
  int chosen;
  int left_out; /* strategies beyond TP_MAX_STRATEGIES */
} tp_node;

enum { TP_EXPOSED = 16 };

typedef struct tp_use {
  int node, input; /* consumer */
  /* to be rewired: operand `operand` of `op`, or all uses inside a region when operand < 0 */
  MlirOperation op;
  int operand;
  /* share of its change of layout, of TP_EXPOSED, that is paid; less than all only with overlap */
  uint8_t exposed;
} tp_use;

typedef struct tp_planned_value {
  MlirValue value;
  int node, output; /* producer */
  int copy;         /* TP_NODE_COPY, or -1 */
  int rank;
  const int64_t *shape;
  int64_t element_size;
  int n_uses;
  tp_use *uses;
  int use_capacity;
  bool in_blocks; /* never stored as a whole (attention.h) */
  /* it is taken in the layout in which it is made: in blocks, or from nothing under a memory
   * limit */
  bool keeps_layout;
  double trips;    /* how often a change of its layout would run: it stands behind the producer */
  uint8_t exposed; /* of the change into its copy, as in tp_use */
} tp_planned_value;

enum { TP_MAX_ORDERS = 8 };

typedef struct tp_planner {
  tp_pass *pass;
  const tp_mesh *mesh;
  const tp_topology *topology; /* the prices of the objective, which plans are compared by */
  const tp_topology *machine;  /* times */
  tp_reshard_cache *reshards;
  tp__arena *arena;
  tp_program program;
  bool follow;
  bool mixes_sub_axes; /* an annotation splits an axis: any mix of its parts is offered */
  tp_node *nodes;
  size_t n_nodes, node_capacity;
  tp_planned_value *values; /* by number (program.h) */
  size_t n_values;
  tp_memo same_rules, first_rules, same_ops, same_layouts, same_edges, written_ops, forms,
      layout_changes;
  struct layout_list *layout_scratch; /* blocks that every node uses in turn */
  struct tp_layout_set *set_scratch;
  struct enumeration *op_scratch;
  struct tp_flow *flow;     /* which axes annotations bring to which dimension */
  size_t number;            /* of the function, in the module */
  struct tp_report *report; /* NULL: nobody asks for one */
  tp_problem *problem;      /* that was solved */
  double gap;               /* of cost over bound, that is good enough */
  tp_clock *clock;          /* of the pass ... */
  double end;               /* ... by which the function is to be planned */
  int64_t memory_limit;     /* bytes of a device at any time; -1: none */
  /* with a limit: a node has not all strategies that the program allows it */
  bool is_restricted;
  double effort;            /* of planning, with a limit ... */
  int64_t limited_work;     /* ... as work of the solver */
  struct tp_routes *routes; /* NULL without a limit */
  /* by node without routes, which strategies are in the problem; NULL: all ... */
  const bool *const *kept;
  int64_t n_cut; /* ... and how many are not: of those only a bound is known */
  /* in which axes follow each other in one dimension: that of the mesh, and those that annotations
   * have */
  int n_orders;
  uint8_t orders[TP_MAX_ORDERS][TP_MAX_AXES];
  int64_t work, width;
  tp_cost cost, bound;
  bool overlaps;      /* choose by the time of two streams */
  bool hides_rings;   /* in the problem at hand parts travel while others are computed with */
  tp_cost overlapped; /* that time, with `overlaps` */
  const char *method;
  int64_t peak;      /* bytes that a device holds at most, when the plan is written */
  bool is_cut_short; /* the clock ended the search: another run may find another plan */
  bool heeds_clock;  /* what is stated now may be given up when the time is over ... */
  bool is_given_up;  /* ... and was: it has wrong prices, and is thrown away */
} tp_planner;

/* What tp__flow_build finds for a planner. */
typedef struct tp_found_flow {
  struct tp_flow *flow;
  int n_orders;
  uint8_t orders[TP_MAX_ORDERS][TP_MAX_AXES];
} tp_found_flow;

typedef struct tp_func_list {
  size_t n, capacity;
  tp_program *programs;
  /* by function, where the mesh stayed as it was read; NULL: of another mesh */
  tp_found_flow *flows;
} tp_func_list;

/* A module that was read for planning. */
typedef struct tp_planning {
  tp_mesh mesh; /* refined for reshapes and sizes */
  tp_topology topology, machine;
  tp__arena arena;
  tp_func_list functions;
  tp_reshard_cache *reshards; /* NULL: those of another planning are used */
  tp_clock clock;
  tp_planner common; /* what the planners of all functions start from */
} tp_planning;

enum {
  TP_MAX_STRATEGIES = 1024, /* of a decision */
  TP_MAX_FOUND = 1 << 14,   /* that are looked at, to choose among */
};

/* strategy_bound.c */
/* The indices of `max` of n > max things, ascending: the first one, and those of the others that
 * cost least. */
tp_status tp__keep_cheapest(tp__arena *arena, const tp_cost *costs, int n, int max, int **kept);
typedef struct tp_layout_set tp_layout_set;
/* Empties the one set that the planner has; NULL when memory runs out. */
tp_layout_set *tp__layout_set_empty(tp_planner *planner);
void tp__layout_set_add(tp_layout_set *set, tp_spec spec);
/* What was added, in order; of more than TP_MAX_STRATEGIES the first and those that were added most
 * often. Valid until the set is emptied. */
tp_status tp__layout_set_list(tp_planner *planner, const tp_layout_set *set, const tp_spec **specs,
                              int *n, int *left_out);

/* open_layouts.c: fills layouts of nodes that take any which an annotation leaves open. */
tp_status tp__node_for_arg(tp_planner *planner, int arg, tp_node *node);
tp_status tp__node_for_layout(tp_planner *planner, int item, tp_node *node);
tp_status tp__node_for_carried(tp_planner *planner, int item, int slot, tp_node *node);
tp_status tp__node_for_result(tp_planner *planner, int result, MlirValue value, tp_node *node,
                              bool *pinned);
tp_status tp__node_allocate(tp_planner *planner, tp_node *node, int n, int n_in, int n_out);
/* Is a dimension of `size` offered to be split by `axes` (bit a: axis a)? Unevenly only by whole
 * axes, and where each shard has something to do: parts of an axis are there because they divide.
 * Where annotations want all these axes there (`named`) shards may also be empty, and of parts of
 * an axis if some annotation splits an axis itself. */
bool tp__is_offered(const tp_planner *planner, int64_t size, unsigned axes, bool named);
/* False if no set of axes that has `axis` can be offered. */
bool tp__may_be_offered(const tp_planner *planner, int64_t size, int axis, bool named);

/* pads.c: makes pads that windows can read in place ops of those windows (rules/in_place.h). */
tp_status tp__pads_in_place(MlirOperation func, tp__arena *arena);

/* sub_axes.c */
/* `refined` is the planner's mesh with its axes cut where that pays for one of the n programs;
 * flows[i] is that of program i, for the planner's mesh. */
tp_status tp__refine_mesh(const tp_planner *planner, size_t n, const tp_program *programs,
                          tp_found_flow *flows, tp_mesh *refined);
/* The size of the leading part of an axis of `parts` devices that divides the factor where the axis
 * does not, unless that would only save a little padding; 0: none. */
int64_t tp__size_cut(const tp_factor *factor, int64_t parts);

/* op_strategies.c: fills strategies, layouts and costs of an op's node. */
tp_status tp__node_for_op(tp_planner *planner, int item, tp_node *node);
/* Modelled time of what the op of a node computes as it was chosen, without what it
 * communicates. */
tp_cost tp__node_compute(const tp_planner *planner, const tp_node *node);
/* What strategy `s` of a node saves where a part comes in around a ring while the one at hand is
 * computed with; 0 without a ring. */
tp_cost tp__ring_hidden(const tp_planner *planner, const tp_node *node, int s);
/* A cost that is paid `trips` times. */
tp_cost tp__cost_times(tp_cost cost, double trips);

/* cost_keys.c */

enum { TP_MAX_WORDS = 512 };

/* A key in the making. With n > TP_MAX_WORDS it did not fit and must not be used. */
typedef struct tp_words {
  size_t n;
  int64_t words[TP_MAX_WORDS];
} tp_words;

void tp__words_add(tp_words *words, int64_t word);
/* All of a rule that strategies and their costs depend on. */
void tp__words_add_rule(tp_words *words, const tp_rule *rule);
/* A word that rules share which are equal in that; 0: there is none, the rule is too long. False
 * when memory runs out. */
bool tp__rule_word(tp_planner *planner, const tp_rule *rule, int64_t *word);

/* axis_flow.c */
tp_status tp__flow_build(tp_planner *planner);
/* Does an annotation put `axis` on a dimension that is split unevenly? */
bool tp__flow_is_uneven(const tp_planner *planner, int axis);
/* May `axis` stand on dimension `dim` of the value with number `value` (program.h)? Always, unless
 * strategy=follow. */
bool tp__flow_allows(const tp_planner *planner, int value, int dim, int axis);
/* Does an annotation put `axis` on `dim` of `value`, or on a dimension that factors link with
 * it? */
bool tp__flow_names(const tp_planner *planner, int value, int dim, int axis);
/* Of all axes at once, as bits: those that tp__flow_names says, and the parts that were cut because
 * of the size of `dim` of `value`, or of a dimension that factors link with it. */
void tp__flow_axes(const tp_planner *planner, int value, int dim, uint8_t *named, uint8_t *cut);

/* node_order.c: numbers the nodes anew, in the order in which the solver is quickest. */
tp_status tp__order_nodes(tp_planner *planner);

/* nodes.c: builds nodes and values. */
tp_status tp__plan_nodes(tp_planner *planner);
/* A value with several uses gets a node for its shared copy: the layouts that its producer or a
 * consumer can have. Part of the above without a memory limit. */
tp_status tp__plan_copies(tp_planner *planner);
/* selection_problem.c, in this order: prices them, and the edges between them; solves, and sets
 * chosen. */
tp_status tp__plan_problem(tp_planner *planner);
tp_status tp__plan_solve(tp_planner *planner);
/* Both; of large functions with a time limit a plan of few strategies first (time_limited.c). */
tp_status tp__plan(tp_planner *planner);
/* The problem, with its memory limit or without. NULL where it was given up. */
tp_status tp__plan_make_problem(tp_planner *planner, bool limited, tp_problem **problem);
/* Solves with changes of layout priced by their exposed shares, and chooses anew. */
tp_status tp__plan_exposed(tp_planner *planner);
/* overlap.c: chooses among plans for different exposed shares that which takes least time when
 * communication overlaps with compute; sets `overlapped`, and `cost` to what the plan costs without
 * overlap. */
tp_status tp__plan_overlap(tp_planner *planner);
/* NULL for what has no layout, or is not planned yet. */
tp_planned_value *tp__planned_value(const tp_planner *planner, MlirValue value);

/* Bytes that a value of attention takes in blocks, of those that it would take as a whole. */
int64_t tp__block_bytes(int64_t bytes, int64_t element_size);

/* The layouts of the plan: what the producer gives, and what a use wants. */
tp_spec tp__plan_produced(const tp_planner *planner, const tp_planned_value *value);
tp_spec tp__plan_wanted(const tp_planner *planner, const tp_use *use);

/* Share of a time limit for stating the problem; where that takes longer, the rest is for a plan of
 * few strategies (time_limited.c). */
#define TP_STATING 0.5
/* time_limit.c: is what is stated given up, now or before? */
bool tp__clock_gives_up(tp_planner *planner);
/* time_limited.c: plans with few strategies, and with all if there is time and that was not tried
 * before. */
tp_status tp__plan_late(tp_planner *planner);

/* time_limit.c: a remark where the clock ended the search. */
void tp__clock_remark(const tp_planner *planner);
/* The clock ended the search before there was a plan. */
tp_status tp__clock_exceeded(const tp_planner *planner);

/* remarks.c: remarks about large tensors of the plan, which is not written yet. */
tp_status tp__plan_remarks(tp_planner *planner);

/* updates.c: an edge between each argument and the result that is its new value. */
tp_status tp__tie_updates(tp_planner *planner, tp_problem *problem);

/* write_plan.c: writes the chosen plan into the IR. */
tp_status tp__plan_write(tp_planner *planner);

/* A function that is planned again, with other annotations: `planner` has its nodes, and may go on
 * to price and solve. Not to be moved. */
typedef struct tp_again {
  tp_pass pass;
  tp_planning planning;
  tp_planner planner;
} tp_again;

/* propagate.c: reads the module of `pass`, a copy of the one that `like` planned, and makes the
 * nodes of the same function; with `keep_mesh` for the same mesh, whatever the annotations say. To
 * be closed also when it fails. */
tp_status tp__again_open(tp_pass *pass, const tp_planner *like, bool keep_mesh, tp_again *again);
void tp__again_close(tp_again *again);
/* A handler of diagnostics for what is tried: it has been said before, or is not about the
 * input. */
MlirLogicalResult tp__swallow(MlirDiagnostic diagnostic, void *data);

#endif
