/* Subgradient ascent on memory prices with message passing, which also decodes, repairs and
 * prunes. */
#include "solver/price_ascent.h"

#include "solver/memory.h"
#include "solver/repair.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  ROOT_ROUNDS = 1000, /* of messages and prices */
  /* the same below the root, which starts from the prices and messages of its parent */
  ROUNDS = 24,
  PATIENCE = 6,     /* rounds without a better bound before the step shrinks */
  WINDOW = 40,      /* stop if the gap shrinks by less than a thousandth in this many rounds */
  LAST_PASSES = 20, /* maximum number of passes to restore the best bound at the best prices */
  REPAIR_EVERY = 8  /* rounds */
};
#define MIN_STEP 0.001
#define RISE 1.1
#define FALL 0.7
#define MEMORY_OF_USAGE                                                                            \
  0.7 /* weight of the previous average usage (volume algorithm, Barahona and Anbil 2000) */

void tp__price_ascent_keep(const tp__wcsp *g, const int *at, int *choices) {
  for (int v = 0; v < g->n_nodes; v++)
    if (g->nodes[v].alive)
      choices[v] = g->nodes[v].label[at[v]];
  tp__wcsp_complete(g, choices);
}

tp_status tp__search_keep_prices(tp__search *s, const tp__wmemory *memory, const double *price) {
  size_t n = (size_t)memory->n_times;
  tp__time_prices *kept = &s->time_prices;
  if (kept->n > 0 || n == 0)
    return TP_OK;
  int64_t *time = tp__realloc(kept->time, n, sizeof *time);
  kept->time = time ? time : kept->time;
  double *to = tp__realloc(kept->price, n, sizeof *to);
  kept->price = to ? to : kept->price;
  if (!time || !to)
    return TP_NO_MEMORY;
  for (size_t t = 0; t < n; t++)
    if (price[t] > 0) {
      time[kept->n] = memory->time[t];
      to[kept->n++] = price[t] / (double)s->step;
    }
  return TP_OK;
}

/* Makes `at` the answer if it is better: if it fits as it is, or, with may_repair, after repair. */
static tp_status offer(tp__price_ascent *c, const int *at, bool may_repair) {
  tp__search *s = c->s;
  tp__int128 excess = tp__excess_of(c->g, c->used);
  tp_cost cost = tp__wcsp_evaluate(c->g, at);
  bool promising =
      excess == 0 && cost < TP_COST_FORBIDDEN && cost < c->limit + (c->limit - c->bound) / 4;
  if (!may_repair && !promising)
    return TP_OK;
  memcpy(c->repaired, at, (size_t)c->g->n_nodes * sizeof *at);
  if (tp__repair(s, c->g, c->repaired, c->used, &excess))
    return TP_NO_MEMORY;
  cost = tp__wcsp_evaluate(c->g, c->repaired);
  if (excess > 0) {
    if (c->answer->cost >= TP_COST_FORBIDDEN && cost < TP_COST_FORBIDDEN &&
        (!c->answer->nearest || excess < c->nearest)) {
      c->answer->nearest = true;
      c->nearest = excess;
      tp__price_ascent_keep(c->g, c->repaired, c->answer->choices);
    }
    return TP_OK;
  }
  if (cost >= c->limit)
    return TP_OK;
  tp__price_ascent_keep(c->g, c->repaired, c->answer->choices);
  c->answer->cost = cost;
  c->answer->nearest = false;
  c->limit = tp__limit_below(s, cost);
  return TP_OK;
}

/* Takes a subgradient step from the best prices: prices rise where the average usage of recent
 * assignments exceeds the capacity, and fall where it is below. The length would close the gap if
 * the direction were right (Polyak). */
static void move_prices(tp__price_ascent *c, tp_cost best, double step) {
  tp__wmemory *memory = c->g->memory;
  double norm = 0;
  for (int t = 0; t < memory->n_times; t++) {
    double over = c->average[t] - (double)memory->capacity[t];
    if (over > 0 || c->best_price[t] > 0)
      norm += over * over;
  }
  if (norm <= 0)
    return;
  double gap = (double)c->limit - (double)best,
         most = 0.1 * fabs((double)best) + (double)c->s->step;
  double length = step * (gap < most ? gap : most) / norm;
  for (int t = 0; t < memory->n_times; t++) {
    double price = c->best_price[t] + length * (c->average[t] - (double)memory->capacity[t]);
    memory->price[t] = price > 0 ? price : 0;
  }
  tp__prices_set(&c->prices, &c->s->work);
}

static tp_status start_climb(tp__price_ascent *c) {
  size_t n = (size_t)c->g->n_nodes, n_times = (size_t)c->g->memory->n_times;
  c->at = tp__pool_calloc(&c->pool, n, sizeof *c->at);
  c->repaired = tp__pool_calloc(&c->pool, n, sizeof *c->repaired);
  c->used = tp__pool_alloc(&c->pool, n_times, sizeof *c->used);
  c->average = tp__pool_alloc(&c->pool, n_times, sizeof *c->average);
  c->best_price = tp__pool_alloc(&c->pool, n_times, sizeof *c->best_price);
  if (!c->at || !c->repaired || !c->used || !c->average || !c->best_price)
    return TP_NO_MEMORY;
  memcpy(c->best_price, c->g->memory->price, n_times * sizeof *c->best_price);
  return tp__prices_create(c->g, &c->s->work, &c->prices);
}

static tp_status round_of_climb(tp__price_ascent *c, int round, bool may_repair) {
  TP_TRY(tp__dual_decode(&c->prices.dual, c->at, &c->s->work));
  tp__usage_of(c->g, c->at, c->used);
  /* computing usage and cost */
  c->s->work += 2 * (c->g->n_nodes + c->g->memory->n_times) + c->g->n_edges;
  for (int t = 0; t < c->g->memory->n_times; t++) {
    double used = (double)c->used[t];
    c->average[t] = round ? MEMORY_OF_USAGE * c->average[t] + (1 - MEMORY_OF_USAGE) * used : used;
  }
  return offer(c, c->at, may_repair);
}

/* Returns to the best prices, passes messages until the bound is restored, and prunes. */
static tp_status prune(tp__price_ascent *c, tp_cost best, bool is_root) {
  bool valid = true;
  memcpy(c->g->memory->price, c->best_price, (size_t)c->g->memory->n_times * sizeof *c->best_price);
  tp__prices_set(&c->prices, &c->s->work);
  for (int pass = 0;
       valid && pass < LAST_PASSES && (pass == 0 || tp__prices_bound(&c->prices) < best) &&
       !tp__search_must_finish(c->s);
       pass++)
    valid = tp__prices_pass(&c->prices, tp__search_control(c->s), &c->s->work);
  if (!valid || tp__search_must_finish(c->s))
    return TP_OK;
  tp_cost bound = tp__prices_bound(&c->prices);
  c->bound = bound > c->bound ? bound : c->bound;
  if (c->bound >= c->limit)
    return TP_INFEASIBLE;
  /* At the root, keeps the best assignment itself, because the neighborhoods start from it. */
  bool keeps_best = is_root && c->answer->cost < TP_COST_FORBIDDEN;
  return tp__prices_prune(&c->prices, keeps_best ? c->answer->cost + 1 : c->limit, &c->s->work);
}

tp_status tp__price_ascent_run(tp__price_ascent *c, bool is_root) {
  size_t price_bytes = (size_t)c->g->memory->n_times * sizeof *c->best_price;
  int rounds = is_root ? ROOT_ROUNDS : ROUNDS;
  c->s->multiplied = true;
  tp_status status = start_climb(c);
  int idle = 0;
  bool valid = status == TP_OK;
  double step = c->step;
  c->step = TP__WARM_START_STEP;
  tp_cost best = INT64_MIN / 4, before = best;
  for (int round = 0; status == TP_OK && round < rounds && step > MIN_STEP; round++) {
    valid = tp__prices_pass(&c->prices, tp__search_control(c->s), &c->s->work);
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
      if (best - before < (c->limit - best) / 1000)
        break;
      before = best;
    }
    status =
        round_of_climb(c, round, is_root ? round % REPAIR_EVERY == REPAIR_EVERY / 2 : round == 0);
    if (is_root)
      tp__search_update(c->s, c->bound, c->answer->cost);
    if (status == TP_OK && round + 1 < rounds)
      move_prices(c, best, step);
  }
  if (status == TP_OK && is_root && c->s->nested == 0)
    status = tp__search_keep_prices(c->s, c->g->memory, c->best_price);
  if (status == TP_OK && c->bound >= c->limit)
    status = TP_INFEASIBLE;
  if (status == TP_OK && valid)
    status = prune(c, best, is_root);
  tp__prices_clear(&c->prices);
  tp__pool_release(&c->pool);
  c->pool = (tp__pool){0};
  return status;
}
