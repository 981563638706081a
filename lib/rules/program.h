/* A function seen as a list of ops with rules, and its tensor values with their annotations: what planning and partitioning
 * both start from. Only the entry block is seen: a body with branches is refused. */
#ifndef TP_RULES_PROGRAM_H
#define TP_RULES_PROGRAM_H

#include "ir/value_table.h"
#include "rules/rule.h"

typedef enum tp_item_kind {
  TP_ITEM_OP,     /* an op with a rule */
  TP_ITEM_LAYOUT, /* shard.shard: a layout change, constraint or shared copy */
  TP_ITEM_RETURN,
} tp_item_kind;

typedef struct tp_item {
  tp_item_kind kind;
  MlirOperation op;
  tp_rule *rule; /* TP_ITEM_OP */
} tp_item;

typedef struct tp_program {
  MlirOperation func;
  const tp_mesh *mesh;
  int n_args, n_results;
  int n_items;
  tp_item *items;
} tp_program;

/* Reads `func`. Ops without tensors are left out. Memory from `arena`. */
tp_status tp__program_read(MlirOperation func, const tp_mesh *mesh, bool unknown_replicate, tp__arena *arena,
                           tp_program *program);

/* The annotation of argument or result `i`; `present` is false when there is none. Axes of size 1 are dropped. */
tp_status tp__program_arg(const tp_program *program, int i, tp_annotation *annotation, bool *present);
tp_status tp__program_result(const tp_program *program, int i, tp_annotation *annotation, bool *present);
/* The annotation of result `i` of an op. */
tp_status tp__program_op(const tp_program *program, MlirOperation op, int i, tp_annotation *annotation, bool *present);

/* Every dimension is divided exactly by its axes; else a diagnostic that names dimension, axis and sizes. */
tp_status tp__check_divides(MlirOperation at, const char *what, const tp_mesh *mesh, tp_spec spec, MlirType type);

#endif
