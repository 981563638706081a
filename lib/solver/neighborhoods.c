/* Large neighborhood search under a memory limit. Each round runs a fixed number of tasks, all from
 * the same assignment, each with its own part of the graph and its own share of the work. The
 * results are applied in task order, so they do not depend on the number of threads. */
#include "solver/constrained.h"
#include "solver/memory.h"
#include "solver/repair.h"
#include "support/support.h"

#include <pthread.h>
#include <string.h>

enum {
  N_TASKS = 8,
  FIRST_WORK = 50000000,
  MIN_SIZE = 4,
  MAX_IDLE = 60,
  CONDITION = 4 /* work per node of the whole graph */
};
#define FIRST_SIZE 10.0

typedef struct area {
  const tp__wcsp *g;
  const int *at;
  const tp__int128 *used; /* by time, of `at` */
  int *alive, n_alive;
} area;

typedef struct task {
  const area *area;
  uint64_t random;
  int size;
  tp__search s;
  tp_status status;
  int n;
  int *members, *found; /* strategies of the members */
  bool improved, complete;
} task;

/* The splitmix64 generator. */
static uint64_t next_random(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static int below(uint64_t *state, int n) { return (int)(next_random(state) % (uint64_t)n); }

static void add(task *t, bool *is_member, int node) {
  if (is_member[node] || t->n >= t->size)
    return;
  is_member[node] = true;
  t->members[t->n++] = node;
}

/* Adds a ball around `root`, up to `size` members in total. Visits neighbors in random order, so
 * that hubs do not always add the same ones. */
static void add_ball(task *t, bool *is_member, int root, int size) {
  const tp__wcsp *g = t->area->g;
  int first = t->n;
  size = size < t->size ? size : t->size;
  add(t, is_member, root);
  for (int i = first; i < t->n && t->n < size; i++) {
    const tp__wnode *v = &g->nodes[t->members[i]];
    int start = v->n_edges ? below(&t->random, v->n_edges) : 0;
    for (int k = 0; k < v->n_edges && t->n < size; k++)
      if (v->n_edges < 6 || below(&t->random, 3))
        add(t, is_member,
            tp__wcsp_view(g, v->edges[(start + k) % v->n_edges], t->members[i]).other);
  }
}

static bool lives_at(const tp__wnode *v, int time) {
  for (int i = 0; i < v->n_loads; i++)
    if (v->loads[i].first <= time && time < v->loads[i].last)
      return true;
  return false;
}

/* Returns a random time, with a preference for times with a price or little free capacity. */
static int tight_time(task *t) {
  const tp__wmemory *memory = t->area->g->memory;
  int best = below(&t->random, memory->n_times);
  for (int k = 0; k < 8; k++) {
    int other = below(&t->random, memory->n_times);
    if (memory->price[other] > memory->price[best] ||
        (memory->price[other] >= memory->price[best] &&
         memory->capacity[other] - t->area->used[other] <
             memory->capacity[best] - t->area->used[best]))
      best = other;
    if (below(&t->random, 3) == 0)
      break;
  }
  return best;
}

/* Adds balls of `size` around nodes that live at one time, because memory freed by one can serve
 * another. */
static void add_at_time(task *t, bool *is_member, int size) {
  const area *a = t->area;
  int time = tight_time(t), start = below(&t->random, a->n_alive);
  for (int k = 0; k < a->n_alive && t->n < t->size; k++) {
    int node = a->alive[(start + k) % a->n_alive];
    if (lives_at(&a->g->nodes[node], time) && below(&t->random, 2))
      add_ball(t, is_member, node, t->n + size);
  }
}

static tp_status choose_members(task *t) {
  const area *a = t->area;
  bool *is_member = tp__calloc((size_t)a->g->n_nodes + 1, sizeof *is_member);
  if (!is_member)
    return TP_NO_MEMORY;
  t->n = 0;
  t->size = t->size < a->n_alive ? t->size : a->n_alive;
  int way = below(&t->random, 4);
  if (way == 1)
    add_at_time(t, is_member, 1);
  else if (way == 2)
    add_at_time(t, is_member, t->size / 3 + 1);
  else if (way == 3)
    add_at_time(t, is_member, 3);
  while (t->n < t->size) /* fill up */
    add_ball(t, is_member, a->alive[below(&t->random, a->n_alive)], t->size);
  tp__free(is_member);
  return TP_OK;
}

/* Builds the graph of the members with all other nodes fixed, and with the capacity that those
 * leave. */
static tp__wcsp *condition(task *t, tp_cost *present) {
  const area *a = t->area;
  const tp__wcsp *g = a->g;
  tp__wcsp *part = tp__wcsp_condition(g, t->members, t->n, a->at, present);
  t->s.work += CONDITION * g->n_nodes + g->memory->n_times;
  tp__int128 *capacity = tp__malloc((size_t)g->memory->n_times * sizeof *capacity + 1);
  bool ok = part && capacity;
  for (int k = 0; ok && k < g->memory->n_times; k++)
    capacity[k] = g->memory->capacity[k] - a->used[k];
  for (int i = 0; ok && i < t->n; i++)
    tp__memory_add(g, t->members[i], a->at[t->members[i]], 1, capacity);
  ok = ok && tp__memory_extract(g, part, t->members, capacity) == TP_OK;
  tp__free(capacity);
  if (ok)
    return part;
  tp__wcsp_destroy(part);
  return NULL;
}

static void run_task(task *t) {
  t->improved = t->complete = false;
  t->status = choose_members(t);
  if (t->status)
    return;
  tp_cost present;
  tp__wcsp *part = condition(t, &present);
  tp__answer answer = {.choices = tp__calloc((size_t)t->n + 1, sizeof *answer.choices)};
  t->status = TP_NO_MEMORY;
  tp_cost limit = present - t->s.step + 1;
  if (part && answer.choices)
    t->status = tp__constrained_part(&t->s, part, limit, 1, &answer);
  if (t->status == TP_OK && answer.cost < limit) {
    t->improved = true;
    for (int i = 0; i < t->n; i++)
      t->found[i] = tp__wcsp_find(&t->area->g->nodes[t->members[i]], answer.choices[i]);
  }
  t->complete = t->status == TP_OK && answer.bound >= (t->improved ? answer.cost : limit);
  tp__wcsp_destroy(part);
  tp__free(answer.choices);
}

/* A thread's share of the tasks: every `stride`-th one. */
typedef struct share {
  task *tasks;
  int first, stride;
} share;

static void *run_share(void *data) {
  const share *mine = data;
  for (int i = mine->first; i < N_TASKS; i += mine->stride)
    run_task(&mine->tasks[i]);
  return NULL;
}

/* Runs the tasks on n_threads threads. If a thread cannot be created, this thread runs its
 * tasks. */
static void run_tasks(task *tasks, int n_threads) {
  share shares[N_TASKS];
  pthread_t threads[N_TASKS];
  bool started[N_TASKS] = {false};
  n_threads = n_threads < 1 ? 1 : n_threads > N_TASKS ? N_TASKS : n_threads;
  for (int k = 0; k < n_threads; k++)
    shares[k] = (share){tasks, k, n_threads};
  for (int k = 1; k < n_threads; k++) {
    for (int i = k; i < N_TASKS; i += n_threads)
      tasks[i].s.is_worker = true;
    started[k] = pthread_create(&threads[k], NULL, run_share, &shares[k]) == 0;
  }
  run_share(&shares[0]);
  for (int k = 1; k < n_threads; k++)
    if (started[k])
      pthread_join(threads[k], NULL);
    else
      run_share(&shares[k]);
}

/* Applies the result of a task if it still fits and still costs less. */
static bool take_over(const task *t, int *at, tp__int128 *used, tp_cost *cost, int *before) {
  const tp__wcsp *g = t->area->g;
  for (int i = 0; i < t->n; i++) {
    int node = t->members[i];
    before[i] = at[node];
    tp__memory_add(g, node, at[node], -1, used);
    at[node] = t->found[i];
    tp__memory_add(g, node, at[node], 1, used);
  }
  tp_cost now = tp__wcsp_evaluate(g, at);
  if (now < *cost && tp__excess_of(g, used) == 0) {
    *cost = now;
    return true;
  }
  for (int i = 0; i < t->n; i++) {
    int node = t->members[i];
    tp__memory_add(g, node, at[node], -1, used);
    at[node] = before[i];
    tp__memory_add(g, node, at[node], 1, used);
  }
  return false;
}

static bool prepare(tp__pool *pool, const tp__wcsp *g, area *a, task *tasks, int **before) {
  size_t n = (size_t)g->n_nodes;
  a->alive = tp__pool_alloc(pool, n, sizeof *a->alive);
  *before = tp__pool_alloc(pool, n, sizeof **before);
  bool ok = a->alive && *before;
  for (int v = 0; ok && v < g->n_nodes; v++)
    if (g->nodes[v].alive)
      a->alive[a->n_alive++] = v;
  for (int i = 0; ok && i < N_TASKS; i++) {
    tasks[i] = (task){.area = a,
                      .members = tp__pool_alloc(pool, n, sizeof(int)),
                      .found = tp__pool_alloc(pool, n, sizeof(int))};
    ok = tasks[i].members && tasks[i].found;
  }
  return ok;
}

tp_status tp__neighborhoods(tp__search *s, const tp__wcsp *g, int *at, tp_cost *cost,
                            bool *complete) {
  tp__pool pool = {0};
  task tasks[N_TASKS];
  int *before;
  tp__int128 *used = tp__pool_alloc(&pool, (size_t)g->memory->n_times, sizeof *used);
  area a = {.g = g, .at = at, .used = used};
  tp_status status = used && prepare(&pool, g, &a, tasks, &before) ? TP_OK : TP_NO_MEMORY;
  if (status == TP_OK)
    tp__usage_of(g, at, used);
  double size = FIRST_SIZE;
  int64_t work = FIRST_WORK;
  uint64_t seed = (uint64_t)s->work;
  *complete = false;
  for (int idle = 0; status == TP_OK && !*complete && idle < MAX_IDLE && !tp__search_spent(s);) {
    int64_t left = (s->work_limit - s->work) / N_TASKS + 1;
    for (int i = 0; i < N_TASKS; i++) {
      tasks[i].random = next_random(&seed);
      tasks[i].size = (int)size;
      tasks[i].s = (tp__search){.step = s->step,
                                .table_budget = s->table_budget / 64,
                                .work = s->work,
                                .work_limit = s->work + (work < left ? work : left),
                                .width = -1,
                                .control = s->control,
                                .nested = 1};
    }
    run_tasks(tasks, s->threads);
    int n_complete = 0;
    bool improved = false;
    int64_t before_round = s->work;
    for (int i = 0; i < N_TASKS; i++) {
      status = tasks[i].status ? tasks[i].status : status;
      s->work += tasks[i].s.work - before_round;
      n_complete += tasks[i].complete;
      if (status == TP_OK && tasks[i].improved)
        improved |= take_over(&tasks[i], at, used, cost, before);
      if (tasks[i].complete && tasks[i].n == a.n_alive && !improved) {
        *complete = true;
        s->branched |= tasks[i].s.branched;
      }
    }
    idle = improved ? 0 : idle + 1;
    if (improved)
      tp__search_update(s, INT64_MIN, *cost);
    if (n_complete < N_TASKS / 2)
      size = size * 0.8 > MIN_SIZE ? size * 0.8 : MIN_SIZE;
    else if (!improved)
      size = size * 1.1 < a.n_alive + 1 ? size * 1.1 : a.n_alive + 1;
    if (idle && idle % 20 == 0)
      work *= 2;
  }
  tp__pool_release(&pool);
  return status;
}
