/* The report of tp-propagate about its plan: where time goes, why each collective exists, and what
 * the next best plan would cost.
 *
 * A report lives as long as the pass runs. It copies the module before anything is written, so that
 * the same planner can plan the copy with one annotation more or less. Every reported alternative
 * was planned, none is estimated. */
#ifndef TP_PASSES_PLAN_REPORT_H
#define TP_PASSES_PLAN_REPORT_H

#include "passes/propagate/model/memory_model.h"

enum { TP_MAX_CAUSES = 12 };
#define TP_REPORT_SCHEMA "tpshard.plan/1"

typedef enum tp_pin_kind { TP_PIN_ARG, TP_PIN_RESULT, TP_PIN_OP } tp_pin_kind;

/* A layout as an annotation, and its position. */
typedef struct tp_pin {
  tp_pin_kind place;
  int number;                      /* index of the argument or result; -1: all results of the op */
  MlirOperation op;                /* the annotated op, or the function */
  MlirValue value;                 /* the value that has the layout; null for a function result */
  bool is_constraint;              /* the op is a shard.shard */
  int group;                       /* of annotations of the input: see tp_pin_group */
  MlirAttribute sharding, factors; /* factors: null attribute if there are none */
} tp_pin;

/* The cost of the program with other annotations. */
typedef struct tp_price {
  bool found;
  /* true: over everything the planner offers with the other annotation; false: only over what it
   * offers now, so it might find a cheaper plan */
  bool exact;
  tp_cost cost, bound;
} tp_price;

/* The value of tp_alternative.missing if no alternative was searched for. */
extern const char tp__alternative_not_sought[], tp__alternative_of_equal[];

/* The cheapest plan that makes another decision. */
typedef struct tp_alternative {
  tp_price price;
  tp_pin pin;          /* the annotation that leads to it */
  const char *missing; /* why there is no alternative */
} tp_alternative;

/* One collective. */
typedef struct tp_report_collective {
  tp_collective kind;
  int n_axes;
  int axes[TP_MAX_AXES]; /* of the plan's mesh; a step over a part of one names it here */
  const char *over;      /* the axes as text; parts of axes as in "dp,tp:(1)2" */
  const char *tensor;    /* type of the local operand */
  const char *reduction; /* "" for kinds that do not reduce */
  int64_t group, bytes;  /* bytes per device and execution */
  tp_cost cost;
} tp_report_collective;

/* A part of the plan that communicates: a reshard, or an op that needs data of other devices (a
 * window, an ordered loop). */
typedef struct tp_report_communication {
  MlirOperation op; /* the shard.shard that reshards, or the op */
  int position;     /* position of `op` in the written function */
  int node;         /* of the op; -1: a reshard, described by the following fields */
  const tp_planned_value *value;
  int use; /* the first use of the value that needs it; -1: several uses */
  tp_spec from, to;
  int n_consumers;
  double trips;
  /* over all executions: the total cost, and the cost of steps without communication */
  tp_cost cost, local;
  size_t n_collectives, collective_capacity;
  tp_report_collective *collectives;
  int n_causes;
  const char *causes[TP_MAX_CAUSES];
  int n_pins; /* annotations among the causes */
  int pins[TP_MAX_CAUSES];
  tp_alternative alternative;
  /* the cheapest plan in which all that use it in layout `to` take it in layout `from` */
  tp_price unmoved;
  /* an equal one, at which these two were looked for; NULL: none */
  const struct tp_report_communication *priced;
} tp_report_communication;

/* Annotations that differ only in numbers in the names of what they stand at: those of equal
 * layers. */
typedef struct tp_pin_group {
  int first, n;     /* index of the first pin, and how many there are */
  bool is_examined; /* the price is known */
  /* without these annotations; not found: no plan that is cheaper by more than one percent */
  tp_price price;
} tp_pin_group;

/* Lower bound on the extra cost of any plan in which the node decides otherwise. */
typedef struct tp_decision {
  int node;
  tp_cost worth;
} tp_decision;

/* The space of plans of a function: see plan_space.c. Arrays are by node, or by strategy, node
 * after node. */
typedef struct tp_space {
  /* the planner whose nodes have the strategies: that of the plan, or of the function without
   * annotations */
  const tp_planner *planner;
  int *chosen;    /* by node: strategy of the plan */
  size_t *offset; /* by node: index of its first strategy */
  bool *base;     /* by strategy: in the plan's own problem */
  bool *allowed;  /* by strategy: in the current problem, see tp__space_match */
  const bool **base_rows, **rows;
  tp_sensitivity *sensitivity;
} tp_space;

/* Report data of the function being planned. */
typedef struct tp_function_report {
  size_t n_changes, change_capacity;
  tp_report_communication *changes; /* in program order once the plan is written */
  size_t n_pins, pin_capacity;
  tp_pin *pins;     /* the annotations of the input */
  int *pin_of_node; /* by node: index of the annotation that pins it, or -1 */
  int n_pin_groups;
  tp_pin_group *pin_groups;  /* by the first pin */
  bool is_without_all_known; /* the price without any annotation is */
  tp_price without_all;
  int n_decisions;
  tp_decision *decisions; /* decisions with a positive lower bound, largest first */
  int n_fruitless;        /* plans from scratch since the last one that found an alternative */
  tp_cost compute, communication, local;
  tp_cost price; /* cost of the written plan in the prices of the objective */
  int64_t bytes;
  struct causes *causes;
  const char **results; /* by result of the function: what it is, as for values */
  bool failed;          /* memory ran out while the plan was written */
  bool is_cut_short;    /* the clock ended the search for other plans */
  bool is_in_parts;     /* other plans are not sought, since the function is planned in parts */
} tp_function_report;

/* The name of a value in the source, and the one that MLIR prints. They are equal if the former is
 * unknown. */
typedef struct tp_value_name {
  const char *own, *printed;
  const char *description; /* what the value is, in words; NULL: not known */
} tp_value_name;

typedef struct tp_report {
  tp_pass *pass;
  const char *file;    /* "": no file */
  bool is_full;        /* the document is wanted: not only `explain` */
  const char *explain; /* "%name", a tp.name or FILE:LINE; "": no request */
  int n_explained;
  int n_alike;       /* values that have the description `explain` */
  const char *alike; /* their names */
  size_t n_known, known_capacity;
  const char **known; /* names that explain= accepts */
  int n_alternatives;
  tp__arena arena;
  const tp_mesh *mesh;
  const tp_topology *topology; /* times, for any objective */
  tp_value_table name_of;      /* Names of all values as printed before the pass. */
  size_t n_names, name_capacity;
  tp_value_name *names;
  MlirModule before;              /* copy of the module before anything is written */
  tp_op_list ops;                 /* of `before` */
  tp_value_table op_place;        /* op of the module -> its index in `ops` */
  tp_function_report function;    /* the function being planned */
  struct json_t *document;        /* the document that is written at the end */
  struct json_t *before_document; /* of the older plan (report-against); NULL: none */
} tp_report;

/* ---- plan_report.c ---- */

/* Reports that memory ran out. Returns TP_NO_MEMORY. */
tp_status tp__report_no_memory(const tp_report *report);
tp_status tp__report_open(tp_pass *pass, tp_report **report);
tp_status tp__report_start(tp_report *report, const tp_mesh *mesh, const tp_topology *topology);
/* Called before and after writing the plan of a function. tp__report_begin sees the annotations of
 * the input, tp__report_end all reshards of the plan, and its peak memory. A report does not change
 * the planner; other plans are made with planners of their own. */
tp_status tp__report_begin(const tp_planner *planner);
tp_status tp__report_end(const tp_planner *planner, const tp_memory_peak *peak);
tp_status tp__report_write(tp_report *report);
/* Releases what is known of the function. */
void tp__report_forget(tp_report *report);
void tp__report_close(tp_report *report);
/* Keeps the layouts of the planned module if the caller of tp_text_run wants them. */
tp_status tp__report_layouts(MlirOperation module);
/* True if plans other than the written one will be made. False for NULL. */
bool tp__report_makes_plans(const tp_report *report);
/* Called while the plan is written: `op` (a shard.shard) reshards `value` from `from` to `to`, for
 * use number `use` (-1: for several uses). */
void tp__report_reshard(const tp_planner *planner, const tp_planned_value *value, int use,
                        tp_spec from, tp_spec to, MlirOperation op);

/* Names all values of the module, as printed now. */
tp_status tp__report_name_values(tp_report *report);
void tp__report_forget_names(tp_report *report);
/* The name in the source, "%w2"; else the one that MLIR prints, "%12", "%arg0"; "" for a value that
 * the planner created. */
const char *tp__report_name(const tp_report *report, MlirValue value);
/* The one that MLIR prints. */
const char *tp__report_printed_name(const tp_report *report, MlirValue value);
/* What a value is, in the words of the program: its name, "wq"; or what it is of named ones,
 * "gradient of wq". "" for a value that the planner created. */
const char *tp__report_description(const tp_report *report, MlirValue value);
/* The same of result `i` of the function. */
const char *tp__report_result(const tp_report *report, int i);
/* "all_gather of wq": what a change of layout makes, by the kinds of its steps. "" for other
 * ops. */
const char *tp__report_change(tp_report *report, MlirOperation op);
const char *tp__report_change_text(tp_report *report, const tp_report_communication *change);
const char *tp__report_text(tp_report *report, const char *format, ...) TP__PRINTF(2, 3);
const char *tp__report_spec(tp_report *report, tp_spec spec, int rank);
/* "dp,tp"; `mesh` is that of the axes. */
const char *tp__report_axes(tp_report *report, const tp_mesh *mesh, int n, const int *axes);
const char *tp__report_attr(tp_report *report, MlirAttribute attr);
const char *tp__report_location(tp_report *report, MlirOperation op);
const char *tp__report_at(tp_report *report, MlirOperation op); /* short form: "model.mlir:12" */
/* The distinct ops in the body of a linalg.generic: "mulf, addf"; "copy" if the body only yields;
 * "" for other ops. */
const char *tp__report_body(tp_report *report, MlirOperation op);
/* "linalg.generic (mulf, addf) at model.mlir:12" */
const char *tp__report_op(tp_report *report, MlirOperation op);
const char *tp__report_arg_name(tp_report *report, const tp_planner *planner, MlirValue value);
/* "w1 (%arg1)", "gradient of w1 (%12)", "%h" */
const char *tp__report_label(tp_report *report, MlirValue value);
/* With something more in the parentheses: "gradient of w1 (%12, result 3)". */
const char *tp__report_label_with(tp_report *report, MlirValue value, const char *more);

/* ---- descriptions.c ---- */
/* Describes the values of the function that is planned, before the plan is written. */
tp_status tp__report_describe(tp_report *report, const tp_planner *planner);

/* ---- communication.c ---- */
tp_status tp__report_pins(tp_report *report, const tp_planner *planner);
/* Sorts the changes into program order, and computes their collectives and the total costs of
 * changes and ops. */
tp_status tp__report_measure(tp_report *report, const tp_planner *planner);

/* ---- cause.c: the cause of each reshard, as a chain of facts of the plan ---- */
tp_status tp__report_causes(tp_report *report, const tp_planner *planner);
/* Explains the layout of a value along an axis. Returns the number of `texts`, which must have
 * TP_MAX_CAUSES elements. Call after tp__report_causes. */
int tp__report_why(tp_report *report, const tp_planned_value *value, int axis, const char **texts);

/* ---- value_names.c ---- */

enum { TP_MAX_VALUE_NAMES = 12 };

/* The names of a value, without %: that of tp__report_name first, the one that MLIR prints last. */
typedef struct tp_value_names {
  int n;
  const char *items[TP_MAX_VALUE_NAMES];
} tp_value_names;

/* Lists the names; none for a value that is made in place. */
void tp__report_value_names(tp_report *report, const tp_planner *planner,
                            const tp_planned_value *value, tp_value_names *names);

/* ---- explain.c: remarks requested by explain=... ---- */
tp_status tp__report_explain(tp_report *report, const tp_planner *planner);
/* Emits an error if no function had the requested value. */
tp_status tp__report_explained(tp_report *report);

/* ---- plan_space.c ---- */
/* Solver work for each other plan within a memory limit: a share of that for the plan itself, since
 * a report asks for many. */
enum { TP_OTHER_PLANS_SHARE = 64 };
int64_t tp__other_plans_work(const tp_planner *planner);
/* Solver options for other plans: they are solved to the gap of the current plan, but to no smaller
 * gap than requested; the clock ends them. */
tp_solver_options tp__other_plans_options(const tp_planner *planner);
/* Creates the space. `open` is the same function without its annotations on the same mesh, or NULL;
 * its problem is stated here. Both planners must outlive the space. */
tp_status tp__space_create(const tp_planner *planner, tp_planner *open, tp_space *space);
void tp__space_destroy(tp_space *space);
/* Selects the problem with the strategies of `other`. *covers: the space has all of these
 * strategies. False if `other` has other decisions. */
bool tp__space_match(tp_space *space, const tp_planner *other, bool *covers);
/* True if the current problem contains these choices. */
bool tp__space_has(const tp_space *space, const int *choices);
/* True if the current problem is contained in the plan's own problem with the node restricted to
 * the strategies `among`. */
bool tp__space_is_within(const tp_space *space, int node, const bool *among);
/* Solves the current problem; see tp_sensitivity_solve. */
tp_status tp__space_solve(const tp_space *space, tp_cost limit, tp_solution *solution);
/* Computes a bound for the current problem; see tp_sensitivity_bound. */
tp_status tp__space_bound(const tp_space *space, tp_cost limit, tp_cost *bound);
/* Solves the plan's own problem with nodes restricted: `among` has an entry for each node, with its
 * strategies; NULL: all of its own. */
tp_status tp__space_solve_among(const tp_space *space, const bool *const *among, tp_cost limit,
                                tp_solution *solution);

/* ---- decision_bounds.c ---- */
tp_status tp__report_decisions(tp_report *report, const tp_planner *planner, const tp_space *space);

/* ---- other_plans.c ---- */
/* Reads the copy with its current annotations. `again` must be closed also when it fails. */
bool tp__other_read(const tp_report *report, const tp_planner *planner, bool keep_mesh,
                    tp_replan *again);
/* Plans what was read. */
bool tp__other_solve(tp_report *report, tp_replan *again, tp_price *price);
/* True if the problem of `again` has strategies and costs comparable to those of the plan. Then the
 * space selects it; *covers is that of tp__space_match. */
bool tp__other_is_near(const tp_planner *planner, tp_space *space, const tp_replan *again,
                       bool *covers);
/* The annotation that the copy has at the position of this one. */
tp_pin tp__other_pin(const tp_report *report, const tp_pin *pin);
/* Writes the annotation into the copy; null attributes remove it. */
void tp__other_annotate(const tp_report *report, const tp_pin *pin, MlirAttribute sharding,
                        MlirAttribute factors);
/* The attribute that replaces a dropped annotation. A constraint cannot be removed because its
 * value has users; with all dimensions open it demands nothing. */
MlirAttribute tp__other_open(const tp_report *report, const tp_pin *pin);

/* ---- annotation_prices.c ---- */
/* Sorts the annotations of the input into groups. */
tp_status tp__report_group_pins(tp_report *report, const tp_planner *planner);
/* Removes the annotations of n groups from the copy, or restores them. */
void tp__report_drop(const tp_report *report, int first, int n, bool back);
/* Prices the plans without groups of annotations, and without any. */
void tp__report_price_annotations(tp_report *report, const tp_planner *planner, tp_space *space);

/* ---- alternatives.c: plans with one annotation more or less ---- */
tp_status tp__report_alternatives(tp_report *report, const tp_planner *planner);
/* True if the time is over; the report then says that something was left out. */
bool tp__report_out_of_time(tp_report *report, const tp_planner *planner);

/* ---- plan_json.c: the JSON document ---- */
struct json_t *tp__report_document(const tp_report *report);
struct json_t *tp__report_function(tp_report *report, const tp_planner *planner,
                                   const tp_memory_peak *peak);
/* release with tp__free; NULL when memory runs out */
char *tp__report_json(const struct json_t *document);

#endif
