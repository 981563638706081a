/* A function as a list of ops with rules, and its tensor values with their annotations. Planning
 * and partitioning both start from it. Structured control flow (scf.for, scf.while, scf.if,
 * scf.index_switch) becomes an item of its own, followed by the items of its regions. Bodies with
 * several blocks are refused. */
#ifndef TP_RULES_FUNC_GRAPH_H
#define TP_RULES_FUNC_GRAPH_H

#include "ir/value_table.h"
#include "rules/rule.h"

typedef enum tp_item_kind {
  TP_ITEM_OP,     /* an op with a rule */
  TP_ITEM_LAYOUT, /* shard.shard: a reshard, a constraint, or a shared copy */
  TP_ITEM_REGION, /* structured control flow; the items of its regions follow */
  TP_ITEM_RETURN,
} tp_item_kind;

typedef struct tp_carried_use {
  MlirOperation op;
  int operand;
} tp_carried_use;

/* A value carried through control flow: an iteration argument with its init, its yields and its
 * result, or the result of branches with their yields. All of these have the same sharding. */
typedef struct tp_carried {
  int n_values;
  MlirValue values[2]; /* block argument and result, or one of them */
  bool differs;        /* differs between devices, so it is not split */
  int n_uses;
  tp_carried_use *uses; /* the sources of the value: init and yield, or the yields of branches */
} tp_carried;

typedef struct tp_item {
  tp_item_kind kind : 8;
  bool is_bare;  /* the op had no discardable attributes when it was read */
  int n_carried; /* of TP_ITEM_REGION: its tensors */
  MlirOperation op;
  tp_rule *rule; /* of TP_ITEM_OP */
  tp_carried *carried;
  /* estimated number of executions: for each enclosing loop, the constant trip count, or
   * TP_ASSUMED_TRIPS */
  double trips;
} tp_item;

enum { TP_ASSUMED_TRIPS = 8 };

typedef struct tp_func_graph {
  MlirOperation func;
  const tp_mesh *mesh;
  int n_args, n_results;
  /* contains communication or device indices written by a user, perhaps in a body */
  bool communicates;
  bool names_ring; /* tp.factors of an op names a ring (attention.h) */
  int n_items;
  tp_item *items;
  size_t item_capacity;
  int n_values;           /* ranked tensors, numbered in the order of arguments and items */
  tp_value_table numbers; /* of values, except those of `older` */
  /* the same function as read before, from which rules were taken; NULL: none. A value that is not
   * in `numbers` has the number newer[number in `older`]; -1: it is gone. */
  const struct tp_func_graph *older;
  int *newer;
  bool is_older; /* another graph has taken the rules, which now have its numbers */
  /* by value number: the rule of the op that produces the value; NULL: no op with a rule */
  tp_rule **makers;
  size_t maker_capacity;
} tp_func_graph;

/* Reads `func`. Skips ops without tensors and pads that are read in place. Marks no values as
 * computed in blocks (tp__mark_attention). Rules are allocated in `arena`. tp__func_graph_destroy
 * frees the list, also after an error.
 *
 * `before` may be NULL. Otherwise it is the same function, read before shardings were written on
 * its ops and reshards inserted between them. Rules in `before` that depend on the op alone are
 * taken from it, and from then on describe the ops as they are now. `before` must live as long as
 * the graph. `order` may be NULL, or lists the ops in the order in which they are met, to load them
 * in time. */
tp_status tp__func_graph_read(MlirOperation func, const tp_mesh *mesh, bool unknown_replicate,
                              tp_func_graph *before, const tp_op_list *order, tp__arena *arena,
                              tp_func_graph *graph);
void tp__func_graph_destroy(tp_func_graph *graph);

/* Returns the number of a value, from 0; -1 if it is not a ranked tensor or is outside of the
 * items. Values that a rule names have their number in the rule's maps, without a lookup. */
int tp__func_graph_number(const tp_func_graph *graph, MlirValue value);

/* Read the annotation of argument or result `i`; `present` is false if there is none. Axes of size
 * 1 are dropped. */
tp_status tp__func_graph_arg(const tp_func_graph *graph, int i, tp_annotation *annotation,
                             bool *present);
tp_status tp__func_graph_result(const tp_func_graph *graph, int i, tp_annotation *annotation,
                                bool *present);
/* Reads the annotation of result `i` of an op. */
tp_status tp__func_graph_op(const tp_func_graph *graph, MlirOperation op, int i,
                            tp_annotation *annotation, bool *present);

/* Reads the annotation of a carried value: the entry of tp.region_args for its block argument, or
 * the op's tp.sharding for its result. */
tp_status tp__func_graph_carried(const tp_func_graph *graph, MlirOperation op,
                                 const tp_carried *carried, tp_annotation *annotation,
                                 bool *present);
/* Returns how often the block that defines `value` runs. */
double tp__func_graph_trips(const tp_func_graph *graph, MlirValue value);
/* True if the number of executions of `op` is known. False in a loop with an assumed trip count,
 * and under a condition. */
bool tp__func_graph_counts(const tp_func_graph *graph, MlirOperation op);

/* Prefetches ops of items that follow item i, with `bodies` also their bodies; see
 * tp__prefetch_op. */
void tp__prefetch_items(const tp_func_graph *graph, int i, bool bodies);

#endif
