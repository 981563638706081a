/* A function seen as a list of ops with rules, and its tensor values with their annotations: what
 * planning and partitioning both start from. Structured control flow (scf.for, scf.while, scf.if)
 * is seen through: its op is an item, followed by the items of its regions. A body of several
 * blocks is refused. */
#ifndef TP_RULES_PROGRAM_H
#define TP_RULES_PROGRAM_H

#include "ir/value_table.h"
#include "rules/rule.h"

typedef enum tp_item_kind {
  TP_ITEM_OP,     /* an op with a rule */
  TP_ITEM_LAYOUT, /* shard.shard: a layout change, constraint or shared copy */
  TP_ITEM_REGION, /* structured control flow; the items of its regions follow */
  TP_ITEM_RETURN,
} tp_item_kind;

/* A value carried through control flow: an iteration argument with its init, its yields and its
 * result, or a result of a branch with its yields. All of them have one layout. */
typedef struct tp_carried {
  int n_values;
  MlirValue values[2]; /* block argument and result, or one of both */
  bool differs;        /* between devices: it stays whole on each */
  int n_uses;
  struct {
    MlirOperation op;
    int operand;
  } uses[2]; /* where it comes from: init and yield, or the two yields of a branch */
} tp_carried;

typedef struct tp_item {
  tp_item_kind kind;
  MlirOperation op;
  tp_rule *rule; /* TP_ITEM_OP */
  int n_carried; /* TP_ITEM_REGION: its tensors */
  tp_carried *carried;
  /* how often the op runs, estimated: a constant trip count, else TP_ASSUMED_TRIPS, for each loop
   * around it */
  double trips;
} tp_item;

enum { TP_ASSUMED_TRIPS = 8 };

typedef struct tp_program {
  MlirOperation func;
  const tp_mesh *mesh;
  int n_args, n_results;
  bool communicates; /* has communication or device indices of a user, maybe in a body */
  int n_items;
  tp_item *items;
  size_t item_capacity;
  int n_values;           /* the ranked tensors, numbered in the order of arguments and items */
  tp_value_table numbers; /* of values */
  /* by number: the rule of the op that makes the value; NULL: no op with a rule does */
  tp_rule **makers;
  size_t maker_capacity;
} tp_program;

/* Reads `func`. Ops without tensors are left out, and so are pads that are read in place. Nothing
 * is marked as made in blocks (tp__mark_attention). Rules are in `arena`; the list is freed by
 * tp__program_destroy, also after an error. `before`, which may be NULL, is the same function as it
 * was read before layouts were written on its ops and changes of layout put between them: the rules
 * that ops have there, and which are theirs alone, are taken from it, and are about the ops as they
 * are now from then on. */
tp_status tp__program_read(MlirOperation func, const tp_mesh *mesh, bool unknown_replicate,
                           const tp_program *before, tp__arena *arena, tp_program *program);
void tp__program_destroy(tp_program *program);

/* The number of a value, from 0; -1 for what is no ranked tensor, or stands outside of the items.
 * Values that a rule names have it in their maps, without a look-up. */
int tp__program_number(const tp_program *program, MlirValue value);

/* The annotation of argument or result `i`; `present` is false when there is none. Axes of size 1
 * are dropped. */
tp_status tp__program_arg(const tp_program *program, int i, tp_annotation *annotation,
                          bool *present);
tp_status tp__program_result(const tp_program *program, int i, tp_annotation *annotation,
                             bool *present);
/* The annotation of result `i` of an op. */
tp_status tp__program_op(const tp_program *program, MlirOperation op, int i,
                         tp_annotation *annotation, bool *present);

/* The annotation of a carried value: the entry of tp.region_args for its block argument, or the
 * op's tp.sharding for its result. */
tp_status tp__program_carried(const tp_program *program, MlirOperation op,
                              const tp_carried *carried, tp_annotation *annotation, bool *present);
/* How often the block in which `value` is defined runs. */
double tp__program_trips(const tp_program *program, MlirValue value);
/* Is it known how often `op` runs? False in a loop whose trip count is assumed, and under a
 * condition. */
bool tp__program_counts(const tp_program *program, MlirOperation op);

#endif
