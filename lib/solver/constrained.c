#include "solver/constrained.h"

#include "solver/memory.h"
#include "solver/prices.h"
#include "solver/reduce.h"
#include "solver/repair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_DEPTH = 200,
  ROOT_ROUNDS = 1000,       /* of messages and prices */
  ROUNDS = 24,              /* the same below the root, which starts from the prices and messages of its parent */
  PATIENCE = 6,             /* rounds without a better bound before prices move in smaller steps */
  WINDOW = 40,              /* rounds in which less than half a percent of the gap gained is too little */
  LAST_PASSES = 20,         /* at most, to be as good as before at the best prices */
  REPAIR_EVERY = 8,         /* rounds */
  FIRST_BUDGET = 500000000, /* of neighbourhoods, doubled every time */
  BRANCHING = 8             /* times that for branching, in turn */
};
#define LEAST_STEP 0.001
#define LATER_STEP 0.1 /* where prices are already good */
#define RISE 1.1
#define FALL 0.7
#define MEMORY_OF_USAGE 0.7 /* of the average usage that prices follow (the volume algorithm, Barahona and Anbil 2000) */

typedef struct climber {
  tp__search *s;
  tp__wcsp *g;
  tp__answer *answer;
  tp_cost limit;
  tp__pool pool;
  tp__prices prices;
  int *at, *repaired;
  tp__wide *used;
  double *average, *best_price;
  tp_cost bound;    /* certified */
  double step;      /* of the prices, at first */
  tp__wide nearest; /* excess of answer->choices while nothing was found */
} climber;

static tp_cost limit_below(const tp__search *s, tp_cost cost) { return cost - s->step + 1; }

static void keep(const tp__wcsp *g, const int *at, int *choices) {
  for (int v = 0; v < g->n_nodes; v++)
    if (g->nodes[v].alive)
      choices[v] = g->nodes[v].label[at[v]];
  tp__wcsp_complete(g, choices);
}

/* `at` as it is if it fits, and in any case when repaired, becomes the answer if it is better. */
static tp_status offer(climber *c, const int *at, bool may_repair) {
  tp__search *s = c->s;
  tp__wide excess = tp__excess_of(c->g, c->used);
  tp_cost cost = tp__wcsp_evaluate(c->g, at);
  bool promising = excess == 0 && cost < TP_COST_FORBIDDEN && cost < c->limit + (c->limit - c->bound) / 4;
  if (!may_repair && !promising)
    return TP_OK;
  memcpy(c->repaired, at, (size_t)c->g->n_nodes * sizeof *at);
  if (tp__repair(s, c->g, c->repaired, c->used, &excess))
    return TP_NO_MEMORY;
  cost = tp__wcsp_evaluate(c->g, c->repaired);
  if (excess > 0) {
    if (c->answer->cost >= TP_COST_FORBIDDEN && cost < TP_COST_FORBIDDEN && (!c->answer->nearest || excess < c->nearest)) {
      c->answer->nearest = true;
      c->nearest = excess;
      keep(c->g, c->repaired, c->answer->choices);
    }
    return TP_OK;
  }
  if (cost >= c->limit)
    return TP_OK;
  keep(c->g, c->repaired, c->answer->choices);
  c->answer->cost = cost;
  c->answer->nearest = false;
  c->limit = limit_below(s, cost);
  return TP_OK;
}

/* Prices rise, from the best ones, where the average of late choices uses more than the room, and fall where less: a
 * subgradient step of the length that would close the gap if the direction were right (Polyak). */
static void move_prices(climber *c, tp_cost best, double step) {
  tp__wmemory *memory = c->g->memory;
  double norm = 0;
  for (int t = 0; t < memory->n_times; t++) {
    double over = c->average[t] - (double)memory->room[t];
    if (over > 0 || c->best_price[t] > 0)
      norm += over * over;
  }
  if (norm <= 0)
    return;
  double gap = (double)c->limit - (double)best, most = 0.1 * fabs((double)best) + (double)c->s->step;
  double length = step * (gap < most ? gap : most) / norm;
  for (int t = 0; t < memory->n_times; t++) {
    double price = c->best_price[t] + length * (c->average[t] - (double)memory->room[t]);
    memory->price[t] = price > 0 ? price : 0;
  }
  tp__prices_set(&c->prices);
}

static tp_status start_climb(climber *c) {
  size_t n = (size_t)c->g->n_nodes, n_times = (size_t)c->g->memory->n_times;
  c->at = tp__pool_take_zeroed(&c->pool, n, sizeof *c->at);
  c->repaired = tp__pool_take_zeroed(&c->pool, n, sizeof *c->repaired);
  c->used = tp__pool_take(&c->pool, n_times, sizeof *c->used);
  c->average = tp__pool_take(&c->pool, n_times, sizeof *c->average);
  c->best_price = tp__pool_take(&c->pool, n_times, sizeof *c->best_price);
  if (!c->at || !c->repaired || !c->used || !c->average || !c->best_price)
    return TP_NO_MEMORY;
  memcpy(c->best_price, c->g->memory->price, n_times * sizeof *c->best_price);
  return tp__prices_create(c->g, &c->prices);
}

static tp_status round_of_climb(climber *c, int round, bool may_repair) {
  tp_status status = tp__dual_decode(&c->prices.dual, c->at, &c->s->work);
  if (status)
    return status;
  tp__usage_of(c->g, c->at, c->used);
  for (int t = 0; t < c->g->memory->n_times; t++) {
    double used = (double)c->used[t];
    c->average[t] = round ? MEMORY_OF_USAGE * c->average[t] + (1 - MEMORY_OF_USAGE) * used : used;
  }
  return offer(c, c->at, may_repair);
}

/* Better prices and messages, and choices on the way; then prunes. TP_INFEASIBLE: nothing costs less than the limit. */
static tp_status climb(climber *c, int rounds, bool is_root) {
  size_t price_bytes = (size_t)c->g->memory->n_times * sizeof *c->best_price;
  c->s->multiplied = true;
  tp_status status = start_climb(c);
  int idle = 0;
  bool valid = status == TP_OK;
  double step = c->step;
  c->step = LATER_STEP;
  tp_cost best = INT64_MIN, before = INT64_MIN / 2;
  for (int round = 0; status == TP_OK && round < rounds && step > LEAST_STEP; round++) {
    valid = tp__prices_pass(&c->prices, &c->s->work);
    if (!valid)
      break;
    tp_cost bound = tp__prices_bound(&c->prices);
    if (bound > best) {
      if (bound - best > (c->limit - bound) / 1000)
        step = step * RISE < 2 ? step * RISE : 2;
      best = bound;
      memcpy(c->best_price, c->g->memory->price, price_bytes);
    } else if (++idle % PATIENCE == 0) {
      step *= FALL;
    }
    c->bound = best > c->bound ? best : c->bound;
    if (best >= c->limit || (round > 0 && tp__search_spent(c->s)))
      break;
    if (round % WINDOW == WINDOW - 1) {
      if (best - before < (c->limit - best) / 200)
        break;
      before = best;
    }
    status = round_of_climb(c, round, is_root ? round % REPAIR_EVERY == REPAIR_EVERY / 2 : round == 0);
    if (is_root)
      tp__search_update(c->s, c->bound, c->answer->cost);
    if (status == TP_OK && round + 1 < rounds)
      move_prices(c, best, step);
  }
  if (status == TP_OK && valid && c->bound < c->limit) {
    memcpy(c->g->memory->price, c->best_price, price_bytes);
    tp__prices_set(&c->prices);
    for (int pass = 0; valid && pass < LAST_PASSES && (pass == 0 || tp__prices_bound(&c->prices) < best); pass++)
      valid = tp__prices_pass(&c->prices, &c->s->work);
    if (valid) {
      c->bound = tp__prices_bound(&c->prices) > c->bound ? tp__prices_bound(&c->prices) : c->bound;
      /* At the root the best choice itself stays, as the neighbourhoods start from it. */
      tp_cost limit = is_root && c->answer->cost < TP_COST_FORBIDDEN ? c->answer->cost + 1 : c->limit;
      status = c->bound >= c->limit ? TP_INFEASIBLE : tp__prices_prune(&c->prices, limit, &c->s->work);
    }
  } else if (status == TP_OK && c->bound >= c->limit) {
    status = TP_INFEASIBLE;
  }
  tp__prices_clear(&c->prices);
  tp__pool_release(&c->pool);
  c->pool = (tp__pool){0};
  return status;
}

/* What the strategies of a node cost at least: the node, and the cheapest entry of each edge. */
static tp_cost reduced_cost(const tp__wcsp *g, int node, int x) {
  const tp__wnode *v = &g->nodes[node];
  tp_cost sum = v->cost[x];
  for (int i = 0; i < v->n_edges; i++) {
    tp__wview w = tp__wcsp_view(g, v->edges[i], node);
    tp_cost best = TP_COST_FORBIDDEN;
    for (int y = 0; y < g->nodes[w.other].n; y++) {
      tp_cost entry = w.table[(size_t)x * w.self + (size_t)y * w.far];
      best = entry < best ? entry : best;
    }
    sum = tp_cost_add(sum, best);
  }
  return sum;
}

/* What strategy x pays at the present prices. */
static double payment(const tp__wcsp *g, const tp__wnode *v, int x) {
  double sum = 0;
  for (int i = 0; i < v->n_loads; i++) {
    double price = 0;
    for (int t = v->loads[i].first; t < v->loads[i].last; t++)
      price += g->memory->price[t];
    sum += price * (double)v->loads[i].usage[x];
  }
  return sum;
}

/* How a graph is split: the strategies of a node in groups. */
typedef struct split {
  int node, n_groups;
  int *group; /* by strategy */
} split;

/* The node whose strategies differ most in what they pay, those that pay little apart from those that pay much: either
 * way the prices of others change. False if no memory has a price. */
static bool split_by_memory(const tp__wcsp *g, split *how) {
  double most = 0, middle = 0;
  for (int v = 0; v < g->n_nodes; v++) {
    const tp__wnode *node = &g->nodes[v];
    double low = 0, high = 0;
    for (int x = 0; node->alive && node->n_loads && x < node->n; x++) {
      double paid = payment(g, node, x);
      low = x == 0 || paid < low ? paid : low;
      high = x == 0 || paid > high ? paid : high;
    }
    if (high - low > most) {
      most = high - low;
      middle = low + most / 2;
      how->node = v;
    }
  }
  if (most <= 0)
    return false;
  how->n_groups = 2;
  for (int x = 0; x < g->nodes[how->node].n; x++)
    how->group[x] = payment(g, &g->nodes[how->node], x) > middle;
  return true;
}

/* The node that decides most, strategy by strategy. Bits of its neighbours' combinations for each strategy to try:
 * integers, so no rounding. */
static void split_by_strategy(const tp__wcsp *g, split *how) {
  double best_weight = -1;
  for (int v = 0; v < g->n_nodes; v++) {
    const tp__wnode *node = &g->nodes[v];
    if (!node->alive)
      continue;
    double weight = node->n_loads ? 2 : 1;
    for (int i = 0; i < node->n_edges; i++)
      for (int n = g->nodes[tp__wcsp_view(g, node->edges[i], v).other].n; n > 1; n /= 2)
        weight += 1;
    weight /= node->n;
    if (weight > best_weight) {
      how->node = v;
      best_weight = weight;
    }
  }
  how->n_groups = g->nodes[how->node].n;
  for (int x = 0; x < how->n_groups; x++)
    how->group[x] = x;
}

/* Searches the part of `g`, all of whose alive nodes are `members`, in which the node of the split is in `group`. */
static tp_status search_child(tp__search *s, const tp__wcsp *g, const int *members, int n, const split *how, int group,
                              tp_cost limit, int depth, tp__answer *child, int *choices) {
  tp__wcsp *part = tp__wcsp_extract(g, members, n, -1, 0);
  bool *drop = calloc((size_t)g->nodes[how->node].n, sizeof *drop);
  child->choices = calloc((size_t)n + 1, sizeof *child->choices);
  tp_status status = part && drop && child->choices ? tp__memory_extract(g, part, members, g->memory->room) : TP_NO_MEMORY;
  for (int i = 0; status == TP_OK && i < n; i++)
    if (members[i] == how->node) {
      for (int x = 0; x < g->nodes[how->node].n; x++)
        drop[x] = how->group[x] != group;
      tp__wcsp_drop(part, i, drop);
    }
  s->nested++;
  if (status == TP_OK)
    status = tp__constrained_part(s, part, limit, depth, child);
  s->nested--;
  if (status == TP_OK && child->cost < TP_COST_FORBIDDEN)
    for (int i = 0; i < n; i++)
      choices[members[i]] = child->choices[i];
  tp__wcsp_destroy(part);
  free(drop);
  free(child->choices);
  child->choices = NULL;
  return status;
}

/* Groups by the least reduced cost in them: rank[i] is the i-th. */
static tp_status rank_groups(const tp__wcsp *g, const split *how, int *rank) {
  tp_cost *least = malloc((size_t)how->n_groups * sizeof *least);
  if (!least)
    return TP_NO_MEMORY;
  for (int k = 0; k < how->n_groups; k++)
    least[k] = TP_COST_FORBIDDEN;
  for (int x = 0; x < g->nodes[how->node].n; x++) {
    tp_cost reduced = reduced_cost(g, how->node, x);
    least[how->group[x]] = reduced < least[how->group[x]] ? reduced : least[how->group[x]];
  }
  for (int k = 0; k < how->n_groups; k++) {
    int i = k;
    for (; i > 0 && least[rank[i - 1]] > least[k]; i--)
      rank[i] = rank[i - 1];
    rank[i] = k;
  }
  free(least);
  return TP_OK;
}

/* One child per group, cheapest first, each with an equal share of the work left. */
static tp_status search_groups(tp__search *s, const tp__wcsp *g, const split *how, const int *rank, tp_cost limit, int depth,
                               tp__answer *answer) {
  int n_members = 0;
  int *members = malloc((size_t)g->n_nodes * sizeof *members + 1);
  int *choices = calloc((size_t)g->n_nodes + 1, sizeof *choices);
  tp_status status = members && choices ? TP_OK : TP_NO_MEMORY;
  for (int v = 0; status == TP_OK && v < g->n_nodes; v++)
    if (g->nodes[v].alive)
      members[n_members++] = v;
  tp_cost least = TP_COST_FORBIDDEN, inherited = answer->bound;
  int64_t whole_limit = s->work_limit;
  for (int i = 0; status == TP_OK && i < how->n_groups; i++) {
    tp_cost bound = inherited;
    if (!tp__search_spent(s)) {
      tp__answer child = {0};
      s->work_limit = s->work + (whole_limit - s->work) / (how->n_groups - i);
      status = search_child(s, g, members, n_members, how, rank[i], limit - g->constant, depth + 1, &child, choices);
      s->work_limit = whole_limit;
      tp_cost from_child = child.bound + g->constant;
      bound = from_child > bound ? from_child : bound;
      if (status == TP_OK && child.cost < TP_COST_FORBIDDEN && child.cost + g->constant < limit) {
        tp__wcsp_complete(g, choices);
        memcpy(answer->choices, choices, (size_t)g->n_nodes * sizeof *choices);
        answer->cost = child.cost + g->constant;
        limit = limit_below(s, answer->cost);
      }
    }
    least = bound < least ? bound : least;
  }
  if (status == TP_OK)
    answer->bound = least < limit ? least : limit;
  free(members);
  free(choices);
  return status;
}

static tp_status branch(tp__search *s, const tp__wcsp *g, tp_cost limit, int depth, tp__answer *answer) {
  size_t most = 1;
  for (int v = 0; v < g->n_nodes; v++)
    most = (size_t)g->nodes[v].n > most ? (size_t)g->nodes[v].n : most;
  int *rank = malloc(2 * most * sizeof *rank);
  if (!rank)
    return TP_NO_MEMORY;
  split how = {.group = rank + most};
  if (!split_by_memory(g, &how))
    split_by_strategy(g, &how);
  s->branched = true;
  tp_status status = rank_groups(g, &how, rank);
  if (status == TP_OK)
    status = search_groups(s, g, &how, rank, limit, depth, answer);
  free(rank);
  return status;
}

/* Reduces, bounds and prunes until that no longer shrinks the graph. *done: the answer has all that can be known. */
static tp_status shrink(climber *c, int depth, bool *done) {
  tp__search *s = c->s;
  tp__wcsp *g = c->g;
  *done = true;
  for (int64_t before = INT64_MAX;;) {
    bool is_root = depth == 0;
    tp_cost limit = is_root && c->answer->cost < TP_COST_FORBIDDEN ? c->answer->cost + 1 : c->limit;
    tp_status status = tp__wcsp_reduce(g, limit, s->table_budget, &s->work);
    if (status == TP_OK && g->memory->n_times == 0) {
      tp__answer rest = {.choices = calloc((size_t)g->n_nodes + 1, sizeof *rest.choices)};
      s->nested++;
      status = rest.choices ? tp__wcsp_search(s, g, c->limit, depth + 1, &rest) : TP_NO_MEMORY;
      s->nested--;
      if (status == TP_OK && rest.cost < TP_COST_FORBIDDEN) {
        memcpy(c->answer->choices, rest.choices, (size_t)g->n_nodes * sizeof *rest.choices);
        c->answer->cost = rest.cost;
        c->answer->nearest = false;
      }
      c->bound = rest.bound > c->bound ? rest.bound : c->bound;
      free(rest.choices);
      return status;
    }
    int64_t strategies = tp__wcsp_strategies(g);
    if (status == TP_OK && strategies >= before - before / 20) {
      *done = false;
      return TP_OK;
    }
    before = strategies;
    if (status == TP_OK)
      status = climb(c, is_root ? ROOT_ROUNDS : ROUNDS, is_root);
    if (status == TP_INFEASIBLE) {
      c->bound = c->limit;
      return TP_OK;
    }
    if (status || tp__search_spent(s)) {
      *done = tp__search_spent(s);
      return status;
    }
  }
}

tp_status tp__constrained_part(tp__search *s, tp__wcsp *g, tp_cost limit, int depth, tp__answer *answer) {
  climber c = {.s = s, .g = g, .answer = answer, .limit = limit, .bound = INT64_MIN / 4, .step = LATER_STEP};
  answer->cost = TP_COST_FORBIDDEN;
  bool done;
  tp_status status = shrink(&c, depth, &done);
  answer->bound = c.bound;
  if (status == TP_OK && !done && depth < MAX_DEPTH)
    status = branch(s, g, c.limit, depth, answer);
  if (answer->cost < TP_COST_FORBIDDEN && answer->bound >= limit_below(s, answer->cost))
    answer->bound = answer->cost; /* nothing lies between */
  if (answer->bound > limit)
    answer->bound = limit;
  return status;
}

static int index_of(const tp__wnode *v, int label) {
  for (int x = 0; x < v->n; x++)
    if (v->label[x] == label)
      return x;
  return -1;
}

/* The answer as strategies of what is left of the graph. A strategy may have been dropped for one that is as good:
 * local search finds it, or something else. False if what it finds does not fit. */
static tp_status recall(climber *c, int *at, tp_cost *cost, bool *fits) {
  tp__wcsp *g = c->g;
  bool complete = true;
  for (int v = 0; v < g->n_nodes; v++) {
    if (!g->nodes[v].alive)
      continue;
    at[v] = index_of(&g->nodes[v], c->answer->choices[v]);
    complete &= at[v] >= 0;
    at[v] = at[v] < 0 ? 0 : at[v];
  }
  tp__wide *used = malloc((size_t)g->memory->n_times * sizeof *used + 1), excess = 0;
  tp_status status = used ? TP_OK : TP_NO_MEMORY;
  if (status == TP_OK && !complete)
    status = tp__repair(c->s, g, at, used, &excess);
  *cost = tp__wcsp_evaluate(g, at);
  *fits = excess == 0 && *cost < TP_COST_FORBIDDEN;
  free(used);
  return status;
}

static tp_status look_around(climber *c, int *at) {
  tp_cost cost;
  bool fits, complete = false;
  if (c->answer->cost >= TP_COST_FORBIDDEN)
    return TP_OK;
  tp_status status = recall(c, at, &cost, &fits);
  if (status == TP_OK && fits)
    status = tp__neighbourhoods(c->s, c->g, at, &cost, &complete);
  if (status == TP_OK && fits && cost < c->limit) {
    keep(c->g, at, c->answer->choices);
    c->answer->cost = cost;
    c->limit = limit_below(c->s, cost);
  }
  if (complete)
    c->bound = c->limit;
  return status;
}

static tp_status try_branching(climber *c) {
  tp__answer found = {.cost = TP_COST_FORBIDDEN, .bound = c->bound};
  found.choices = calloc((size_t)c->g->n_nodes + 1, sizeof *found.choices);
  tp_status status = found.choices ? branch(c->s, c->g, c->limit, 0, &found) : TP_NO_MEMORY;
  if (status == TP_OK && found.cost < c->limit) {
    memcpy(c->answer->choices, found.choices, (size_t)c->g->n_nodes * sizeof *found.choices);
    c->answer->cost = found.cost;
    c->answer->nearest = false;
    c->limit = limit_below(c->s, found.cost);
  }
  if (status == TP_OK)
    c->bound = found.bound > c->bound ? found.bound : c->bound;
  free(found.choices);
  return status;
}

/* Neighbourhoods and branching in turn, each time with more work; when the limit falls, pruning starts again. */
static tp_status alternate(climber *c) {
  tp__search *s = c->s;
  int64_t whole_limit = s->work_limit, budget = FIRST_BUDGET;
  int *at = calloc((size_t)c->g->n_nodes + 1, sizeof *at);
  tp_status status = at ? TP_OK : TP_NO_MEMORY;
  bool done = false;
  while (status == TP_OK && !done && c->bound < c->limit && !tp__search_spent(s)) {
    tp_cost before = c->limit;
    s->work_limit = whole_limit - s->work < budget ? whole_limit : s->work + budget;
    status = look_around(c, at);
    s->work_limit = whole_limit;
    tp__search_update(s, c->bound, c->answer->cost);
    if (status == TP_OK && c->limit < before && c->bound < c->limit && !tp__search_spent(s))
      status = shrink(c, 0, &done);
    tp__search_update(s, c->bound, c->answer->cost);
    if (status || done || c->bound >= c->limit || tp__search_spent(s))
      break;
    s->work_limit = (whole_limit - s->work) / BRANCHING < budget ? whole_limit : s->work + BRANCHING * budget;
    status = try_branching(c);
    s->work_limit = whole_limit;
    tp__search_update(s, c->bound, c->answer->cost);
    budget *= 2;
  }
  free(at);
  return status;
}

tp_status tp__constrained_search(tp__search *s, tp__wcsp *g, tp_cost limit, tp__answer *answer) {
  climber c = {.s = s, .g = g, .answer = answer, .limit = limit, .bound = 0, .step = 1};
  answer->cost = TP_COST_FORBIDDEN;
  bool done;
  tp_status status = shrink(&c, 0, &done);
  tp__search_update(s, c.bound, answer->cost);
  if (status == TP_OK && !done)
    status = alternate(&c);
  bool found = answer->cost < TP_COST_FORBIDDEN;
  answer->bound = c.bound;
  if (c.bound >= c.limit)
    answer->bound = found ? answer->cost : TP_COST_FORBIDDEN;
  return status;
}
