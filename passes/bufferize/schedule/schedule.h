/* Scheduling the ops of a block: what the files schedule_*.c share. */
#ifndef TP_PASSES_SCHEDULE_H
#define TP_PASSES_SCHEDULE_H

#include "passes/bufferize/memory_classes.h"
#include "passes/support/lower.h"

#include "tp/cost.h"

#include "support/support.h"

/* ---- tasks: no IR ---- */

typedef enum tp__task_kind {
  /* computes nothing to speak of and touches no memory: stands where it is needed */
  TP_TASK_FREE,
  TP_TASK_COMPUTE,    /* runs when it is its turn */
  TP_TASK_COLLECTIVE, /* may run beside others from its start to its wait */
} tp__task_kind;

typedef struct tp__task {
  tp__task_kind kind;
  tp_cost cost;
  int n_before, n_after; /* tasks that it waits for, that wait for it */
  const int *before, *after;
} tp__task;

/* The ops of a block but its terminator, in the order of the program; a task waits for earlier ones
 * only. */
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

/* An order: each task runs once or, a collective, is started and later waited for. */
typedef struct tp__steps {
  int n;
  tp__step *items; /* room for two a task */
  /* in two streams: one computes, the other communicates, one collective after the other */
  tp_cost time;
  tp_cost slow_time; /* the same when collectives take longer than modelled */
} tp__steps;

typedef struct tp__order_options {
  int window; /* how many tasks one may come before its place; 0: none moves */
  /* what the next collective waits for goes first; else what comes first in the program */
  bool urgent;
  int in_flight; /* most collectives between start and wait */
  tp_cost least; /* a collective is split if so much of it is hidden */
} tp__order_options;

/* Lists the tasks anew (list scheduling): a collective starts when what it waits for is done, a
 * wait stands before the first task that needs it, and while a collective runs, tasks that do not
 * need it go first. Deterministic. */
tp_status tp__order_tasks(const tp__tasks *tasks, const tp__order_options *options,
                          tp__arena *arena, tp__steps *steps);
/* Is `a` the better order? */
bool tp__steps_precede(const tp__steps *a, const tp__steps *b);
/* The order of the program, nothing split. */
tp_status tp__program_order(const tp__tasks *tasks, tp__arena *arena, tp__steps *steps);

/* ---- ops ---- */

/* What the time of an op depends on, beside the op. */
typedef struct tp__prices {
  MlirOperation module; /* with the kernels that are called */
  const tp_topology *topology;
  const tp_mesh *mesh;
  const tp__words *sites, *extra;
} tp__prices;

/* Modelled time of an op on buffers with all that is nested in it. */
tp_cost tp__price_op(const tp__prices *prices, MlirOperation op);

/* The tasks of a block and what they wait for: values, memory that others write or still read,
 * other effects. */
tp_status tp__block_tasks(MlirBlock block, tp__memory_classes *classes, const tp__prices *prices,
                          tp__arena *arena, tp__tasks *tasks);

#endif
