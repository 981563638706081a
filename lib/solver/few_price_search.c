/* Finds prices for a few times by cutting planes. Prices are in fixed point. Payments are rounded
 * down and the refund is rounded up, so bounds are certified in integers. */
#include "solver/few_price_search.h"

#include "support/support.h"

#include <string.h>

typedef unsigned __int128 exact;

enum {
  FRACTION = 32, /* fractional bits of a price */
  SOLVES = 8,    /* per time */
  SHARES = 6     /* one solve may use at most this share of the work */
};
/* price of the whole capacity at the first price, as a share of the cost */
#define FIRST_SHARE 0.02
#define RISE 4.0
#define MAX_PRICE 0x1p60 /* in fixed point */
#define MAX_PAID ((tp_cost)1 << 55)

/* An assignment, as a point on the dual function of the price at the current time. */
typedef struct sample {
  double cost; /* including payments at other times */
  double used;
  bool known;
} sample;

typedef struct pricer {
  tp__search *s;
  const tp_problem *problem;
  const tp__code *code;
  int64_t work; /* of one solve */
  int64_t end;  /* of all solves */
  tp__coarse_prices *out;
  exact fixed[TP__COARSE_TIMES]; /* the current prices */
  int *choices;                  /* of the last solve */
} pricer;

static bool lives_at(const tp__problem_live_range *life, int64_t time) {
  return life->start <= time && time < life->end;
}

/* ---- the priced problem ---- */

static exact price_of(const pricer *p, const tp__problem_live_range *life) {
  exact sum = 0;
  for (int k = 0; k < p->out->n; k++)
    sum += lives_at(life, p->out->time[k]) ? p->fixed[k] : 0;
  return sum;
}

static tp_cost payment(exact price, int64_t usage) {
  exact paid = price * (exact)usage >> FRACTION;
  /* paying less than due keeps bounds certified */
  return paid < (exact)MAX_PAID ? (tp_cost)paid : MAX_PAID;
}

/* Adds the payments of a node to its costs, which are copied first. False if memory runs out. */
static bool pay(const pricer *p, tp__pool *pool, const tp__problem_node *node,
                tp__problem_node *priced) {
  for (int i = 0; i < node->n_live_ranges; i++) {
    exact price = price_of(p, &node->lives[i]);
    if (!price)
      continue;
    tp_cost *costs = priced->costs == node->costs
                         ? tp__pool_alloc(pool, (size_t)node->n, sizeof *costs)
                         : priced->costs;
    if (!costs)
      return false;
    for (int x = 0; x < node->n; x++)
      costs[x] = tp_cost_add(priced->costs[x], payment(price, node->lives[i].usages[x]));
    priced->costs = costs;
  }
  return true;
}

/* Creates the problem with payments and without its limit in `priced`. Its costs are in `pool`. */
static bool make_priced(const pricer *p, tp__pool *pool, tp_problem *priced) {
  const tp_problem *problem = p->problem;
  *priced = *problem;
  priced->limit = -1;
  priced->nodes = tp__pool_alloc(pool, (size_t)problem->n_nodes, sizeof *priced->nodes);
  if (!priced->nodes)
    return false;
  memcpy(priced->nodes, problem->nodes, (size_t)problem->n_nodes * sizeof *priced->nodes);
  for (int v = 0; v < problem->n_nodes; v++)
    if (!pay(p, pool, &problem->nodes[v], &priced->nodes[v]))
      return false;
  return true;
}

/* Returns the price of the whole capacity. */
static exact refund(const pricer *p) {
  exact sum = 0;
  for (int k = 0; k < p->out->n; k++)
    sum += p->fixed[k];
  return (sum * (exact)p->problem->limit + (((exact)1 << FRACTION) - 1)) >> FRACTION;
}

/* ---- evaluation of a solve ---- */

static double used_at(const pricer *p, const int *choices, int64_t time) {
  double used = 0;
  for (int v = 0; v < p->problem->n_nodes; v++) {
    const tp__problem_node *node = &p->problem->nodes[v];
    for (int i = 0; i < node->n_live_ranges; i++)
      used += lives_at(&node->lives[i], time) ? (double)node->lives[i].usages[choices[v]] : 0;
  }
  return used;
}

/* Converts to a cost of the graph of the unpriced problem. */
static tp_cost as_cost(const pricer *p, exact cost) {
  exact above = cost > p->code->base ? cost - p->code->base : 0,
        scaled = above * (exact)p->code->step;
  return scaled < (exact)TP_COST_FORBIDDEN ? (tp_cost)scaled : TP_COST_FORBIDDEN - 1;
}

static void learn_bound(pricer *p, const tp__code *code, tp_cost bound) {
  exact priced = tp__decode_bound(code, bound), back = refund(p);
  tp_cost cost = priced > back ? as_cost(p, priced - back) : 0;
  if (cost <= p->out->bound)
    return;
  p->out->bound = cost;
  for (int k = 0; k < p->out->n; k++)
    p->out->price[k] = (double)p->fixed[k] / (double)((exact)1 << FRACTION) * (double)p->code->step;
}

/* Keeps the assignment if it fits. */
static tp_status learn_choice(pricer *p, bool *fits) {
  int64_t time;
  exact peak;
  tp_status status = tp__problem_peak(p->problem, p->choices, &time, &peak);
  *fits = status == TP_OK && peak <= (exact)p->problem->limit;
  tp_cost cost =
      *fits ? as_cost(p, tp__problem_exact_cost(p->problem, p->choices)) : TP_COST_FORBIDDEN;
  if (cost < p->out->cost) {
    p->out->cost = cost;
    memcpy(p->out->choices, p->choices, (size_t)p->problem->n_nodes * sizeof *p->choices);
  }
  return status;
}

/* Solves at the current prices. *found: p->choices has an assignment. */
static tp_status solve(pricer *p, bool *found, bool *fits) {
  tp__pool pool = {0};
  tp_problem priced;
  tp__code code;
  tp__answer answer = {.cost = TP_COST_FORBIDDEN, .choices = p->choices};
  tp_status status = make_priced(p, &pool, &priced) ? TP_OK : TP_NO_MEMORY;
  tp__wcsp *g = NULL;
  if (status == TP_OK) {
    tp__code_choose(&priced, TP__FORM_PLAIN, &code);
    g = tp__encode(&priced, &code, false);
    status = g ? TP_OK : TP_NO_MEMORY;
  }
  if (status == TP_OK) {
    tp_cost step = p->s->step;
    p->s->step = code.step;
    p->s->work_limit = p->s->work + p->work < p->end ? p->s->work + p->work : p->end;
    p->s->nested++; /* costs of the priced problem must not be reported */
    status = tp__wcsp_search(p->s, g, TP_COST_FORBIDDEN, 0, &answer);
    p->s->nested--;
    p->s->step = step;
  }
  tp__wcsp_destroy(g);
  if (status == TP_OK)
    learn_bound(p, &code, answer.bound);
  tp__pool_release(&pool);
  *fits = false;
  *found = status == TP_OK && answer.cost < TP_COST_FORBIDDEN;
  return *found ? learn_choice(p, fits) : status;
}

/* ---- the price of one time ---- */

/* Sets the price of time k, in cost per unit; 0 removes it. */
static void set_price(pricer *p, int k, double price) {
  double fixed = price * (double)((exact)1 << FRACTION);
  p->fixed[k] = fixed > 0 ? (exact)(fixed < MAX_PRICE ? fixed : MAX_PRICE) : 0;
}

static sample evaluate(const pricer *p, int k, const int *choices) {
  exact cost = tp__problem_exact_cost(p->problem, choices);
  sample at = {.cost = (double)cost, .used = used_at(p, choices, p->out->time[k]), .known = true};
  for (int i = 0; i < p->out->n; i++)
    if (i != k)
      at.cost += (double)p->fixed[i] / (double)((exact)1 << FRACTION) *
                 used_at(p, choices, p->out->time[i]);
  return at;
}

/* Finds the price at time number k. `over` is the assignment at price 0 there. If *under,
 * p->choices fits the capacity at this time on return. */
static tp_status price_time(pricer *p, int k, const int *over, bool *under) {
  const double capacity = (double)p->problem->limit;
  sample low = evaluate(p, k, over), high = {0};
  double price = FIRST_SHARE * low.cost / capacity;
  tp_status status = TP_OK;
  *under = false;
  for (int i = 0;
       i < SOLVES && status == TP_OK && p->s->work < p->end && !tp__search_must_finish(p->s); i++) {
    bool found, fits;
    tp_cost before = p->out->bound;
    set_price(p, k, price);
    status = solve(p, &found, &fits);
    if (status != TP_OK || !found)
      break;
    sample now = evaluate(p, k, p->choices);
    bool is_new = now.used > capacity ? now.used < low.used : !high.known || now.used > high.used;
    if (now.used > capacity)
      low = now;
    else
      high = now;
    *under = now.used <= capacity;
    if (high.known && !is_new && p->out->bound <= before)
      break;
    price = high.known && low.used > high.used ? (high.cost - low.cost) / (low.used - high.used)
                                               : price * RISE;
    if (!(price > 0))
      break;
  }
  return status;
}

tp_status tp__find_coarse_prices(tp__search *s, const tp_problem *problem, const tp__code *code,
                                 int64_t work, const tp__answer *relaxed, tp__coarse_prices *out) {
  pricer p = {.s = s,
              .problem = problem,
              .code = code,
              .work = work / SHARES,
              .end = s->work + work,
              .out = out};
  size_t n = (size_t)problem->n_nodes + 1;
  int *over = tp__calloc(2 * n, sizeof *over);
  tp_status status = over ? TP_OK : TP_NO_MEMORY;
  bool under = true;
  out->n = 0;
  out->bound = INT64_MIN;
  out->cost = TP_COST_FORBIDDEN;
  if (status == TP_OK) {
    p.choices = over + n;
    memcpy(over, relaxed->choices, (size_t)problem->n_nodes * sizeof *over);
  }
  while (status == TP_OK && under && out->n < TP__COARSE_TIMES && s->work < p.end &&
         out->cost >= TP_COST_FORBIDDEN && !tp__search_must_finish(s)) {
    int64_t time;
    exact peak;
    status = tp__problem_peak(problem, over, &time, &peak);
    if (status != TP_OK || peak <= (exact)problem->limit)
      break;
    out->time[out->n] = time;
    out->price[out->n++] = 0;
    p.fixed[out->n - 1] = 0;
    status = price_time(&p, out->n - 1, over, &under);
    memcpy(over, p.choices, (size_t)problem->n_nodes * sizeof *over);
  }
  tp__free(over);
  return status;
}
