/* Memory of a plan: when values are in use, and what the plan holds at its tightest moment. Shared by propagate_*.c. */
#ifndef TP_PASSES_PROPAGATE_MEMORY_H
#define TP_PASSES_PROPAGATE_MEMORY_H

#include "passes/propagate.h"

/* An op of the function, those of structured control flow included, but not the bodies of other ops. */
typedef struct tp_moment {
  MlirOperation op;
  int parent; /* number of the op around it; -1: the function */
  int end;    /* number of the last op nested in it; its own if there is none */
} tp_moment;

/* All ops of a function, numbered in program order; an op comes before those nested in it. A zeroed timeline is empty. */
typedef struct tp_timeline {
  size_t n, capacity;
  tp_moment *moments;
  tp_value_table numbers;
} tp_timeline;

tp_status tp__timeline_build(MlirOperation func, tp_timeline *timeline);
void tp__timeline_destroy(tp_timeline *timeline);
/* Number of the op, or of the one whose body it is in. */
int tp__timeline_number(const tp_timeline *timeline, MlirOperation op);
/* Number of the op that is op `k` or contains it, and stands in the region of op `place` (-1: the function). */
int tp__timeline_around(const tp_timeline *timeline, int place, int k);
/* Number of the op that is `user` or contains it and stands in the block where `value` is defined. */
int tp__timeline_anchor(const tp_timeline *timeline, MlirValue value, MlirOperation user);

/* Bytes of one device for a value in layout `spec`. */
int64_t tp__local_bytes(const tp_mesh *mesh, tp_spec spec, int rank, const int64_t *shape, int64_t element_size);

/* A change of layout in several steps holds more than what it starts from and what it makes: by how much, at the worst of its steps, when
 * what it starts from is kept. */
int64_t tp__change_excess(const tp_mesh *mesh, const tp_reshard *path, int rank, const int64_t *shape, int64_t element_size);

/* propagate_changes.c: writes every change of layout. */
tp_status tp__write_changes(tp_planner *planner);

/* propagate_peak.c */

typedef enum tp_held_kind {
  TP_HELD_ARGUMENT,
  TP_HELD_RESULT, /* memory of the caller for what is returned */
  TP_HELD_VALUE,
  TP_HELD_STEPS,     /* what the steps of a change of layout need, beside the values before and after */
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
