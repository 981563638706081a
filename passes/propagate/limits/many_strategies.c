/* Plans functions with too many strategies to state their problem, as on meshes of many axes.
 *
 * Messages between layouts (layout_messages.h) give a lower bound on all plans, and reduced costs
 * of all strategies. Plans come from restricted problems, which are solved exactly or nearly so: a
 * large neighborhood search (Shaw 1998). The first neighborhood has the strategies with the least
 * reduced costs and those that are cheapest beside the plan; the others keep the plan and change
 * only how one or two axes of the mesh are used. All messages are passed before: the better the
 * bound, the better the strategies that it favors, and the fewer neighborhoods have to be tried. */
#include "passes/propagate/limits/layout_messages.h"
#include "passes/propagate/limits/search.h"

#include <string.h>

enum {
  LEAST_PASSES = 4, /* of messages */
  MOST_PASSES = 12,
  ROUNDS = 3, /* maximum number of rounds through all neighborhoods */
  FEW = 24,   /* strategies per node, by reduced cost and beside the plan */
  MOST = 64,  /* strategies per node that use some axes in other ways */
  MAX_SETS = TP_MAX_AXES * (TP_MAX_AXES + 1) / 2 + 1
};
#define PLAN_GAP 0.0005   /* accepted gap of a restricted problem */
#define WORTHWHILE 0.002  /* share of the cost that a round must gain for another one to follow */
#define BOUND_GAIN 0.0005 /* share of the bound that a pass must gain for another one to follow */

typedef struct many {
  tp_search *s;
  tp_layout_messages m;
  tp_momentum momentum;
  tp_cost *reduced; /* by strategy: its reduced cost */
  bool *kept;       /* by strategy: it is in the restricted problem */
  tp_cost *prices;  /* by strategy of one node */
  int *choices;     /* the best plan */
  tp_cost cost;     /* and its cost; TP_COST_FORBIDDEN: `choices` is no plan */
} many;

/* ---- restricted problems ---- */

/* Keeps the `few` cheapest of the n strategies, of equal ones the first. Strategies that no plan
 * can have are not kept. `list` has room for `few`. */
static void keep_cheapest(int n, int few, const tp_cost *costs, int *list, bool *kept) {
  int n_listed = 0;
  for (int i = 0; i < n; i++) {
    if (costs[i] >= TP_COST_FORBIDDEN || (n_listed == few && costs[i] >= costs[list[few - 1]]))
      continue;
    int at = n_listed < few ? n_listed++ : few - 1;
    for (; at > 0 && costs[list[at - 1]] > costs[i]; at--)
      list[at] = list[at - 1];
    list[at] = i;
  }
  for (int i = 0; i < n_listed; i++)
    kept[list[i]] = true;
}

static bool same_place(tp_spec a, tp_spec b, int axis) {
  tp_place x = tp_spec_place(a, axis), y = tp_spec_place(b, axis);
  return x.kind == y.kind && (x.kind != TP_DIM || x.dim == y.dim);
}

/* True if strategies s and t of the node use all axes alike, except those of `varied`. */
static bool are_alike(const tp_node *node, int s, int t, int n_axes, unsigned varied) {
  for (int a = 0; a < n_axes; a++) {
    if (varied >> a & 1)
      continue;
    for (int k = 0; k < node->n_in; k++)
      if (!same_place(node->in[s * node->n_in + k], node->in[t * node->n_in + k], a))
        return false;
    for (int k = 0; k < node->n_out; k++)
      if (!same_place(node->out[s * node->n_out + k], node->out[t * node->n_out + k], a))
        return false;
  }
  return true;
}

/* Prices the strategies of a node that use the axes of `varied` in any way, and the others as in
 * the plan. */
static void price_axes(const many *l, int node, unsigned varied) {
  const tp_planner *p = l->s->p;
  const tp_node *of = &p->problem.nodes[node];
  const tp_cost *reduced = l->reduced + l->m.offset[node];
  for (int s = 0; s < of->n; s++)
    l->prices[s] = are_alike(of, s, l->choices[node], p->problem.mesh->n_axes, varied)
                       ? reduced[s]
                       : TP_COST_FORBIDDEN;
}

/* Selects the neighborhood: that of some axes, or of few strategies if there are none. */
static void select_strategies(many *l, unsigned varied) {
  const tp_planner *p = l->s->p;
  const size_t *offset = l->m.offset;
  int list[MOST > FEW ? MOST : FEW];
  memset(l->kept, 0, offset[p->problem.n_nodes] * sizeof *l->kept);
  for (int i = 0; i < (int)p->problem.n_nodes; i++) {
    int n = p->problem.nodes[i].n;
    bool *kept = l->kept + offset[i];
    if (varied)
      price_axes(l, i, varied);
    else
      tp__messages_costs_beside(&l->m, i, l->choices, l->prices);
    keep_cheapest(n, varied ? MOST : FEW, l->prices, list, kept);
    if (!varied)
      keep_cheapest(n, FEW, l->reduced + offset[i], list, kept);
    kept[l->choices[i]] = true;
  }
}

/* Keeps the cheapest strategy of the node with this layout, if none is kept. */
static bool keep_partner(many *l, int node, const tp_layout_column *c, tp_spec spec) {
  const size_t first = l->m.offset[node];
  int best = -1, n = l->s->p->problem.nodes[node].n;
  for (int s = 0; s < n; s++) {
    if (!tp_spec_equal(c->specs[c->number[s]], spec))
      continue;
    if (l->kept[first + (size_t)s])
      return false;
    if (l->reduced[first + (size_t)s] < TP_COST_FORBIDDEN &&
        (best < 0 || l->reduced[first + (size_t)s] < l->reduced[first + (size_t)best]))
      best = s;
  }
  if (best >= 0)
    l->kept[first + (size_t)best] = true;
  return best >= 0;
}

/* Where both ends of an edge have one layout, gives the strategies at either end a partner at the
 * other. Without them, the restricted problem may have no plan. */
static void add_partners(many *l) {
  bool is_new = true;
  while (is_new) {
    is_new = false;
    for (int k = 0; k < l->m.n_edges; k++) {
      const tp_layout_edge *e = &l->m.edges[k];
      for (int end = 0; end < 2 && e->keeps_layout; end++) {
        const tp_layout_column *c = e->column[end];
        for (int s = 0; s < l->s->p->problem.nodes[e->node[end]].n; s++)
          if (l->kept[l->m.offset[e->node[end]] + (size_t)s])
            is_new |= keep_partner(l, e->node[1 - end], e->column[1 - end], c->specs[c->number[s]]);
      }
    }
  }
}

/* ---- plans ---- */

static double gap_of(const many *l) {
  return l->s->p->limits.gap > PLAN_GAP ? l->s->p->limits.gap : PLAN_GAP;
}

/* Plans with the strategies kept. `prices` NULL: with exact costs of reshards. */
static tp_status plan_kept(const many *l, tp_layout_messages *prices, tp_planner *planned) {
  tp_planner *p = l->s->p;
  size_t n = p->problem.n_nodes, n_strategies = l->m.offset[n];
  const bool **rows = tp__arena_array(p->problem.arena, n + 1, sizeof(const bool *));
  bool *kept = tp__arena_array(p->problem.arena, n_strategies + 1, sizeof *kept);
  tp_status status = tp__planner_copy(p, planned);
  if (status == TP_OK && (!rows || !kept))
    status = tp__plan_no_memory(p);
  planned->result = (tp_plan_result){0};
  planned->limits.gap = gap_of(l);
  planned->messages = prices;
  if (status == TP_OK) {
    memcpy(kept, l->kept, n_strategies * sizeof *kept);
    for (size_t i = 0; i < n; i++)
      rows[i] = kept + l->m.offset[i];
    status = tp__planner_cut(planned, rows);
  }
  if (status == TP_OK)
    status = tp__plan_make_problem(planned, true, &planned->stated);
  if (status == TP_OK)
    status = tp__plan_stated(planned);
  planned->messages = NULL;
  p->result.work += planned->result.work;
  return status;
}

/* Plans in a neighborhood of the plan, and takes the plan if it is cheaper. */
static tp_status improve(many *l, unsigned varied, bool *is_better) {
  const tp_planner *p = l->s->p;
  tp_planner planned = {0};
  select_strategies(l, varied);
  add_partners(l);
  tp_status status = plan_kept(l, &l->m, &planned);
  *is_better = status == TP_OK && planned.result.cost < l->cost;
  if (*is_better) {
    int *choices = tp__seeds_chosen(p, &planned);
    l->cost = planned.result.cost;
    if (choices)
      memcpy(l->choices, choices, p->problem.n_nodes * sizeof *choices);
    else
      status = TP_NO_MEMORY;
  }
  tp__planner_drop(&planned);
  return status == TP_INFEASIBLE ? TP_OK : status;
}

/* Lists the neighborhoods as sets of axes: none, every one, every two. */
static int list_sets(const tp_mesh *mesh, unsigned *sets) {
  int n = 0;
  sets[n++] = 0;
  for (int a = 0; a < mesh->n_axes; a++)
    if (mesh->axes[a].size > 1)
      sets[n++] = 1u << a;
  for (int a = 0; a < mesh->n_axes; a++)
    for (int b = 0; b < a; b++)
      if (mesh->axes[a].size > 1 && mesh->axes[b].size > 1)
        sets[n++] = 1u << a | 1u << b;
  return n;
}

/* True if the plan is proven to be as cheap as a restricted problem has to be solved. */
static bool is_proven(const many *l) {
  return (double)(l->cost - l->m.bound) <= gap_of(l) * (double)l->m.bound;
}

/* Tries all neighborhoods in turn. A neighborhood is tried again only if the plan has changed. */
static tp_status search_neighborhoods(many *l) {
  tp_clock *clock = l->s->p->limits.clock;
  unsigned sets[MAX_SETS];
  int n = list_sets(l->s->p->problem.mesh, sets), unchanged = 0;
  for (int round = 0; round < ROUNDS; round++) {
    tp_cost before = l->cost;
    for (int i = 0; i < n && unchanged < n; i++) {
      bool is_better;
      if (l->cost < TP_COST_FORBIDDEN && (is_proven(l) || tp__clock_is_over(clock)))
        return TP_OK;
      tp__clock_show(l->cost, l->m.bound);
      TP_TRY(improve(l, sets[i], &is_better));
      unchanged = is_better ? 1 : unchanged + 1;
      before = before < TP_COST_FORBIDDEN ? before : l->cost; /* of the first plan */
    }
    if ((double)(before - l->cost) <= WORTHWHILE * (double)l->cost)
      break;
  }
  return TP_OK;
}

/* Makes the plan the best so far, with exact costs. */
static tp_status take(many *l) {
  tp_search *s = l->s;
  const tp_planner *p = s->p;
  tp_planner planned = {0};
  memset(l->kept, 0, l->m.offset[p->problem.n_nodes] * sizeof *l->kept);
  for (size_t i = 0; i < p->problem.n_nodes; i++)
    l->kept[l->m.offset[i] + (size_t)l->choices[i]] = true;
  tp_status status = plan_kept(l, NULL, &planned);
  if (status == TP_OK && tp__plan_worth(&planned) < s->best.cost) {
    tp__found_keep(s, &planned);
    s->best.method = "layout messages + neighborhoods of axes";
    s->best.is_early = tp__clock_is_over(p->limits.clock);
  }
  tp__planner_drop(&planned);
  return status;
}

/* Passes messages until the bound hardly gains. */
static void raise_bound(many *l) {
  tp_clock *clock = l->s->p->limits.clock;
  for (int i = 0; i < MOST_PASSES && (i == 0 || !tp__clock_is_over(clock)); i++) {
    tp_cost before = l->m.bound;
    tp__momentum_pass(&l->momentum);
    if (i >= LEAST_PASSES && (double)(l->m.bound - before) < BOUND_GAIN * (double)before)
      break;
  }
}

static tp_status search(many *l) {
  raise_bound(l);
  for (int i = 0; i < (int)l->s->p->problem.n_nodes; i++)
    tp__messages_reduced_costs(&l->m, i, l->reduced + l->m.offset[i]);
  tp__messages_decode(&l->m, l->choices);
  TP_TRY(search_neighborhoods(l));
  return take(l);
}

/* ---- the search ---- */

/* Counts the entries of a table, unless it was counted before. Equal edges share a table. */
static double count_table(const tp_planner *p, tp_memo *seen, tp__arena *arena,
                          const tp_planned_value *v, int to, int input) {
  bool is_copied = v->copy >= 0 && to != v->copy;
  const tp_node *a = &p->problem.nodes[is_copied ? v->copy : v->node], *b = &p->problem.nodes[to];
  const int64_t key[] = {(int64_t)(intptr_t)a->out, a->n, (int64_t)(intptr_t)b->in, b->n,
                         is_copied ? 0 : v->output, input};
  void **slot = tp__memo(seen, arena, key, TP_LEN(key));
  if (slot && *slot)
    return 0;
  if (slot)
    *slot = seen;
  return (double)a->n * b->n;
}

static double count_entries(const tp_planner *p) {
  double sum = 0;
  tp_memo seen = {0};
  tp__arena arena = {0};
  for (size_t k = 0; k < p->problem.n_values; k++) {
    const tp_planned_value *v = &p->problem.values[k];
    sum += v->copy >= 0 ? count_table(p, &seen, &arena, v, v->copy, 0) : 0;
    for (int u = 0; u < v->n_uses; u++)
      if (v->uses[u].served_by < 0)
        sum += count_table(p, &seen, &arena, v, v->uses[u].node, v->uses[u].input);
  }
  tp__memo_destroy(&seen);
  tp__arena_destroy(&arena);
  return sum;
}

bool tp__has_many_strategies(const tp_planner *p) {
  return p->limits.memory < 0 && count_entries(p) > p->problem.options->entries;
}

static bool applies(const tp_search *s) {
  return s->has_many && !tp__clock_is_over(s->p->limits.clock);
}

static tp_status open_many(tp_search *s, many *l) {
  tp_planner *p = s->p;
  *l = (many){.s = s, .cost = TP_COST_FORBIDDEN};
  TP_TRY(tp__messages_open(p, &l->m));
  TP_TRY(tp__momentum_open(&l->m, &l->momentum));
  size_t n = l->m.offset[p->problem.n_nodes], most = 1;
  for (size_t i = 0; i < p->problem.n_nodes; i++)
    most = (size_t)p->problem.nodes[i].n > most ? (size_t)p->problem.nodes[i].n : most;
  l->reduced = tp__calloc(n + 1, sizeof *l->reduced);
  l->kept = tp__calloc(n + 1, sizeof *l->kept);
  l->prices = tp__calloc(most, sizeof *l->prices);
  l->choices = tp__calloc(p->problem.n_nodes + 1, sizeof *l->choices);
  return l->reduced && l->kept && l->prices && l->choices ? TP_OK : TP_NO_MEMORY;
}

static void close_many(many *l) {
  tp__free(l->choices);
  tp__free(l->prices);
  tp__free(l->kept);
  tp__free(l->reduced);
  tp__messages_close(&l->m);
}

static tp_status run(tp_search *s) {
  tp_planner *p = s->p;
  many l;
  MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(
      p->problem.pass->context, tp__discard_diagnostic, NULL, NULL);
  tp_status status = open_many(s, &l);
  if (status == TP_OK)
    status = search(&l);
  s->floor = l.m.bound > s->floor ? l.m.bound : s->floor;
  s->is_planned = s->best.cost < TP_COST_FORBIDDEN;
  close_many(&l);
  mlirContextDetachDiagnosticHandler(p->problem.pass->context, handler);
  /* restricted problems without a plan are no error: the whole problem is tried next */
  return status == TP_NO_MEMORY ? tp__plan_no_memory(p) : TP_OK;
}

const tp_search_row tp__many_row = {"many strategies", applies, run};
