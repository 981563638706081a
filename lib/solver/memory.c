/* Normalizes memory loads, and drops irrelevant times. */
#include "solver/memory.h"

#include "support/compare.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

typedef struct event {
  int64_t at;
  bool is_start;
} event;

/* Ends come before starts, because intervals are half-open. */
static int compare_events(const void *a, const void *b) {
  const event *x = a, *y = b;
  if (x->at != y->at)
    return x->at < y->at ? -1 : 1;
  return (int)x->is_start - (int)y->is_start;
}

static bool lives(const tp__problem_node *node, const tp__problem_live_range *life) {
  bool uses = false;
  for (int x = 0; x < node->n; x++)
    uses |= life->usages[x] > 0;
  return uses && life->start < life->end;
}

/* Finds the times that are followed by the end of a life, ascending. Only these can be tightest. */
static tp_status find_times(const tp_problem *problem, tp__wmemory *memory, tp__pool *pool) {
  size_t n_live_ranges = tp__problem_n_live_ranges(problem);
  event *events = tp__malloc(2 * n_live_ranges * sizeof *events + 1);
  memory->time = tp__pool_alloc(pool, n_live_ranges, sizeof *memory->time);
  if (!events || !memory->time) {
    tp__free(events);
    return TP_NO_MEMORY;
  }
  size_t n = 0;
  for (int v = 0; v < problem->n_nodes; v++) {
    const tp__problem_node *node = &problem->nodes[v];
    for (int i = 0; i < node->n_live_ranges; i++) {
      const tp__problem_live_range *life = &node->lives[i];
      if (!lives(node, life))
        continue;
      events[n++] = (event){life->start, true};
      events[n++] = (event){life->end, false};
    }
  }
  if (n)
    qsort(events, n, sizeof *events, compare_events);
  memory->n_times = 0;
  for (size_t i = 0; i + 1 < n; i++)
    if (events[i].is_start && !events[i + 1].is_start)
      memory->time[memory->n_times++] = events[i].at;
  tp__free(events);
  return TP_OK;
}

/* Returns the number of times < at. */
static int times_before(const tp__wmemory *memory, int64_t at) {
  int low = 0, high = memory->n_times;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (memory->time[middle] < at)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static tp_status set_loads(tp__wcsp *g, int node, const tp__problem_node *from, int64_t limit) {
  tp__wnode *v = &g->nodes[node];
  v->loads = tp__pool_alloc(&g->pool, (size_t)from->n_live_ranges, sizeof *v->loads);
  if (!v->loads)
    return TP_NO_MEMORY;
  v->load_capacity = from->n_live_ranges;
  for (int i = 0; i < from->n_live_ranges; i++) {
    const tp__problem_live_range *life = &from->lives[i];
    int64_t *usage =
        lives(from, life) ? tp__pool_alloc(&g->pool, (size_t)v->n, sizeof *usage) : NULL;
    if (lives(from, life) && !usage)
      return TP_NO_MEMORY;
    for (int x = 0; usage && x < v->n; x++) /* above the limit, the exact amount does not matter */
      usage[x] = life->usages[x] <= limit ? life->usages[x] : limit + 1;
    if (usage)
      v->loads[v->n_loads++] = (tp__live_usage){times_before(g->memory, life->start),
                                                times_before(g->memory, life->end), usage};
  }
  return tp__memory_settle(g, node);
}

static tp__int128 min_of_run(const tp__int128 *capacity, int first, int last) {
  tp__int128 least = capacity[first];
  for (int t = first + 1; t < last; t++)
    least = capacity[t] < least ? capacity[t] : least;
  return least;
}

static int n_runs(int n_times) { return (n_times + TP__MEMORY_RUN - 1) / TP__MEMORY_RUN; }

static void update_run_min(tp__wmemory *memory, int run) {
  int first = run * TP__MEMORY_RUN, left = memory->n_times - first;
  memory->least[run] =
      min_of_run(memory->capacity, first, first + (left < TP__MEMORY_RUN ? left : TP__MEMORY_RUN));
}

static void update_run_mins(tp__wmemory *memory) {
  for (int run = 0; run < n_runs(memory->n_times); run++)
    update_run_min(memory, run);
}

/* Subtracts `amount` from the capacity at the times first <= t < last. */
static void subtract_capacity(tp__wmemory *memory, int first, int last, int64_t amount) {
  for (int t = first; t < last; t++)
    memory->capacity[t] -= amount;
  for (int run = first / TP__MEMORY_RUN; run * TP__MEMORY_RUN < last; run++)
    if (run * TP__MEMORY_RUN >= first && (run + 1) * TP__MEMORY_RUN <= last)
      memory->least[run] -= amount;
    else
      update_run_min(memory, run);
}

/* Returns the minimum capacity at the times first <= t < last, a non-empty range. */
static tp__int128 min_capacity(const tp__wmemory *memory, int first, int last) {
  int from = n_runs(first), to = last / TP__MEMORY_RUN; /* whole runs */
  if (from >= to)
    return min_of_run(memory->capacity, first, last);
  tp__int128 least = min_of_run(memory->least, from, to);
  for (int side = 0; side < 2; side++) {
    int begin = side ? to * TP__MEMORY_RUN : first, end = side ? last : from * TP__MEMORY_RUN;
    tp__int128 there = begin < end ? min_of_run(memory->capacity, begin, end) : least;
    least = there < least ? there : least;
  }
  return least;
}

tp_status tp__memory_attach(tp__wcsp *g, const tp_problem *problem) {
  tp__wmemory *memory = tp__pool_calloc(&g->pool, 1, sizeof *memory);
  if (!memory || find_times(problem, memory, &g->pool))
    return TP_NO_MEMORY;
  memory->capacity = tp__pool_alloc(&g->pool, (size_t)memory->n_times, sizeof *memory->capacity);
  memory->least = tp__pool_alloc(&g->pool, (size_t)n_runs(memory->n_times), sizeof *memory->least);
  memory->price = tp__pool_calloc(&g->pool, (size_t)memory->n_times, sizeof *memory->price);
  if (!memory->capacity || !memory->least || !memory->price)
    return TP_NO_MEMORY;
  for (int t = 0; t < memory->n_times; t++)
    memory->capacity[t] = problem->limit;
  update_run_mins(memory);
  g->memory = memory;
  for (int v = 0; v < problem->n_nodes; v++)
    if (problem->nodes[v].n_live_ranges && set_loads(g, v, &problem->nodes[v], problem->limit))
      return TP_NO_MEMORY;
  return TP_OK;
}

/* Makes the loads of `v`, which may overlap, disjoint: sums over the ranges between their
 * endpoints. Sums are below the number of nodes times the limit. They saturate at 64 bits, which
 * exceeds the capacity anyway. */
static tp_status disjoin(tp__wcsp *g, tp__wnode *v) {
  int *cut = tp__malloc(2 * (size_t)v->n_loads * sizeof *cut + 1);
  if (!cut)
    return TP_NO_MEMORY;
  int n = 0;
  for (int i = 0; i < v->n_loads; i++) {
    cut[n++] = v->loads[i].first;
    cut[n++] = v->loads[i].last;
  }
  qsort(cut, (size_t)n, sizeof *cut, tp__compare_ints);
  int kept = 0;
  for (int i = 0; i < n; i++)
    if (i == 0 || cut[i] != cut[i - 1])
      cut[kept++] = cut[i];
  tp__live_usage *loads = tp__pool_alloc(&g->pool, (size_t)kept, sizeof *loads);
  int64_t *usage = tp__pool_calloc(&g->pool, (size_t)kept * (size_t)v->n, sizeof *usage);
  if (loads && usage) {
    for (int i = 0; i + 1 < kept; i++)
      loads[i] = (tp__live_usage){cut[i], cut[i + 1], usage + (size_t)i * (size_t)v->n};
    for (int i = 0; i < v->n_loads; i++) {
      const tp__live_usage *from = &v->loads[i];
      int k = (int)((const int *)bsearch(&from->first, cut, (size_t)kept, sizeof *cut,
                                         tp__compare_ints) -
                    cut);
      for (; k + 1 < kept && cut[k] < from->last; k++)
        for (int x = 0; x < v->n; x++) {
          int64_t *to = &loads[k].usage[x];
          *to = *to > INT64_MAX - from->usage[x] ? INT64_MAX : *to + from->usage[x];
        }
    }
    v->loads = loads;
    v->n_loads = kept - 1;
    v->load_capacity = kept;
  }
  tp__free(cut);
  return loads && usage ? TP_OK : TP_NO_MEMORY;
}

static bool is_disjoint(const tp__wnode *v) {
  for (int i = 1; i < v->n_loads; i++)
    if (v->loads[i].first < v->loads[i - 1].last)
      return false;
  return true;
}

tp_status tp__memory_settle(tp__wcsp *g, int node) {
  tp__wnode *v = &g->nodes[node];
  if (!is_disjoint(v) && disjoin(g, v))
    return TP_NO_MEMORY;
  int kept = 0;
  for (int i = 0; i < v->n_loads; i++) {
    tp__live_usage load = v->loads[i];
    int64_t least = INT64_MAX, most = 0;
    for (int x = 0; x < v->n; x++) {
      least = load.usage[x] < least ? load.usage[x] : least;
      most = load.usage[x] > most ? load.usage[x] : most;
    }
    if (least)
      subtract_capacity(g->memory, load.first, load.last, least);
    if (least == most || load.first == load.last)
      continue;
    for (int x = 0; x < v->n && least; x++)
      load.usage[x] -= least;
    tp__live_usage *last = kept ? &v->loads[kept - 1] : NULL;
    if (last && last->last == load.first &&
        memcmp(last->usage, load.usage, (size_t)v->n * sizeof *load.usage) == 0)
      last->last = load.last;
    else
      v->loads[kept++] = load;
  }
  v->n_loads = kept;
  return TP_OK;
}

int tp__memory_mark_infeasible(const tp__wcsp *g, int node, bool *drop) {
  const tp__wnode *v = &g->nodes[node];
  int n_drop = 0;
  memset(drop, 0, (size_t)v->n * sizeof *drop);
  for (int i = 0; i < v->n_loads; i++) {
    const tp__live_usage *load = &v->loads[i];
    tp__int128 least = min_capacity(g->memory, load->first, load->last);
    for (int x = 0; x < v->n; x++)
      if (!drop[x] && load->usage[x] > least) {
        drop[x] = true;
        n_drop++;
      }
  }
  return n_drop;
}

bool tp__memory_dominates(const tp__wcsp *g, int node, int y, int x) {
  const tp__wnode *v = &g->nodes[node];
  for (int i = 0; i < v->n_loads; i++)
    if (v->loads[i].usage[y] > v->loads[i].usage[x])
      return false;
  return true;
}

tp_status tp__memory_merge(tp__wcsp *g, int node, int into, const tp_cost *partner) {
  tp__wnode *v = &g->nodes[node], *u = &g->nodes[into];
  if (v->n_loads == 0)
    return TP_OK;
  if (u->n_loads + v->n_loads > u->load_capacity) {
    int capacity = 2 * (u->n_loads + v->n_loads);
    tp__live_usage *more = tp__pool_alloc(&g->pool, (size_t)capacity, sizeof *more);
    if (!more)
      return TP_NO_MEMORY;
    if (u->n_loads)
      memcpy(more, u->loads, (size_t)u->n_loads * sizeof *more);
    u->loads = more;
    u->load_capacity = capacity;
  }
  for (int i = 0; i < v->n_loads; i++) {
    int64_t *usage = tp__pool_alloc(&g->pool, (size_t)v->n, sizeof *usage);
    if (!usage)
      return TP_NO_MEMORY;
    for (int x = 0; x < v->n; x++)
      usage[partner[x]] = v->loads[i].usage[x];
    u->loads[u->n_loads++] = (tp__live_usage){v->loads[i].first, v->loads[i].last, usage};
  }
  v->n_loads = 0;
  return TP_OK;
}

int64_t tp__memory_max_load(const tp__wnode *v, const tp__live_usage *load) {
  int64_t largest = 0;
  for (int x = 0; x < v->n; x++)
    largest = load->usage[x] > largest ? load->usage[x] : largest;
  return largest;
}

void tp__memory_max_usage(const tp__wcsp *g, tp__int128 *most) {
  int n_times = g->memory->n_times;
  memset(most, 0, ((size_t)n_times + 1) * sizeof *most);
  for (int v = 0; v < g->n_nodes; v++) {
    const tp__wnode *node = &g->nodes[v];
    for (int i = 0; node->alive && i < node->n_loads; i++) {
      int64_t largest = tp__memory_max_load(node, &node->loads[i]);
      most[node->loads[i].first] += largest;
      most[node->loads[i].last] -= largest;
    }
  }
  for (int t = 1; t <= n_times; t++)
    most[t] += most[t - 1];
}

/* By time: the maximum usage, and whether a load starts or ends there. */
typedef struct profile {
  tp__int128 *most;
  bool *starts, *ends;
} profile;

static tp_status take_profile(const tp__wcsp *g, tp__pool *pool, profile *p) {
  size_t n = (size_t)g->memory->n_times + 1;
  p->most = tp__pool_alloc(pool, n, sizeof *p->most);
  p->starts = tp__pool_calloc(pool, n, sizeof *p->starts);
  p->ends = tp__pool_calloc(pool, n, sizeof *p->ends);
  if (!p->most || !p->starts || !p->ends)
    return TP_NO_MEMORY;
  tp__memory_max_usage(g, p->most);
  for (int v = 0; v < g->n_nodes; v++)
    for (int i = 0; g->nodes[v].alive && i < g->nodes[v].n_loads; i++)
      p->starts[g->nodes[v].loads[i].first] = p->ends[g->nodes[v].loads[i].last] = true;
  return TP_OK;
}

/* Sets keep[t] if time t can be exceeded and no adjacent time implies it. An adjacent time implies
 * t if every node that lives at t also lives there and its capacity is not larger. It then takes
 * over the price. */
static int choose_times(tp__wmemory *memory, const profile *p, bool *keep) {
  int n_kept = 0, last = -1;         /* the last time kept */
  bool starts = false, ends = false; /* since that time */
  for (int t = 0; t < memory->n_times; t++) {
    starts |= p->starts[t];
    ends |= p->ends[t];
    keep[t] = p->most[t] > memory->capacity[t];
    if (!keep[t])
      continue;
    if (last >= 0 && !starts && memory->capacity[last] <= memory->capacity[t]) {
      keep[t] = false;
      memory->price[last] += memory->price[t];
      continue;
    }
    if (last >= 0 && !ends && memory->capacity[t] <= memory->capacity[last]) {
      keep[last] = false;
      memory->price[t] += memory->price[last];
      n_kept--;
    }
    last = t;
    n_kept++;
    starts = ends = false;
  }
  return n_kept;
}

static void renumber(tp__wcsp *g, const int *to) {
  for (int v = 0; v < g->n_nodes; v++) {
    tp__wnode *node = &g->nodes[v];
    int kept = 0;
    for (int i = 0; node->alive && i < node->n_loads; i++) {
      tp__live_usage load = node->loads[i];
      load.first = to[load.first];
      load.last = to[load.last];
      if (load.first < load.last)
        node->loads[kept++] = load;
    }
    node->n_loads = kept;
  }
}

tp_status tp__memory_compact(tp__wcsp *g, bool *changed, bool *infeasible) {
  tp__wmemory *memory = g->memory;
  tp__pool pool = {0};
  profile p;
  bool *keep = tp__pool_alloc(&pool, (size_t)memory->n_times + 1, sizeof *keep);
  int *to = tp__pool_alloc(&pool, (size_t)memory->n_times + 1, sizeof *to);
  tp_status status = keep && to ? take_profile(g, &pool, &p) : TP_NO_MEMORY;
  *changed = *infeasible = false;
  for (int t = 0; t < memory->n_times; t++)
    *infeasible |= memory->capacity[t] < 0;
  if (status == TP_OK && !*infeasible && choose_times(memory, &p, keep) < memory->n_times) {
    *changed = true;
    int n = 0;
    for (int t = 0; t < memory->n_times; t++) {
      to[t] = n;
      if (keep[t]) {
        memory->capacity[n] = memory->capacity[t];
        memory->price[n] = memory->price[t];
        memory->time[n++] = memory->time[t];
      }
    }
    to[memory->n_times] = n;
    memory->n_times = n;
    update_run_mins(memory);
    renumber(g, to);
    for (int v = 0; status == TP_OK && v < g->n_nodes; v++)
      if (g->nodes[v].alive)
        status = tp__memory_settle(g, v);
  }
  tp__pool_release(&pool);
  return status;
}

tp_status tp__memory_extract(const tp__wcsp *g, tp__wcsp *part, const int *members,
                             const tp__int128 *capacity) {
  size_t n = (size_t)g->memory->n_times;
  tp__wmemory *memory = tp__pool_calloc(&part->pool, 1, sizeof *memory);
  if (!memory)
    return TP_NO_MEMORY;
  memory->n_times = g->memory->n_times;
  memory->capacity = tp__pool_alloc(&part->pool, n, sizeof *memory->capacity);
  memory->least =
      tp__pool_alloc(&part->pool, (size_t)n_runs(memory->n_times), sizeof *memory->least);
  memory->time = tp__pool_alloc(&part->pool, n, sizeof *memory->time);
  memory->price = tp__pool_alloc(&part->pool, n, sizeof *memory->price);
  if (!memory->capacity || !memory->least || !memory->time || !memory->price)
    return TP_NO_MEMORY;
  if (n) {
    memcpy(memory->capacity, capacity, n * sizeof *capacity);
    memcpy(memory->time, g->memory->time, n * sizeof *memory->time);
    memcpy(memory->price, g->memory->price, n * sizeof *memory->price);
  }
  update_run_mins(memory);
  part->memory = memory;
  for (int i = 0; i < part->n_nodes; i++) {
    const tp__wnode *from = &g->nodes[members[i]];
    tp__wnode *to = &part->nodes[i];
    to->loads = tp__pool_alloc(&part->pool, (size_t)from->n_loads, sizeof *to->loads);
    int64_t *usage =
        tp__pool_alloc(&part->pool, (size_t)from->n_loads * (size_t)to->n, sizeof *usage);
    if (!to->loads || !usage)
      return TP_NO_MEMORY;
    to->n_loads = to->load_capacity = from->n_loads;
    for (int k = 0; k < from->n_loads; k++, usage += to->n) {
      memcpy(usage, from->loads[k].usage, (size_t)to->n * sizeof *usage);
      to->loads[k] = (tp__live_usage){from->loads[k].first, from->loads[k].last, usage};
    }
  }
  return TP_OK;
}
