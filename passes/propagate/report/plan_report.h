/* What tp-propagate tells about its plan: where its time goes, why each collective is there, what
 * the next best plan would cost.
 *
 * A report lives as long as the pass runs. It takes a copy of the module before anything is
 * written, so that the same planner can plan it again with one annotation more or less: every
 * alternative that is reported was planned, none is estimated. */
#ifndef TP_PASSES_PLAN_REPORT_H
#define TP_PASSES_PLAN_REPORT_H

#include "passes/propagate/model/memory_model.h"

enum { TP_MAX_CAUSES = 12 };

typedef enum tp_place_of_pin { TP_PIN_ARG, TP_PIN_RESULT, TP_PIN_OP } tp_place_of_pin;

/* A layout in the words of an annotation, and where it stands. */
typedef struct tp_pin {
  tp_place_of_pin place;
  int number;                      /* of the argument or result; -1: all results of the op */
  MlirOperation op;                /* the op, or the function */
  MlirValue value;                 /* whose layout it is; null for a result of the function */
  bool is_constraint;              /* the op is a shard.shard */
  MlirAttribute sharding, factors; /* factors: null attribute when there are none */
} tp_pin;

/* What the program costs with other annotations. */
typedef struct tp_price {
  bool found;
  bool
      /* of all that the planner then offers; else of what it offers now: with the annotation it may
       * find something cheaper */
      exact;
  tp_cost cost, bound;
} tp_price;

/* Why there is no alternative where none was looked for. */
extern const char tp__alternative_not_sought[];

/* The cheapest plan in which something else was decided. */
typedef struct tp_alternative {
  tp_price price;
  tp_pin pin;          /* the annotation that leads to it */
  const char *missing; /* why there is none */
} tp_alternative;

/* One collective. */
typedef struct tp_report_collective {
  tp_collective kind;
  int n_axes;
  int axes[TP_MAX_AXES];
  const char *tensor;    /* type of the local operand */
  const char *reduction; /* "" for kinds that do not reduce */
  int64_t group, bytes;  /* bytes per device and execution */
  tp_cost cost;
} tp_report_collective;

/* Something of the plan that communicates: a change of layout, or an op that needs what other
 * devices hold (a window, a joined loop). */
typedef struct tp_change {
  MlirOperation op; /* the shard.shard that changes the layout, or the op */
  int position;     /* of `op` in the function as written */
  int node;         /* of the op; -1: a change of layout, of which the next fields tell */
  const tp_planned_value *value;
  int use; /* the first one that needs it, of the uses of the value; -1: several */
  tp_spec from, to;
  int n_consumers;
  double trips;
  tp_cost cost, local; /* of all executions: all of it; of its steps that do not communicate */
  size_t n_collectives, collective_capacity;
  tp_report_collective *collectives;
  int n_causes;
  const char *causes[TP_MAX_CAUSES];
  tp_alternative alternative;
} tp_change;

typedef struct tp_costly_pin {
  tp_pin pin;
  tp_price price; /* without it */
} tp_costly_pin;

/* Every plan in which the node decides otherwise costs so much more, or more. */
typedef struct tp_decision {
  int node;
  tp_cost worth;
} tp_decision;

/* The plans of a function: see plan_space.c. Arrays are by node, and by strategy of all nodes. */
typedef struct tp_space {
  /* whose nodes have the strategies: of the plan, or of the function without its annotations */
  tp_planner *planner;
  int *chosen;    /* the plan */
  size_t *offset; /* a node's strategies among those of all nodes */
  bool *base;     /* the plan's own problem */
  bool *allowed;  /* the one at hand: tp__space_match */
  const bool **base_rows, **rows;
  tp_sensitivity *sensitivity;
} tp_space;

/* The function that is planned. */
typedef struct tp_function_report {
  size_t n_changes, change_capacity;
  tp_change *changes; /* in program order, when the plan is written */
  size_t n_pins, pin_capacity;
  tp_pin *pins;     /* the annotations that are there */
  int *pin_of_node; /* the annotation that pins a node, or -1 */
  int n_costly;
  tp_costly_pin *costly;
  int n_decisions;
  tp_decision *decisions; /* those of which it is known that they are worth something, most first */
  int n_examined;         /* pins of which it is known whether they cost more than one percent */
  tp_cost compute, communication, local;
  tp_cost price; /* of the objective: of the plan as it is written */
  int64_t bytes;
  struct causes *causes;
  bool failed;       /* memory ran out while the plan was written */
  bool is_cut_short; /* the clock ended the search for other plans */
} tp_function_report;

typedef struct tp_report {
  tp_pass *pass;
  const char *file;    /* "": none */
  const char *explain; /* "%name", a tp.name or FILE:LINE; "": nothing */
  int n_explained;
  size_t n_known, known_capacity;
  const char **known; /* names that could have been asked for */
  int n_alternatives;
  tp__arena arena;
  const tp_mesh *mesh;
  const tp_topology *topology; /* times, whatever the objective */
  /* Names of all values as the module would be printed when the pass starts. */
  tp_value_table name_of;
  size_t n_names, name_capacity;
  const char **names;
  MlirModule before;           /* the module as it was before anything was written */
  tp_op_list ops;              /* of `before` */
  tp_value_table op_place;     /* op of the module -> its place in `ops` */
  tp_function_report function; /* the one that is planned */
  struct json_t *document;     /* what is written in the end */
} tp_report;

/* ---- plan_report.c ---- */

tp_status tp__report_open(tp_pass *pass, tp_report **report);
tp_status tp__report_start(tp_report *report, const tp_mesh *mesh, const tp_topology *topology);
/* Around writing the plan of a function: before, annotations are those of the input; after, all
 * changes are known. */
tp_status tp__report_begin(tp_planner *planner);
tp_status tp__report_end(tp_planner *planner);
tp_status tp__report_write(tp_report *report);
void tp__report_close(tp_report *report);
/* Will plans be made beside that which is written? False for NULL. */
bool tp__report_makes_plans(const tp_report *report);
/* While the plan is written: `op` (a shard.shard) changes `value` from `from` to `to`, for its use
 * number `use` (-1: for several). */
void tp__report_change(tp_planner *planner, const tp_planned_value *value, int use, tp_spec from,
                       tp_spec to, MlirOperation op);

/* "%12", "%arg0"; "" for a value that the planner made. */
const char *tp__report_name(const tp_report *report, MlirValue value);
const char *tp__report_text(tp_report *report, const char *format, ...) TP__PRINTF(2, 3);
const char *tp__report_spec(tp_report *report, tp_spec spec, int rank);
const char *tp__report_axes(tp_report *report, int n, const int *axes); /* "dp,tp" */
const char *tp__report_attr(tp_report *report, MlirAttribute attr);
const char *tp__report_location(tp_report *report, MlirOperation op);
const char *tp__report_at(tp_report *report, MlirOperation op); /* in short: "model.mlir:12" */
/* What the body of a linalg.generic does, each thing once: "mulf, addf"; "copy" for one that only
 * yields; "" for other ops. */
const char *tp__report_body(tp_report *report, MlirOperation op);
/* "linalg.generic (mulf, addf) at model.mlir:12" */
const char *tp__report_op(tp_report *report, MlirOperation op);
const char *tp__report_arg_name(tp_report *report, const tp_planner *planner, MlirValue value);
/* "%arg1 (w1)" */
const char *tp__report_label(tp_report *report, const tp_planner *planner, MlirValue value);

/* ---- communication.c ---- */
tp_status tp__report_pins(tp_report *report, tp_planner *planner);
/* The changes in program order, their collectives, and what they and the ops cost together. */
tp_status tp__report_measure(tp_report *report, tp_planner *planner);

/* ---- cause.c: why a change of layout is there, as facts of the plan that follow from each other
 * ---- */
tp_status tp__report_causes(tp_report *report, tp_planner *planner);
/* Why a value lies along an axis as it does; returns the number of `texts`, which have room for
 * TP_MAX_CAUSES. After tp__report_causes. */
int tp__report_why(tp_report *report, const tp_planned_value *value, int axis, const char **texts);

/* ---- explain.c: what explain=... asks for, as remarks ---- */
tp_status tp__report_explain(tp_report *report, tp_planner *planner);
/* An error when no function had what was asked for. */
tp_status tp__report_explained(tp_report *report);

/* ---- plan_space.c ---- */
/* Other plans are made as near to the cheapest of their kind as this one is, and no nearer than was
 * asked for; the clock ends that. */
tp_solver_options tp__other_plans_options(const tp_planner *planner);
/* `open`: the same function without its annotations, for the same mesh, or NULL; its problem is
 * made here. It and the planner of the plan have to outlive the space. */
tp_status tp__space_create(tp_planner *planner, tp_planner *open, tp_space *space);
void tp__space_destroy(tp_space *space);
/* Turns to the problem of what `other` offers. *covers: the space has all of that. False if it
 * decides about other things. */
bool tp__space_match(tp_space *space, const tp_planner *other, bool *covers);
/* Has the problem at hand this choice? */
bool tp__space_has(const tp_space *space, const int *choices);
/* Is it a part of the plan's own problem, in which the node decides `among` these strategies? */
bool tp__space_is_within(const tp_space *space, int node, const bool *among);
/* Solves the problem at hand; see tp_sensitivity_solve. */
tp_status tp__space_solve(const tp_space *space, tp_cost limit, tp_solution *solution);
/* A bound for the problem at hand; see tp_sensitivity_bound. */
tp_status tp__space_bound(const tp_space *space, tp_cost limit, tp_cost *bound);
/* Solves the plan's own problem, in which the node decides `among` these strategies. */
tp_status tp__space_solve_among(const tp_space *space, int node, const bool *among, tp_cost limit,
                                tp_solution *solution);

/* ---- decision_bounds.c ---- */
tp_status tp__report_decisions(tp_report *report, const tp_planner *planner, const tp_space *space);

/* ---- alternatives.c: plans with one annotation more or less ---- */
tp_status tp__report_alternatives(tp_report *report, tp_planner *planner);

/* ---- plan_json.c: the document ---- */
struct json_t *tp__report_document(const tp_report *report);
struct json_t *tp__report_function(tp_report *report, const tp_planner *planner,
                                   const tp_memory_peak *peak);
char *tp__report_json(const struct json_t *document); /* tp__free; NULL when memory runs out */

#endif
