/* Branch and bound in which every node of the tree is treated like the whole problem. A child
 * returns a certified bound. Children that the work budget does not reach keep the inherited bound,
 * so the minimum over the children is certified whenever the search stops. */
#include "solver/search.h"

#include "solver/dual.h"
#include "solver/eliminate.h"
#include "solver/lift.h"
#include "solver/lift_plan.h"
#include "solver/local.h"
#include "solver/reduce.h"
#include "support/support.h"

#include <string.h>

enum {
  MAX_DEPTH = 60,    /* of branching; each level keeps a copy of the graph */
  PASSES = 5,        /* message passes between two decodings */
  ROUNDS = 12,       /* of passes and decoding between two reductions */
  POLISH_FACTOR = 4, /* times the entries of all tables */
  /* reduce again once the gap is this many times smaller, because reductions then prune most of the
   * rest */
  PRUNE_GAP = 16,
  LIFT_SHARE = 100,   /* lift again if that gained this part of the gap */
  STALLED_ROUNDS = 4, /* rounds without gaining a hundredth of the gap */
  /* eliminate at once if that costs less than this many reads of all tables for each ... */
  EAGER_FACTOR = 50,
  /* ... stage, or less than this; otherwise messages come first, and prune */
  EAGER_WORK = 20000000,
  WIDE_TABLES = 4096,   /* tables of local search by elimination, while messages continue */
  LAST_TABLES = 300000, /* the same if only branching remains */
  /* limits of exact elimination as a whole, in units of the table budget: entries alive at once,
   * ... */
  MAX_PEAK = 2,
  MAX_ARGMINS = 15, /* ... stored choices (one or two bytes each), ... */
  MAX_WORK = 500    /* ... entries read */
};

static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

/* Evaluates a strategy for each alive node. If it is the best so far, completes it and makes it the
 * answer. */
static bool offer(const tp__search *s, const tp__wcsp *g, const int *at, tp_cost *limit,
                  tp__answer *answer) {
  tp_cost cost = tp__wcsp_evaluate(g, at);
  if (cost >= *limit)
    return false;
  for (int v = 0; v < g->n_nodes; v++)
    if (g->nodes[v].alive)
      answer->choices[v] = g->nodes[v].label[at[v]];
  tp__wcsp_complete(g, answer->choices);
  answer->cost = cost;
  *limit = tp__limit_below(s, cost);
  return true;
}

static tp_status finish_exactly(tp__search *s, const tp__wcsp *g, const tp__order *order,
                                tp_cost limit, tp__answer *answer, bool *done) {
  int *choices = tp__malloc((size_t)g->n_nodes * sizeof *choices + 1);
  tp_cost cost = TP_COST_FORBIDDEN;
  tp_status status =
      choices ? tp__wcsp_eliminate(g, order, tp__search_control(s), s->work, &cost, choices, done)
              : TP_NO_MEMORY;
  if (status == TP_OK && *done) {
    s->work += order->work;
    s->width = order->width > s->width ? order->width : s->width;
    answer->bound = cost;
    if (cost < limit) {
      tp__wcsp_complete(g, choices);
      memcpy(answer->choices, choices, (size_t)g->n_nodes * sizeof *choices);
      answer->cost = cost;
    }
  }
  tp__free(choices);
  return status;
}

/* The result for a reduced graph. */
typedef struct outcome {
  bool done; /* the answer is final */
  bool fits; /* exact elimination would fit, but messages may make it cheaper */
} outcome;

/* Eliminates exactly if the tables fit and the work is at most `worth`. */
static tp_status try_elimination(tp__search *s, const tp__wcsp *g, int64_t worth, tp_cost limit,
                                 tp__answer *answer, outcome *out) {
  tp__order order;
  tp_status status = tp__wcsp_order(g, s->table_budget, tp__search_control(s), s->work, &order);
  if (status)
    return status;
  out->fits = order.complete && order.peak <= MAX_PEAK * s->table_budget &&
              order.argmins <= MAX_ARGMINS * s->table_budget &&
              order.work <= MAX_WORK * s->table_budget &&
              (s->elimination_limit == 0 || order.work <= s->elimination_limit);
  if (out->fits && order.work <= worth)
    status = finish_exactly(s, g, &order, limit, answer, &out->done);
  tp__order_clear(&order);
  return status;
}

/* Numbers the connected components of the alive nodes by their lowest node. component[v] is -1 for
 * other nodes. */
static tp_status find_components(const tp__wcsp *g, int *component, int *n_components) {
  int *stack = tp__malloc((size_t)g->n_nodes * sizeof *stack + 1);
  if (!stack)
    return TP_NO_MEMORY;
  for (int v = 0; v < g->n_nodes; v++)
    component[v] = -1;
  int n = 0;
  for (int root = 0; root < g->n_nodes; root++) {
    if (!g->nodes[root].alive || component[root] >= 0)
      continue;
    int depth = 0;
    component[stack[depth++] = root] = n;
    while (depth) {
      int node = stack[--depth];
      for (int i = 0; i < g->nodes[node].n_edges; i++) {
        int other = tp__wcsp_view(g, g->nodes[node].edges[i], node).other;
        if (component[other] < 0)
          component[stack[depth++] = other] = n;
      }
    }
    n++;
  }
  tp__free(stack);
  *n_components = n;
  return TP_OK;
}

/* Searches a part of `g` as a graph of its own. Its choices are written to `choices`, by node of
 * `g`. */
static tp_status search_part(tp__search *s, const tp__wcsp *g, const int *members, int n, int fixed,
                             int strategy, tp_cost limit, int depth, tp__answer *part,
                             int *choices) {
  tp__wcsp *graph = tp__wcsp_extract(g, members, n, fixed, strategy);
  part->choices = tp__calloc((size_t)n + 1, sizeof *part->choices);
  s->nested++;
  tp_status status =
      graph && part->choices ? tp__wcsp_search(s, graph, limit, depth, part) : TP_NO_MEMORY;
  s->nested--;
  if (status == TP_OK && part->cost < TP_COST_FORBIDDEN)
    for (int i = 0; i < n; i++)
      choices[members[i]] = part->choices[i];
  tp__wcsp_destroy(graph);
  tp__free(part->choices);
  part->choices = NULL;
  return status;
}

static int64_t part_entries(const tp__wcsp *g, const int *members, int n) {
  int64_t twice = 0;
  for (int i = 0; i < n; i++) {
    const tp__wnode *v = &g->nodes[members[i]];
    for (int k = 0; k < v->n_edges; k++)
      twice += (int64_t)v->n * g->nodes[tp__wcsp_view(g, v->edges[k], members[i]).other].n;
  }
  return twice / 2;
}

/* Searches independent components: their bounds and costs add up. Each gets its share of the
 * remaining work. */
static tp_status search_components(tp__search *s, const tp__wcsp *g, const int *component,
                                   int n_components, tp_cost limit, int depth, tp__answer *answer) {
  int *members = tp__malloc((size_t)g->n_nodes * sizeof *members + 1);
  int *choices = tp__calloc((size_t)g->n_nodes + 1, sizeof *choices);
  int *start = tp__calloc((size_t)n_components + 2, sizeof *start);
  tp_status status = members && choices && start ? TP_OK : TP_NO_MEMORY;
  for (int v = 0; status == TP_OK && v < g->n_nodes; v++)
    if (component[v] >= 0)
      start[component[v] + 2]++;
  for (int c = 0; status == TP_OK && c < n_components; c++)
    start[c + 2] += start[c + 1];
  for (int v = 0; status == TP_OK && v < g->n_nodes; v++)
    if (component[v] >= 0)
      members[start[component[v] + 1]++] = v; /* afterwards start[c] is the start of component c */
  int64_t left = tp__wcsp_entries(g), whole_limit = s->work_limit;
  tp_cost bound = g->constant, cost = g->constant;
  for (int c = 0; status == TP_OK && c < n_components && bound < limit; c++) {
    const int *part_members = members + start[c];
    int n = start[c + 1] - start[c];
    int64_t entries = part_entries(g, part_members, n), work_left = whole_limit - s->work;
    if (work_left > 0 && left > 0)
      s->work_limit = s->work + (int64_t)((double)work_left * ((double)entries / (double)left));
    left -= entries;
    tp__answer part = {0};
    tp_cost part_limit = limit >= TP_COST_FORBIDDEN ? TP_COST_FORBIDDEN : limit - bound;
    status = search_part(s, g, part_members, n, -1, 0, part_limit, depth, &part, choices);
    s->work_limit = whole_limit;
    if (status == TP_OK) {
      bound = tp_cost_add(bound, part.bound);
      cost = tp_cost_add(cost, part.cost);
    }
  }
  if (status == TP_OK) {
    answer->bound = bound;
    if (bound < limit && cost < limit) {
      tp__wcsp_complete(g, choices);
      memcpy(answer->choices, choices, (size_t)g->n_nodes * sizeof *choices);
      answer->cost = cost;
    }
  }
  tp__free(members);
  tp__free(choices);
  tp__free(start);
  return status;
}

typedef struct effort {
  int rounds, passes; /* of decoding; and message passes per round */
  bool widely;        /* large neighborhoods at the end ... */
  bool exact_later;   /* ... which need not be thorough, because exact elimination fits */
} effort;

/* Searches large neighborhoods of `at`, with at most `most` work and tables of at most `tables`
 * entries. `g` must be reparametrized, because its constant prunes much. */
static tp_status improve_best(tp__search *s, const tp__wcsp *g, int64_t tables, int64_t most,
                              int *at, tp_cost *limit, tp__answer *answer) {
  tp_cost cost = tp__wcsp_evaluate(g, at);
  if (cost >= TP_COST_FORBIDDEN || g->constant >= *limit || tp__search_spent(s))
    return TP_OK;
  int64_t whole_limit = s->work_limit, left = whole_limit - s->work;
  s->work_limit = s->work + (most < left ? most : left);
  tp_status status =
      tp__wcsp_improve_lns(s, g, tables < s->table_budget ? tables : s->table_budget, at, &cost);
  s->work_limit = whole_limit;
  if (status == TP_OK)
    offer(s, g, at, limit, answer);
  return status;
}

/* True if there is an answer and the caller waits for it. */
static bool is_due(const tp__search *s, const tp__answer *answer) {
  return tp__search_must_finish(s) && answer->cost < TP_COST_FORBIDDEN;
}

/* Alternates messages, decoding and local search until the gap closes, progress stalls, or the work
 * is spent. Leaves the reparametrized costs in `g`, unless the answer is due. *stalled: more
 * messages would not help. */
static tp_status bound_and_decode(tp__search *s, tp__wcsp *g, effort spend, bool *stalled,
                                  tp_cost *limit, tp__answer *answer) {
  tp__dual dual;
  if (spend.passes ? tp__dual_create(g, &dual) : tp__dual_view(g, &dual))
    return TP_NO_MEMORY;
  size_t n = (size_t)g->n_nodes + 1;
  int *at = tp__calloc(2 * n, sizeof *at), *best = at + n;
  bool *tight = tp__calloc(n, sizeof *tight);
  tp_status status = at && tight ? TP_OK : TP_NO_MEMORY;
  /* granted to local search even if the work is spent */
  int64_t polish = POLISH_FACTOR * tp__wcsp_entries(g);
  int idle = 0;
  int64_t start = s->work;
  tp_cost start_bound = dual.bound;
  bool narrow = false;
  for (int round = 0; status == TP_OK && round < spend.rounds && idle < STALLED_ROUNDS && !narrow;
       round++) {
    tp_cost before = dual.bound;
    for (int pass = 0; pass < spend.passes && dual.bound < *limit && !is_due(s, answer); pass++)
      tp__dual_pass(&dual, tp__search_control(s), &s->work);
    if (is_due(s, answer))
      break;
    status = tp__dual_decode(&dual, at, &s->work);
    if (status == TP_OK) {
      tp__dual_tight(&dual, at, tight);
      status = tp__wcsp_improve(g, tight, max64(s->work_limit, s->work + polish),
                                tp__search_control(s), &s->work, at);
    }
    if (status == TP_OK && (offer(s, g, at, limit, answer) || round == 0))
      memcpy(best, at, n * sizeof *at);
    tp__search_update(s, dual.bound, answer->cost);
    if (dual.bound >= *limit || dual.exhausted || tp__search_spent(s))
      break;
    tp_cost gap = *limit >= TP_COST_FORBIDDEN ? dual.bound : *limit - dual.bound;
    idle = dual.bound - before > gap / 100 ? 0 : idle + 1;
    narrow = *limit < TP_COST_FORBIDDEN && gap < (*limit - start_bound) / PRUNE_GAP;
  }
  *stalled = spend.passes && (idle == STALLED_ROUNDS || dual.exhausted);
  answer->bound = max64(answer->bound, dual.bound);
  bool due = is_due(s, answer);
  if (status == TP_OK && !due)
    status = tp__dual_apply(&dual);
  tp__dual_clear(&dual);
  if (status == TP_OK && spend.widely && !narrow && !due) {
    bool last = *stalled && !spend.exact_later;
    int64_t most = last ? (s->work_limit - s->work) / 2 : (s->work - start) / 2;
    status = improve_best(s, g, last ? LAST_TABLES : WIDE_TABLES, most, best, limit, answer);
  }
  tp__free(at);
  tp__free(tight);
  return status;
}

/* Returns the node whose removal makes the rest easiest: the largest bag, the lowest number on
 * ties. */
static int branching_node(const tp__wcsp *g) {
  int best = -1;
  double best_weight = 0;
  for (int v = 0; v < g->n_nodes; v++) {
    const tp__wnode *node = &g->nodes[v];
    if (!node->alive)
      continue;
    /* bits of the neighbors' combinations per strategy; integers, so there is no rounding */
    double weight = 0;
    for (int i = 0; i < node->n_edges; i++)
      for (int n = g->nodes[tp__wcsp_view(g, node->edges[i], v).other].n; n > 1; n /= 2)
        weight += 1;
    weight /= node->n;
    if (best < 0 || weight > best_weight) {
      best = v;
      best_weight = weight;
    }
  }
  return best;
}

/* Searches one child per strategy of one node, cheapest first, each with an equal share of the
 * remaining work. */
static tp_status branch(tp__search *s, const tp__wcsp *g, tp_cost limit, int depth,
                        tp__answer *answer) {
  int node = branching_node(g), n_members = 0, n = g->nodes[node].n;
  int *members = tp__malloc((size_t)g->n_nodes * sizeof *members + 1);
  int *choices = tp__calloc((size_t)g->n_nodes + 1, sizeof *choices);
  int *rank = tp__malloc((size_t)n * sizeof *rank);
  tp_status status = members && choices && rank ? TP_OK : TP_NO_MEMORY;
  const tp_cost *cost = g->nodes[node].cost;
  for (int v = 0; status == TP_OK && v < g->n_nodes; v++)
    if (g->nodes[v].alive)
      members[n_members++] = v;
  for (int x = 0; status == TP_OK && x < n; x++) {
    int i = x;
    for (; i > 0 && cost[rank[i - 1]] > cost[x]; i--)
      rank[i] = rank[i - 1];
    rank[i] = x;
  }
  s->branched = true;
  tp_cost least = TP_COST_FORBIDDEN;
  int64_t whole_limit = s->work_limit;
  for (int i = 0; status == TP_OK && i < n; i++) {
    tp_cost bound = tp_cost_add(g->constant, cost[rank[i]]);
    if (bound < limit && !tp__search_spent(s)) {
      tp__answer child = {0};
      s->work_limit = s->work + (whole_limit - s->work) / (n - i);
      tp_cost child_limit = limit >= TP_COST_FORBIDDEN ? limit : limit - g->constant;
      status = search_part(s, g, members, n_members, node, rank[i], child_limit, depth + 1, &child,
                           choices);
      s->work_limit = whole_limit;
      bound = max64(bound, tp_cost_add(g->constant, child.bound));
      tp_cost found = tp_cost_add(g->constant, child.cost);
      if (status == TP_OK && found < limit) {
        tp__wcsp_complete(g, choices);
        memcpy(answer->choices, choices, (size_t)g->n_nodes * sizeof *choices);
        answer->cost = found;
        limit = tp__limit_below(s, found);
      }
    }
    least = bound < least ? bound : least;
  }
  answer->bound = least < limit ? least : limit;
  tp__free(members);
  tp__free(choices);
  tp__free(rank);
  return status;
}

/* Splits the remaining graph into components, or eliminates it. */
static tp_status split_or_eliminate(tp__search *s, const tp__wcsp *g, int64_t worth, tp_cost limit,
                                    int depth, tp__answer *answer, outcome *out) {
  int n_components = 0;
  int *component = tp__malloc((size_t)g->n_nodes * sizeof *component + 1);
  tp_status status = component ? find_components(g, component, &n_components) : TP_NO_MEMORY;
  if (status == TP_OK && n_components > 1) {
    out->done = true;
    status = search_components(s, g, component, n_components, limit, depth, answer);
  } else if (status == TP_OK) {
    status = try_elimination(s, g, worth, limit, answer, out);
  }
  tp__free(component);
  return status;
}

/* Offers an assignment that repeats with the layers, if there is one. */
static tp_status offer_repeated(tp__search *s, const tp__wcsp *g, tp_cost *limit,
                                tp__answer *answer) {
  bool found = false, *tight = tp__calloc((size_t)g->n_nodes + 1, sizeof *tight);
  int *at = tp__calloc((size_t)g->n_nodes + 1, sizeof *at);
  tp_status status = tight && at ? tp__lift_plan(s, g, at, &found) : TP_NO_MEMORY;
  if (status == TP_OK && found)
    status = tp__wcsp_improve(g, tight, s->work + POLISH_FACTOR * tp__wcsp_entries(g),
                              tp__search_control(s), &s->work, at);
  if (status == TP_OK && found)
    offer(s, g, at, limit, answer);
  tp__free(tight);
  tp__free(at);
  return status;
}

/* Runs stages, each of which starts with a reduction under the current limit and bound. The first
 * stage decodes without messages, to get a limit that excludes large costs (some callers write
 * infinity as a large number). Later stages pass messages, lifted as long as that prunes something
 * or gains much. Where layers repeat, the first assignment repeats with them.
 * Pruning makes messages and exact elimination cheaper and cheaper. Once messages stall, the rest
 * is eliminated at any cost that fits, or branched on. After a stop request, the next assignment
 * found is the last. */
static tp_status search(tp__search *s, tp__wcsp *g, tp_cost limit, int depth, tp__answer *answer) {
  int64_t before = INT64_MAX;
  tp_cost gained = TP_COST_FORBIDDEN; /* by the lifted messages of the last stage */
  bool stalled = false;
  for (int stage = 0; !is_due(s, answer); stage++) {
    tp_status status = tp__wcsp_reduce(g, limit, s->table_budget, tp__search_control(s), &s->work);
    if (status == TP_INFEASIBLE) {
      answer->bound = limit;
      return TP_OK;
    }
    int64_t strategies = tp__wcsp_strategies(g);
    outcome what = {.done = g->n_alive == 0};
    bool lifted = false, is_first = answer->cost >= TP_COST_FORBIDDEN;
    if (status == TP_OK && what.done) {
      offer(s, g, NULL, &limit, answer);
      answer->bound = g->constant;
    } else if (status == TP_OK && g->cache &&
               (strategies < before || gained > (limit - g->constant) / LIFT_SHARE)) {
      gained = g->constant;
      status = tp__lift(g, tp__search_control(s), &s->work, &lifted);
      gained = g->constant - gained;
      if (status == TP_OK && lifted && is_first)
        status = offer_repeated(s, g, &limit, answer);
    }
    if (status == TP_OK && !what.done && !lifted) {
      int64_t worth = max64(EAGER_FACTOR * (stage + 1) * tp__wcsp_entries(g), EAGER_WORK);
      status = split_or_eliminate(s, g, stalled ? INT64_MAX : worth, limit, depth, answer, &what);
    }
    if (status || what.done)
      return status;
    answer->bound = g->constant;
    tp__search_update(s, answer->bound, answer->cost);
    if (stage >= 2 &&
        /* spent work does not prevent an elimination that fits, but a stop request does */
        tp__search_spent(s))
      return what.fits && !tp__search_stopped(s)
                 ? split_or_eliminate(s, g, INT64_MAX, limit, depth, answer, &what)
                 : TP_OK;
    if (stalled && strategies >= before - before / 20) /* more messages would find the same */
      return depth < MAX_DEPTH ? branch(s, g, limit, depth, answer) : TP_OK;
    before = strategies;
    s->passed_messages |= stage > 0 || lifted;
    if (lifted && is_first && answer->cost < TP_COST_FORBIDDEN)
      continue; /* a decoding would be no better, and the limit prunes now */
    effort spend =
        stage && !lifted ? (effort){ROUNDS, PASSES, depth == 0, what.fits} : (effort){.rounds = 1};
    TP_TRY(bound_and_decode(s, g, spend, &stalled, &limit, answer));
  }
  return TP_OK;
}

tp_status tp__wcsp_search(tp__search *s, tp__wcsp *g, tp_cost limit, int depth,
                          tp__answer *answer) {
  answer->bound = g->constant;
  answer->cost = TP_COST_FORBIDDEN;
  tp_status status = search(s, g, limit, depth, answer);
  if (answer->cost < TP_COST_FORBIDDEN && answer->bound >= tp__limit_below(s, answer->cost))
    answer->bound = answer->cost; /* no cost lies in between */
  if (answer->bound > limit)
    answer->bound = limit;
  return status;
}
