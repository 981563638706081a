/* The state while the values of a function are described, see descriptions.c. */
#ifndef TP_PASSES_PLAN_REPORT_DESCRIBER_H
#define TP_PASSES_PLAN_REPORT_DESCRIBER_H

#include "passes/propagate/report/name_stack.h"
#include "passes/propagate/report/plan_report.h"

/* A contraction with a weight. */
typedef struct tp_weight_use {
  const tp_rule *rule;
  int weight, input; /* by number: the weight, and the other operand */
  int next;          /* of the same weight, in program order; -1: none */
} tp_weight_use;

/* What is known of a value, by its number. */
typedef struct tp_described {
  const char *text;        /* its name, or what is said of it; NULL: nothing yet */
  bool is_named;           /* the text is a name of the program, which others may be called by */
  bool is_weight;          /* an argument that is a weight */
  int viewed;              /* what it arranges, repeats or converts, by number; -1: it does not */
  int first_use, last_use; /* of a weight: indices of uses; -1: none */
  int n_inputs;            /* the weights that its text lists: "input of wq, wk" */
  int after;               /* the weight that was read last before it, by number; -1: none */
  int after_place;         /* where that is read */
  tp_name_stack stack;
} tp_described;

typedef struct tp_describer {
  tp_report *r;
  const tp_planner *p;
  const tp_func_graph *graph;
  int n;
  tp_described *values;
  int n_uses;
  tp_weight_use *uses;
  const char **results; /* by result of the function; "": what is said of the value */
  bool has_stacks;      /* some op has a name stack */
  bool has_roles;       /* some argument is said to be a weight */
  bool failed;          /* memory ran out */
} tp_describer;

/* ---- describer.c ---- */

/* By number: the value, and the rule of its maker; NULL: no op with a rule. */
MlirValue tp__described_value(const tp_describer *describer, int number);
const tp_rule *tp__described_maker(const tp_describer *describer, int number);
/* True for arguments of the function. */
bool tp__described_is_argument(const tp_describer *describer, int number);
/* The return of the function. */
MlirOperation tp__described_return(const tp_describer *describer);
/* A text attribute; "" if it is none. */
const char *tp__described_attribute(tp_report *report, MlirAttribute attr);

/* Sets what is said of a value that has no text yet. */
void tp__describe_as(tp_describer *describer, int number, const char *text);
/* Sets its name. NULL and "" are none. */
void tp__describe_by_name(tp_describer *describer, int number, const char *name);

/* True for a tensor whose elements are read. */
bool tp__described_reads(const tp_value_map *operand);
/* What the rule reads, if it reads one tensor; else NULL. */
const tp_value_map *tp__described_only_operand(const tp_rule *rule);
bool tp__described_is_contraction(const tp_rule *rule);
/* True if an op that has only one operand repeats its elements. */
bool tp__described_is_broadcast(const tp_rule *view);
bool tp__described_same_shape(const tp_value_map *a, const tp_value_map *b);
/* The tensor whose elements a value has. Stops at names. */
int tp__described_base(const tp_describer *describer, int number);
/* What an op does that only arranges, repeats or converts elements: "transpose". */
const char *tp__described_view(const tp_rule *rule);
/* What the maker of a value does, in a word: as its framework calls it, else "matmul", "sum",
 * "exp". */
const char *tp__described_op(const tp_describer *describer, int number);

/* Read name stacks, and which ops only arrange, repeat or convert elements. */
void tp__describe_stacks(tp_describer *describer);
void tp__describe_views(tp_describer *describer);

/* ---- describe_names.c ---- */

/* Weights are the arguments with tp.role = "param"; in a program without roles, all arguments. */
void tp__describe_arguments(tp_describer *describer);
/* Names of results. That of a new value of an argument says less than that of the argument. */
void tp__describe_results(tp_describer *describer);
/* Names of the source, and of locations that one op has alone. */
void tp__describe_named(tp_describer *describer);

/* ---- describe_updates.c ---- */

/* Describes results, and what leads from gradients to them. */
void tp__describe_updates(tp_describer *describer);

#endif
