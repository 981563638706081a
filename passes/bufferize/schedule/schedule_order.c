/* List scheduling of tasks on two streams.
 *
 * The scheduler runs a simulated clock. Tasks run one after the other; collectives run beside them
 * in the order in which they start. If the next task waits for a running collective, the first
 * ready task within the window runs instead. */
#include "passes/bufferize/schedule/schedule.h"

#include "support/compare.h"

#include <stdlib.h>

typedef struct ordering {
  const tp__tasks *tasks;
  const tp__order_options *options;
  int *left;       /* by task: number of unfinished dependences */
  int *urgency;    /* by task: the first collective that waits for it; n: none */
  bool *scheduled; /* by task: run or started; for free tasks: ready */
  bool *written;   /* by task: a step was written for it; for a collective: its start */
  bool *waited;
  tp_cost *end; /* end times of started collectives */
  /* started collectives whose end the clock has not reached, in order of start */
  int *open;
  int n_open;
  int *flying; /* started collectives without a wait step yet, in order of start */
  int n_flying;
  int *stack, *needed;
  int first;            /* all tasks before it are scheduled */
  tp_cost now, channel; /* the clock; time when the communication stream is free */
  tp__steps *steps;
} ordering;

static void write_step(ordering *o, tp__step_kind kind, int task) {
  o->steps->items[o->steps->n++] = (tp__step){kind, task};
}

static void write_wait(ordering *o, int task) {
  if (o->waited[task])
    return;
  o->waited[task] = true;
  write_step(o, TP_STEP_WAIT, task);
  int n = 0;
  for (int i = 0; i < o->n_flying; i++)
    if (o->flying[i] != task)
      o->flying[n++] = o->flying[i];
  o->n_flying = n;
}

/* Collects the free tasks that `task` needs and that have no step yet, in program order. Writes the
 * waits that they and `task` need. */
static int collect_needed(ordering *o, int task) {
  int n = 0, n_needed = 0;
  o->stack[n++] = task;
  while (n > 0) {
    const tp__task *t = &o->tasks->items[o->stack[--n]];
    for (int i = 0; i < t->n_before; i++) {
      int before = t->before[i];
      if (o->tasks->items[before].kind == TP_TASK_COLLECTIVE)
        write_wait(o, before);
      else if (!o->written[before])
        o->stack[n++] = o->needed[n_needed++] = before;
      o->written[before] = true;
    }
  }
  qsort(o->needed, (size_t)n_needed, sizeof *o->needed, tp__compare_ints);
  return n_needed;
}

/* Writes a task, preceded by the free tasks and waits that it needs. */
static void write_task(ordering *o, int task) {
  int n = collect_needed(o, task);
  for (int i = 0; i < n; i++)
    write_step(o, TP_STEP_RUN, o->needed[i]);
  o->written[task] = true;
  if (o->tasks->items[task].kind != TP_TASK_COLLECTIVE) {
    write_step(o, TP_STEP_RUN, task);
    return;
  }
  if (o->n_flying == o->options->in_flight)
    write_wait(o, o->flying[0]);
  write_step(o, TP_STEP_START, task);
  o->flying[o->n_flying++] = task;
}

/* Marks a task as finished. Tasks without remaining dependences become ready; free tasks finish at
 * once. */
static void finish(ordering *o, int task) {
  int n = 0;
  o->stack[n++] = task;
  while (n > 0) {
    const tp__task *done = &o->tasks->items[o->stack[--n]];
    for (int i = 0; i < done->n_after; i++) {
      int after = done->after[i];
      if (--o->left[after] > 0 || o->tasks->items[after].kind != TP_TASK_FREE)
        continue;
      o->scheduled[after] = true;
      o->stack[n++] = after;
    }
  }
}

/* Finishes the collectives that have ended by now. */
static void finish_ended(ordering *o) {
  int n = 0;
  for (int i = 0; i < o->n_open; i++) {
    if (o->end[o->open[i]] <= o->now)
      finish(o, o->open[i]);
    else
      o->open[n++] = o->open[i];
  }
  o->n_open = n;
}

static void start(ordering *o, int task) {
  tp_cost begin = o->channel > o->now ? o->channel : o->now;
  o->scheduled[task] = true;
  o->end[task] = o->channel = tp_cost_add(begin, o->tasks->items[task].cost);
  o->open[o->n_open++] = task;
  write_task(o, task);
}

static void run(ordering *o, int task) {
  o->scheduled[task] = true;
  o->now = tp_cost_add(o->now, o->tasks->items[task].cost);
  write_task(o, task);
  finish(o, task);
}

static bool is_ready(const ordering *o, int task) {
  return !o->scheduled[task] && o->left[task] == 0;
}

/* Starts the first ready collective within the window. False if there is none. */
static bool start_next(ordering *o) {
  int seen = 0;
  for (int i = o->first;
       i < o->tasks->n && seen <= o->options->window && o->n_open < o->options->in_flight; i++) {
    if (o->scheduled[i])
      continue;
    if (o->tasks->items[i].kind == TP_TASK_COLLECTIVE && is_ready(o, i)) {
      start(o, i);
      return true;
    }
    seen += o->tasks->items[i].kind == TP_TASK_COMPUTE;
  }
  return false;
}

/* True if the task needs a collective without a wait step yet, even if its modeled end has passed.
 * Ranks are not in lockstep, so a later wait is shorter. */
static bool needs_wait(const ordering *o, int task) {
  const tp__task *t = &o->tasks->items[task];
  for (int i = 0; i < t->n_before; i++)
    if (o->tasks->items[t->before[i]].kind == TP_TASK_COLLECTIVE && !o->waited[t->before[i]])
      return true;
  return false;
}

/* True if `a`, which is later in the program, should run before `b`. */
static bool precedes(const ordering *o, int a, int b) {
  if (o->options->urgent && o->urgency[a] != o->urgency[b])
    return o->urgency[a] < o->urgency[b];
  return !needs_wait(o, a) && needs_wait(o, b);
}

/* Returns the task that runs next, or -1 if all tasks within the window wait for collectives. */
static int choose(const ordering *o) {
  int best = -1, seen = 0;
  for (int i = o->first; i < o->tasks->n && seen <= o->options->window; i++) {
    if (o->scheduled[i] || o->tasks->items[i].kind != TP_TASK_COMPUTE)
      continue;
    seen++;
    if (is_ready(o, i) && (best < 0 || precedes(o, i, best)))
      best = i;
  }
  return best;
}

static void skip_scheduled(ordering *o) {
  while (o->first < o->tasks->n && o->scheduled[o->first])
    o->first++;
}

static void order(ordering *o) {
  for (int i = 0; i < o->tasks->n; i++)
    if (o->left[i] == 0 && o->tasks->items[i].kind == TP_TASK_FREE && !o->scheduled[i]) {
      o->scheduled[i] = true;
      finish(o, i);
    }
  for (;;) {
    skip_scheduled(o);
    finish_ended(o);
    if (start_next(o))
      continue;
    int next = choose(o);
    if (next >= 0) {
      run(o, next);
    } else if (o->n_open > 0) {
      o->now = o->end[o->open[0]]; /* collectives end in the order in which they start */
    } else {
      break;
    }
  }
  for (int i = 0; i < o->tasks->n; i++)
    if (!o->written[i]) /* free tasks whose results are not used */
      write_task(o, i);
  while (o->n_flying > 0)
    write_wait(o, o->flying[0]);
}

static void find_urgency(ordering *o) {
  for (int i = o->tasks->n - 1; i >= 0; i--) {
    const tp__task *t = &o->tasks->items[i];
    o->urgency[i] = o->tasks->n;
    for (int k = 0; k < t->n_after; k++) {
      int after = t->after[k];
      int first = o->tasks->items[after].kind == TP_TASK_COLLECTIVE ? after : o->urgency[after];
      o->urgency[i] = first < o->urgency[i] ? first : o->urgency[i];
    }
  }
}

/* ---- schedules ---- */

static tp_cost max_time(tp_cost a, tp_cost b) { return a > b ? a : b; }

/* Returns the time of a schedule if collectives take `slowness` times as long as modeled. `end` has
 * space for one time per task. */
static tp_cost modeled_time(const tp__tasks *tasks, const tp__steps *steps, int slowness,
                            tp_cost *end) {
  tp_cost now = 0, channel = 0;
  for (int i = 0; i < steps->n; i++) {
    int task = steps->items[i].task;
    const tp__task *t = &tasks->items[task];
    tp_cost cost = t->kind == TP_TASK_COLLECTIVE ? t->cost * slowness : t->cost;
    if (steps->items[i].kind == TP_STEP_WAIT) {
      now = max_time(now, end[task]);
    } else if (steps->items[i].kind == TP_STEP_START) {
      end[task] = channel = tp_cost_add(max_time(now, channel), cost);
    } else {
      now = tp_cost_add(t->kind == TP_TASK_COLLECTIVE ? max_time(now, channel) : now, cost);
      channel = t->kind == TP_TASK_COLLECTIVE ? now : channel;
    }
  }
  return now;
}

/* Sets both times. Ranks drift apart, and a collective ends when the last rank arrives. Among
 * schedules of equal time, the one that hides more is therefore better. */
static void set_times(const tp__tasks *tasks, tp_cost *ends, tp__steps *steps) {
  enum { SLOWER = 4 };
  steps->time = modeled_time(tasks, steps, 1, ends);
  steps->slow_time = modeled_time(tasks, steps, SLOWER, ends);
}

bool tp__steps_precede(const tp__steps *a, const tp__steps *b) {
  return a->time != b->time ? a->time < b->time : a->slow_time < b->slow_time;
}

/* Joins start and wait of collectives that hide too little. They run at the position of the wait:
 * at that of the start they would delay collectives started earlier. `computed` has space for one
 * time per task. */
static void join_idle(const tp__tasks *tasks, const tp__order_options *options, tp_cost *computed,
                      bool *split, tp__steps *steps) {
  tp_cost now = 0;
  for (int i = 0; i < steps->n; i++) {
    const tp__step *step = &steps->items[i];
    const tp__task *t = &tasks->items[step->task];
    if (step->kind == TP_STEP_RUN)
      now = tp_cost_add(now, t->cost);
    else if (step->kind == TP_STEP_START)
      computed[step->task] = now;
    else {
      tp_cost between = now - computed[step->task], hidden = between < t->cost ? between : t->cost;
      split[step->task] = hidden > 0 && hidden >= options->least;
    }
  }
  int n = 0;
  for (int i = 0; i < steps->n; i++) {
    tp__step step = steps->items[i];
    if (step.kind == TP_STEP_START && !split[step.task])
      continue;
    if (step.kind == TP_STEP_WAIT && !split[step.task])
      step.kind = TP_STEP_RUN;
    steps->items[n++] = step;
  }
  steps->n = n;
}

static tp_status make_steps(const tp__tasks *tasks, tp__arena *arena, tp__steps *steps,
                            tp_cost **times) {
  size_t n = (size_t)tasks->n + 1;
  *steps = (tp__steps){.items = tp__arena_array(arena, 2 * n, sizeof *steps->items)};
  *times = tp__arena_array(arena, n, sizeof **times);
  return steps->items && *times ? TP_OK : TP_NO_MEMORY;
}

tp_status tp__program_order(const tp__tasks *tasks, tp__arena *arena, tp__steps *steps) {
  tp_cost *times;
  TP_TRY(make_steps(tasks, arena, steps, &times));
  for (int i = 0; i < tasks->n; i++)
    steps->items[steps->n++] = (tp__step){TP_STEP_RUN, i};
  set_times(tasks, times, steps);
  return TP_OK;
}

tp_status tp__order_tasks(const tp__tasks *tasks, const tp__order_options *options,
                          tp__arena *arena, tp__steps *steps) {
  size_t n = (size_t)tasks->n + 1;
  ordering o = {.tasks = tasks, .options = options, .steps = steps};
  tp_cost *times;
  tp_status status = make_steps(tasks, arena, steps, &times);
  int *ints = tp__arena_array(arena, 6 * n, sizeof *ints);
  bool *flags = tp__arena_array(arena, 4 * n, sizeof *flags);
  if (status != TP_OK || !ints || !flags)
    return TP_NO_MEMORY;
  o.left = ints;
  o.urgency = ints + n;
  o.open = ints + 2 * n;
  o.flying = ints + 3 * n;
  o.stack = ints + 4 * n;
  o.needed = ints + 5 * n;
  o.scheduled = flags;
  o.written = flags + n;
  o.waited = flags + 2 * n;
  o.end = times;
  for (int i = 0; i < tasks->n; i++)
    o.left[i] = tasks->items[i].n_before;
  find_urgency(&o);
  order(&o);
  join_idle(tasks, options, times, flags + 3 * n, steps);
  set_times(tasks, times, steps);
  return TP_OK;
}
