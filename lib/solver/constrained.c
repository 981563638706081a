/* Search under a memory limit: alternates pruning, neighborhoods and branching. */
#include "solver/constrained.h"

#include "solver/memory.h"
#include "solver/price_ascent.h"
#include "solver/reduce.h"
#include "solver/repair.h"
#include "solver/restricted_problem.h"
#include "solver/split.h"
#include "support/support.h"

#include <string.h>

enum {
  MAX_DEPTH = 200,
  FIRST_BUDGET = 1250000000, /* of neighborhoods; doubled each time, and at first ... */
  FIRST_SHARE = 4,           /* ... no more than this share of the remaining work */
  BRANCHING = 8              /* times that for branching, alternately */
};
#define MAX_COPIED ((int64_t)250000000) /* entries of all graphs on the path of a branch */

/* Searches the part of `g` in which the node of the split is in `group`. `members` are all alive
 * nodes of `g`. */
static tp_status search_child(tp__search *s, const tp__wcsp *g, const int *members, int n,
                              const tp__split *how, int group, tp_cost limit, int depth,
                              tp__answer *child, int *choices) {
  tp__wcsp *part = tp__wcsp_extract(g, members, n, -1, 0);
  bool *drop = tp__calloc((size_t)g->nodes[how->node].n, sizeof *drop);
  child->choices = tp__calloc((size_t)n + 1, sizeof *child->choices);
  tp_status status = part && drop && child->choices
                         ? tp__memory_extract(g, part, members, g->memory->capacity)
                         : TP_NO_MEMORY;
  for (int i = 0; status == TP_OK && i < n; i++)
    if (members[i] == how->node) {
      for (int x = 0; x < g->nodes[how->node].n; x++)
        drop[x] = how->group[x] != group;
      status = tp__wcsp_drop(part, i, drop);
    }
  s->nested++;
  if (status == TP_OK)
    status = tp__constrained_part(s, part, limit, depth, child);
  s->nested--;
  if (status == TP_OK && child->cost < TP_COST_FORBIDDEN)
    for (int i = 0; i < n; i++)
      choices[members[i]] = child->choices[i];
  tp__wcsp_destroy(part);
  tp__free(drop);
  tp__free(child->choices);
  child->choices = NULL;
  return status;
}

/* Searches one child per group, most promising first, each with an equal share of the remaining
 * work. */
static tp_status search_groups(tp__search *s, const tp__wcsp *g, const tp__split *how,
                               tp_cost limit, int depth, tp__answer *answer) {
  int n_members = 0;
  int *members = tp__malloc((size_t)g->n_nodes * sizeof *members + 1);
  int *choices = tp__calloc((size_t)g->n_nodes + 1, sizeof *choices);
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
      status = search_child(s, g, members, n_members, how, how->rank[i], limit - g->constant,
                            depth + 1, &child, choices);
      s->work_limit = whole_limit;
      tp_cost from_child = child.bound + g->constant;
      bound = from_child > bound ? from_child : bound;
      if (status == TP_OK && child.cost < TP_COST_FORBIDDEN && child.cost + g->constant < limit) {
        tp__wcsp_complete(g, choices);
        memcpy(answer->choices, choices, (size_t)g->n_nodes * sizeof *choices);
        answer->cost = child.cost + g->constant;
        limit = tp__limit_below(s, answer->cost);
      }
    }
    least = bound < least ? bound : least;
  }
  if (status == TP_OK)
    answer->bound = least < limit ? least : limit;
  tp__free(members);
  tp__free(choices);
  return status;
}

static tp_status branch(tp__search *s, const tp__wcsp *g, tp_cost limit, int depth,
                        tp__answer *answer) {
  if (depth >= MAX_DEPTH || tp__wcsp_entries(g) > MAX_COPIED / (depth + 1))
    return TP_OK;
  tp__split how;
  TP_TRY(tp__split_create(g, &how));
  s->branched = true;
  tp_status status = search_groups(s, g, &how, limit, depth, answer);
  tp__split_clear(&how);
  return status;
}

/* Reduces, bounds and prunes until the graph no longer shrinks. *done: the answer is final. */
static tp_status shrink(tp__price_ascent *c, int depth, bool *done) {
  tp__search *s = c->s;
  tp__wcsp *g = c->g;
  *done = true;
  for (int64_t before = INT64_MAX;;) {
    bool is_root = depth == 0;
    tp_cost limit = is_root && c->answer->cost < TP_COST_FORBIDDEN ? c->answer->cost + 1 : c->limit;
    tp_status status = tp__wcsp_reduce(g, limit, s->table_budget, tp__search_control(s), &s->work);
    if (status == TP_OK && tp__search_must_finish(s))
      return TP_OK;
    if (status == TP_OK && g->memory->n_times == 0) {
      tp__answer rest = {.choices = tp__calloc((size_t)g->n_nodes + 1, sizeof *rest.choices)};
      s->nested++;
      status = rest.choices ? tp__wcsp_search(s, g, c->limit, depth + 1, &rest) : TP_NO_MEMORY;
      s->nested--;
      if (status == TP_OK && rest.cost < TP_COST_FORBIDDEN) {
        memcpy(c->answer->choices, rest.choices, (size_t)g->n_nodes * sizeof *rest.choices);
        c->answer->cost = rest.cost;
        c->answer->nearest = false;
      }
      c->bound = rest.bound > c->bound ? rest.bound : c->bound;
      tp__free(rest.choices);
      return status;
    }
    int64_t strategies = tp__wcsp_strategies(g);
    if (status == TP_OK && strategies >= before - before / 20) {
      *done = false;
      return TP_OK;
    }
    before = strategies;
    if (status == TP_OK)
      status = tp__price_ascent_run(c, is_root);
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

tp_status tp__constrained_part(tp__search *s, tp__wcsp *g, tp_cost limit, int depth,
                               tp__answer *answer) {
  tp__price_ascent c = {.s = s,
                        .g = g,
                        .answer = answer,
                        .limit = limit,
                        .bound = INT64_MIN / 4,
                        .step = TP__WARM_START_STEP};
  answer->cost = TP_COST_FORBIDDEN;
  bool done;
  tp_status status = shrink(&c, depth, &done);
  answer->bound = c.bound;
  if (status == TP_OK && !done)
    status = branch(s, g, c.limit, depth, answer);
  if (answer->cost < TP_COST_FORBIDDEN && answer->bound >= tp__limit_below(s, answer->cost))
    answer->bound = answer->cost; /* no cost lies in between */
  if (answer->bound > limit)
    answer->bound = limit;
  return status;
}

/* Converts the answer into strategies of the remaining graph. A strategy may have been dropped in
 * favor of one that is as good; local search then finds that one or another. False if the result
 * does not fit. */
static tp_status recall(tp__price_ascent *c, int *at, tp_cost *cost, bool *fits) {
  tp__wcsp *g = c->g;
  bool complete = true;
  for (int v = 0; v < g->n_nodes; v++) {
    if (!g->nodes[v].alive)
      continue;
    at[v] = tp__wcsp_find(&g->nodes[v], c->answer->choices[v]);
    complete &= at[v] >= 0;
    at[v] = at[v] < 0 ? 0 : at[v];
  }
  tp__int128 *used = tp__malloc((size_t)g->memory->n_times * sizeof *used + 1), excess = 0;
  tp_status status = used ? TP_OK : TP_NO_MEMORY;
  if (status == TP_OK && !complete)
    status = tp__repair(c->s, g, at, used, &excess);
  *cost = tp__wcsp_evaluate(g, at);
  *fits = excess == 0 && *cost < TP_COST_FORBIDDEN;
  tp__free(used);
  return status;
}

static tp_status search_neighborhoods(tp__price_ascent *c, int *at) {
  tp_cost cost;
  bool fits, complete = false;
  if (c->answer->cost >= TP_COST_FORBIDDEN)
    return TP_OK;
  tp_status status = recall(c, at, &cost, &fits);
  if (status == TP_OK && fits)
    status = tp__neighborhoods(c->s, c->g, at, &cost, &complete);
  if (status == TP_OK && fits && cost < c->limit) {
    tp__price_ascent_keep(c->g, at, c->answer->choices);
    c->answer->cost = cost;
    c->limit = tp__limit_below(c->s, cost);
  }
  if (complete)
    c->bound = c->limit;
  return status;
}

static tp_status try_branching(tp__price_ascent *c) {
  tp__answer found = {.cost = TP_COST_FORBIDDEN, .bound = c->bound};
  found.choices = tp__calloc((size_t)c->g->n_nodes + 1, sizeof *found.choices);
  tp_status status = found.choices ? branch(c->s, c->g, c->limit, 0, &found) : TP_NO_MEMORY;
  if (status == TP_OK && found.cost < c->limit) {
    memcpy(c->answer->choices, found.choices, (size_t)c->g->n_nodes * sizeof *found.choices);
    c->answer->cost = found.cost;
    c->answer->nearest = false;
    c->limit = tp__limit_below(c->s, found.cost);
  }
  if (status == TP_OK)
    c->bound = found.bound > c->bound ? found.bound : c->bound;
  tp__free(found.choices);
  return status;
}

/* Alternates neighborhoods and branching with growing work. If the limit falls, pruning starts
 * again. */
static tp_status alternate(tp__price_ascent *c) {
  tp__search *s = c->s;
  int64_t whole_limit = s->work_limit, share = (whole_limit - s->work) / FIRST_SHARE + 1;
  int64_t budget = share < FIRST_BUDGET ? share : FIRST_BUDGET;
  int *at = tp__calloc((size_t)c->g->n_nodes + 1, sizeof *at);
  tp_status status = at ? TP_OK : TP_NO_MEMORY;
  bool done = false;
  while (status == TP_OK && !done && c->bound < c->limit && !tp__search_spent(s)) {
    tp_cost before = c->limit;
    s->work_limit = whole_limit - s->work < budget ? whole_limit : s->work + budget;
    status = search_neighborhoods(c, at);
    s->work_limit = whole_limit;
    tp__search_update(s, c->bound, c->answer->cost);
    if (status == TP_OK && c->limit < before && c->bound < c->limit && !tp__search_spent(s))
      status = shrink(c, 0, &done);
    tp__search_update(s, c->bound, c->answer->cost);
    if (status || done || c->bound >= c->limit || tp__search_spent(s))
      break;
    s->work_limit =
        (whole_limit - s->work) / BRANCHING < budget ? whole_limit : s->work + BRANCHING * budget;
    status = try_branching(c);
    s->work_limit = whole_limit;
    tp__search_update(s, c->bound, c->answer->cost);
    budget *= 2;
  }
  tp__free(at);
  return status;
}

static tp_status search_whole(tp__price_ascent *c) {
  bool done;
  tp_status status = shrink(c, 0, &done);
  tp__search_update(c->s, c->bound, c->answer->cost);
  return status == TP_OK && !done ? alternate(c) : status;
}

tp_status tp__constrained_restricted(tp__search *s, tp__wcsp *g, tp_cost limit,
                                     tp__answer *answer) {
  tp__price_ascent c = {
      .s = s, .g = g, .answer = answer, .limit = limit, .bound = INT64_MIN / 4, .step = 1};
  return search_whole(&c);
}

tp_status tp__constrained_search(tp__search *s, tp__wcsp *g, tp_cost limit, const int *near,
                                 tp__answer *answer) {
  tp__price_ascent c = {
      .s = s, .g = g, .answer = answer, .limit = limit, .bound = answer->bound, .step = 1};
  answer->cost = TP_COST_FORBIDDEN;
  tp_status status = tp__restricted_problems(&c, near);
  if (status == TP_INFEASIBLE)
    status = TP_OK;
  else if (status == TP_OK && !tp__search_spent(s))
    status = search_whole(&c);
  bool found = answer->cost < TP_COST_FORBIDDEN;
  answer->bound = c.bound;
  if (c.bound >= c.limit)
    answer->bound = found ? answer->cost : TP_COST_FORBIDDEN;
  return status;
}
