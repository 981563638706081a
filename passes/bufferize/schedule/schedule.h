/* Shared declarations of the files schedule_*.c, which schedule the ops of a block. */
#ifndef TP_PASSES_SCHEDULE_H
#define TP_PASSES_SCHEDULE_H

#include "passes/support/lower.h"
#include "passes/support/memory_classes.h"

#include "tp/cost.h"

#include "support/support.h"

/* ---- tasks, independent of the IR ---- */

typedef enum tp__task_kind {
  /* negligible cost and no memory access: placed where its result is needed */
  TP_TASK_FREE,
  TP_TASK_COMPUTE,    /* runs on the compute stream */
  TP_TASK_COLLECTIVE, /* may overlap with other tasks between its start and its wait */
} tp__task_kind;

typedef struct tp__task {
  tp__task_kind kind;
  tp_cost cost;
  int n_before, n_after; /* number of tasks that it waits for; number of tasks that wait for it */
  const int *before, *after;
} tp__task;

/* The ops of a block except its terminator, in program order. A task waits only for earlier
 * tasks. */
typedef struct tp__tasks {
  int n;
  tp__task *items;
  MlirOperation *ops;
} tp__tasks;

typedef enum tp__step_kind { TP_STEP_RUN, TP_STEP_START, TP_STEP_WAIT } tp__step_kind;

typedef struct tp__step {
  tp__step_kind kind;
  int task;
} tp__step;

/* A schedule: each task runs once, except that a collective may be started and later waited for. */
typedef struct tp__steps {
  int n;
  tp__step *items; /* space for two per task */
  /* modeled time on two streams: one computes; the other runs collectives, one at a time */
  tp_cost time;
  tp_cost slow_time; /* the same if collectives take longer than modeled */
} tp__steps;

typedef struct tp__order_options {
  int window; /* number of earlier tasks that a task may overtake; 0: none moves */
  /* prefer the tasks that the next collective waits for; else program order */
  bool urgent;
  int in_flight; /* maximum number of collectives between start and wait */
  tp_cost least; /* split a collective if at least this much of it is hidden */
} tp__order_options;

/* List scheduling. A collective starts when its inputs are ready, and its wait is before the first
 * task that needs it. While it runs, tasks that do not need it go first. Deterministic. */
tp_status tp__order_tasks(const tp__tasks *tasks, const tp__order_options *options,
                          tp__arena *arena, tp__steps *steps);
/* True if `a` is the better schedule. */
bool tp__steps_precede(const tp__steps *a, const tp__steps *b);
/* Returns the program order, with no collective split. */
tp_status tp__program_order(const tp__tasks *tasks, tp__arena *arena, tp__steps *steps);

/* ---- ops ---- */

/* Context for pricing an op. */
typedef struct tp__op_pricing {
  MlirOperation module; /* holds the kernels that are called */
  const tp_topology *topology;
  const tp_mesh *mesh;
  const tp__words *sites, *extra;
} tp__op_pricing;

/* Returns the modeled time of an op on buffers, including nested ops. */
tp_cost tp__price_op(const tp__op_pricing *prices, MlirOperation op);

/* Builds the tasks of a block and their dependences: values, memory (write after read, read after
 * write, write after write) and other side effects. */
tp_status tp__block_tasks(MlirBlock block, tp__memory_classes *classes,
                          const tp__op_pricing *prices, tp__arena *arena, tp__tasks *tasks);

#endif
