/* Memory of a plan: when values are in use, and what the plan holds at its tightest moment. Shared
 * by propagate_*.c. */
#ifndef TP_PASSES_PROPAGATE_MEMORY_H
#define TP_PASSES_PROPAGATE_MEMORY_H

#include "passes/propagate/model/planner.h"

/* An op of the function, those of structured control flow included, but not the bodies of other
 * ops. */
typedef struct tp_moment {
  MlirOperation op;
  const tp_rule *rule; /* of the plan; NULL: it has none */
  /* what follows from the op alone (storage.c), once that was asked for */
  const struct tp_storage_form *form;
  int parent; /* number of the op around it; -1: the function */
  /* number of the last op nested in it; its own if there is none */
  int end;
  int block; /* ops in the same block have the same number */
  /* its first result, among the values; -1: that is no tensor */
  int result;
  int first_use, n_operands; /* use first_use + i is operand i; those of its body follow */
  bool is_control;           /* structured control flow */
  bool is_change;            /* shard.shard */
  uint8_t known;             /* what storage.c has found out */
} tp_moment;

/* A tensor that is made or used by one of them. */
typedef struct tp_timed_value {
  int maker;     /* number of the op whose result it is; -1: an argument */
  int first_use; /* -1: none */
} tp_timed_value;

typedef struct tp_timed_use {
  int value;  /* -1: the operand is no tensor */
  int moment; /* of the user, or of the op whose body it is in */
  int next;   /* of the same value; -1: none */
} tp_timed_use;

/* All ops of a function, numbered in program order; an op comes before those nested in it. So it is
 * as the program stands when the timeline is built: with changes of layout that are written, or
 * without. A zeroed timeline is empty. */
typedef struct tp_timeline {
  const tp_planner *planner;
  size_t n, capacity;
  tp_moment *moments;
  size_t n_values, value_capacity; /* first those of the planner, by number, then others */
  tp_timed_value *values;
  size_t n_others, other_capacity;
  MlirValue *others; /* changes of layout that were put in, pads that are read in place */
  size_t n_uses, use_capacity;
  tp_timed_use *uses;
  tp_value_table other_values; /* values and their place in `values` */
  tp_value_table bare_ops;     /* ops that make no tensor, and their numbers */
} tp_timeline;

tp_status tp__timeline_build(const tp_planner *planner, tp_timeline *timeline);
void tp__timeline_destroy(tp_timeline *timeline);
/* Among the values of the timeline; -1: none of them. */
int tp__timeline_find(const tp_timeline *timeline, MlirValue value);
MlirValue tp__timeline_value(const tp_timeline *timeline, int value);
/* Has the value one use, counting every operand? */
bool tp__timed_once(const tp_timeline *timeline, int value);
/* Is the use an operand of the op itself, not of an op in its body? */
bool tp__timed_directly(const tp_timeline *timeline, int use);
/* Number of the op, or of the one whose body it is in. */
int tp__timeline_number(const tp_timeline *timeline, MlirOperation op);
/* Number of the op that is op `k` or contains it, and stands in the region of op `place` (-1: the
 * function). */
int tp__timeline_around(const tp_timeline *timeline, int place, int k);
/* Number of the op that is `user` or contains it and stands in the block where `value` is
 * defined. */
int tp__timeline_anchor(const tp_timeline *timeline, MlirValue value, MlirOperation user);

/* Bytes of one device for a value in layout `spec`. */
int64_t tp__local_bytes(const tp_mesh *mesh, tp_spec spec, int rank, const int64_t *shape,
                        int64_t element_size);

/* A change of layout in several steps holds more than what it starts from and what it makes: by how
 * much, at the worst of its steps, when what it starts from is kept. */
int64_t tp__change_excess(const tp_mesh *mesh, const tp_reshard *path, int rank,
                          const int64_t *shape, int64_t element_size);

/* reshard_ops.c: writes every change of layout. */
tp_status tp__write_changes(tp_planner *planner);

/* peak_memory.c */

typedef enum tp_held_kind {
  TP_HELD_ARGUMENT,
  TP_HELD_RESULT, /* memory of the caller for what is returned */
  TP_HELD_VALUE,
  /* what the steps of a change of layout need, beside the values before and after */
  TP_HELD_STEPS,
  TP_HELD_WORKSPACE, /* what an op needs within itself, beside its operands and results */
} tp_held_kind;

typedef struct tp_held {
  tp_held_kind kind;
  MlirValue value;
  int64_t bytes;
  int from, to; /* moments, both included */
} tp_held;

/* The most that a device holds at any time, the op at which it does, and what it holds then. */
typedef struct tp_memory_peak {
  int64_t bytes;
  MlirOperation op;
  size_t n;
  tp_held *held; /* tp__free */
} tp_memory_peak;

/* Of a plan that is written. */
tp_status tp__plan_peak(tp_planner *planner, tp_memory_peak *peak);

#endif
