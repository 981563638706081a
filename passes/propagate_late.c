/* Plans for when the time limit is over before the problem is stated.
 *
 * Pricing the changes between all layouts of all values takes longest. So every node keeps a few strategies, and the problem of these is stated, whatever
 * the clock says, and solved for a moment. Ops keep the one that splits least, those of least work, and those of least work whose axes stand only where
 * annotations bring them; what has no work keeps the layouts that cost least to change into those of the ops around it. While there is time, all
 * strategies of all nodes are priced against the few of their neighbours, the cheapest are kept beside those of the plan, and the problem of these is solved. The plan
 * is valid and may be far from the cheapest. What is proven of all strategies is that a plan costs no less than the least of every node. */
#include "passes/propagate_limited.h"

#include <string.h>

enum { FEW = 8 }; /* strategies of a node, of each kind */
#define GRACE 0.2 /* seconds, at least, to solve their problem and find better ones */

/* One end of the way of a value, as its node sees it. */
typedef struct end {
  int other; /* the node at the other end */
  const tp_planned_value *v;
  bool makes;               /* this end is where the value comes from */
  int column, other_column; /* output, input */
} end;

/* What is the same for strategies of one layout is found once. */
typedef struct columns {
  tp_spec *specs; /* of a neighbour, then own ones */
  int *number;    /* by own strategy: its layout */
  tp_cost *least; /* by own layout */
  bool *named;
} columns;

typedef struct late {
  tp_planner *p;
  bool **rows; /* by node: which strategies it keeps */
  bool *known; /* by node: it has some */
  int *first;  /* by node, and the end: its ends */
  end *ends;
  columns columns; /* to be reused */
} late;

static tp_status out_of_memory(const tp_planner *p) { return tp__error(p->program.func, TP_NO_MEMORY, "out of memory"); }

static double trips_of(const tp_planner *p, const tp_node *node) {
  return node->kind == TP_NODE_OP ? p->program.items[node->index].trips : 1;
}

static tp_cost least_cost(const tp_planner *p) {
  tp_cost sum = 0;
  for (size_t i = 0; i < p->n_nodes; i++) {
    const tp_node *node = &p->nodes[i];
    tp_cost least = TP_COST_FORBIDDEN;
    for (int s = 0; s < node->n; s++)
      least = node->costs[s] < least ? node->costs[s] : least;
    sum = tp_cost_add(sum, tp__cost_times(least, trips_of(p, node)));
  }
  return sum;
}

/* ---- what lies between nodes ---- */

static void add_end(late *l, int *n, int node, end e) {
  if (l->ends)
    l->ends[l->first[node] + n[node]] = e;
  n[node]++;
}

static void add_way(late *l, int *n, const tp_planned_value *v, int from, int output, int to, int input) {
  if (from == to)
    return;
  add_end(l, n, from, (end){to, v, true, output, input});
  add_end(l, n, to, (end){from, v, false, input, output});
}

/* Counts the ends of each node, or fills them in. */
static void add_ways(late *l, int *n) {
  const tp_planner *p = l->p;
  for (size_t k = 0; k < p->n_values; k++) {
    const tp_planned_value *v = &p->values[k];
    if (v->copy >= 0)
      add_way(l, n, v, v->node, v->output, v->copy, 0);
    for (int u = 0; u < v->n_uses; u++)
      add_way(l, n, v, v->copy >= 0 ? v->copy : v->node, v->copy >= 0 ? 0 : v->output, v->uses[u].node, v->uses[u].input);
  }
}

static bool find_ends(late *l) {
  tp_planner *p = l->p;
  int *n = tp__calloc(p->n_nodes + 1, sizeof *n);
  l->first = tp__arena_array(p->arena, p->n_nodes + 1, sizeof *l->first);
  if (n && l->first) {
    add_ways(l, n);
    for (size_t i = 0; i < p->n_nodes; i++)
      l->first[i + 1] = l->first[i] + n[i];
    memset(n, 0, p->n_nodes * sizeof *n);
    l->ends = tp__arena_array(p->arena, (size_t)l->first[p->n_nodes] + 1, sizeof *l->ends);
    if (l->ends)
      add_ways(l, n);
  }
  tp__free(n);
  return l->ends != NULL;
}

static tp_spec spec_at(const tp_planner *p, int node, bool makes, int column, int s) {
  const tp_node *n = &p->nodes[node];
  return makes ? n->out[s * n->n_out + column] : n->in[s * n->n_in + column];
}

/* Do axes stand only where annotations bring them? */
static bool is_named(const tp_planner *p, const end *e, tp_spec spec) {
  for (int d = 0; d < e->v->rank; d++) {
    int axes[TP_MAX_AXES], n = tp_spec_dim_axes(p->mesh, spec, d, axes);
    for (int i = 0; i < n; i++)
      if (!tp__flow_names(p, (int)(e->v - p->values), d, axes[i]))
        return false;
  }
  return true;
}

/* ---- the few ---- */

static tp_cost change_cost(const tp_planner *p, const end *e, tp_spec own, tp_spec other) {
  const tp_planned_value *v = e->v;
  if (tp_spec_equal(own, other))
    return 0;
  return v->keeps_layout ? TP_COST_FORBIDDEN
                         : tp__cost_times(tp_reshard_cost(p->reshards, e->makes ? own : other, e->makes ? other : own, v->rank,
                                                          v->shape, v->element_size),
                                          v->trips);
}

/* Lists the different layouts of strategies s with rows[s], or of all; number[s], which may be NULL, is that of each. Returns how many they are. */
static int distinct(const tp_planner *p, int node, bool makes, int column, const bool *row, tp_spec *specs, int *number) {
  int n = 0;
  for (int s = 0; s < p->nodes[node].n; s++) {
    if (row && !row[s])
      continue;
    tp_spec spec = spec_at(p, node, makes, column, s);
    int i = 0;
    while (i < n && !tp_spec_equal(specs[i], spec))
      i++;
    if (i == n)
      specs[n++] = spec;
    if (number)
      number[s] = i;
  }
  return n;
}

/* Adds to costs[s] what the way at this end costs at least from strategy s to those that the other node keeps; unnamed[s]: an axis of strategy s stands
 * where no annotation brings it. */
static void add_least(late *l, int node, const end *e, bool with_ways, tp_cost *costs, bool *unnamed) {
  const tp_planner *p = l->p;
  columns *c = &l->columns;
  tp_spec *own = c->specs + p->nodes[e->other].n;
  int n_own = distinct(p, node, e->makes, e->column, NULL, own, c->number);
  int n = with_ways && l->known[e->other] ? distinct(p, e->other, !e->makes, e->other_column, l->rows[e->other], c->specs, NULL)
                                          : 0;
  for (int k = 0; k < n_own; k++) {
    c->least[k] = n ? TP_COST_FORBIDDEN : 0;
    c->named[k] = !unnamed || is_named(p, e, own[k]);
    for (int i = 0; i < n && c->least[k] > 0; i++) {
      tp_cost cost = change_cost(p, e, own[k], c->specs[i]);
      c->least[k] = cost < c->least[k] ? cost : c->least[k];
    }
  }
  for (int s = 0; s < p->nodes[node].n; s++) {
    costs[s] = tp_cost_add(costs[s], c->least[c->number[s]]);
    if (unnamed)
      unnamed[s] |= !c->named[c->number[s]];
  }
}

static tp_status keep(late *l, int node, const tp_cost *costs) {
  int n = l->p->nodes[node].n, *list = NULL;
  l->known[node] = true;
  if (n <= FEW) {
    memset(l->rows[node], true, (size_t)n * sizeof *l->rows[node]);
    return TP_OK;
  }
  tp_status status = tp__keep_cheapest(l->p->arena, costs, n, FEW, &list);
  for (int k = 0; k < FEW && status == TP_OK; k++)
    l->rows[node][list[k]] = true;
  return status;
}

/* Keeps the strategies of a node that cost least, with the ways to the neighbours of which some are known (`with_ways`); with `named` also the cheapest whose axes stand only where
 * annotations bring them. */
static tp_status keep_best(late *l, int node, bool with_ways, bool named) {
  const tp_planner *p = l->p;
  const tp_node *own = &p->nodes[node];
  tp_cost *costs = tp__calloc((size_t)own->n + 1, sizeof *costs);
  bool *unnamed = tp__calloc((size_t)own->n + 1, sizeof *unnamed);
  tp_status status = costs && unnamed ? TP_OK : TP_NO_MEMORY;
  for (int s = 0; s < own->n && status == TP_OK; s++)
    costs[s] = tp__cost_times(own->costs[s], trips_of(p, own));
  for (int i = l->first[node]; i < l->first[node + 1] && status == TP_OK && own->n > FEW; i++)
    add_least(l, node, &l->ends[i], with_ways, costs, named ? unnamed : NULL);
  if (status == TP_OK)
    status = keep(l, node, costs);
  for (int s = 0; s < own->n && status == TP_OK; s++)
    costs[s] = unnamed[s] ? TP_COST_FORBIDDEN : costs[s];
  if (status == TP_OK && named)
    status = keep(l, node, costs);
  tp__free(costs);
  tp__free(unnamed);
  return status;
}

/* Ops by themselves; then, in their order, what is around them. */
static tp_status choose_few(late *l) {
  const tp_planner *p = l->p;
  tp_status status = TP_OK;
  for (int kind = 0; kind < 2; kind++)
    for (int i = 0; i < (int)p->n_nodes && status == TP_OK; i++)
      if ((p->nodes[i].kind == TP_NODE_OP) == (kind == 0))
        status = keep_best(l, i, kind == 1 && !tp__clock_is_over(p->clock), true);
  return status;
}

static bool open(late *l) {
  tp_planner *p = l->p;
  columns *c = &l->columns;
  size_t most = 1;
  for (size_t i = 0; i < p->n_nodes; i++)
    most = (size_t)p->nodes[i].n > most ? (size_t)p->nodes[i].n : most;
  l->rows = tp__arena_array(p->arena, p->n_nodes + 1, sizeof(bool *));
  l->known = tp__arena_array(p->arena, p->n_nodes + 1, sizeof *l->known);
  c->specs = tp__arena_array(p->arena, 2 * most, sizeof *c->specs);
  c->number = tp__arena_array(p->arena, most, sizeof *c->number);
  c->least = tp__arena_array(p->arena, most, sizeof *c->least);
  c->named = tp__arena_array(p->arena, most, sizeof *c->named);
  bool ok = l->rows && l->known && c->specs && c->number && c->least && c->named && find_ends(l);
  for (size_t i = 0; i < p->n_nodes && ok; i++)
    ok = (l->rows[i] = tp__arena_array(p->arena, (size_t)p->nodes[i].n + 1, sizeof *l->rows[i])) != NULL;
  return ok;
}

/* ---- plans ---- */

/* Rows as they are now: those in use by a planner stay. */
static const bool *const *copy_rows(const late *l) {
  const tp_planner *p = l->p;
  const bool **rows = tp__arena_array(p->arena, p->n_nodes + 1, sizeof(const bool *));
  for (size_t i = 0; i < p->n_nodes && rows; i++) {
    bool *row = tp__arena_array(p->arena, (size_t)p->nodes[i].n + 1, sizeof *row);
    if (!row)
      return NULL;
    memcpy(row, l->rows[i], (size_t)p->nodes[i].n * sizeof *row);
    rows[i] = row;
  }
  return rows;
}

/* A planner for the few, with its plan. To be dropped also when it fails. */
static tp_status plan_few(const late *l, tp_planner *few) {
  const bool *const *rows = copy_rows(l);
  tp_status status = tp__planner_copy(l->p, few);
  if (status == TP_OK)
    status = rows ? tp__planner_cut(few, rows) : out_of_memory(l->p);
  if (status == TP_OK && few->memory_limit >= 0)
    status = tp__routes_build(few, false);
  if (status == TP_OK)
    status = tp__plan_make_problem(few, true, &few->problem);
  return status == TP_OK ? tp__plan_solve(few) : status;
}

/* The strategies of the plan, and none else, are kept. */
static void keep_chosen(late *l, const tp_planner *few) {
  for (size_t i = 0, k = 0; i < l->p->n_nodes; i++, k++) {
    while (tp__is_of_routes(&few->nodes[k]))
      k++;
    int left = few->nodes[k].chosen;
    for (int s = 0; s < l->p->nodes[i].n; s++)
      l->rows[i][s] = few->kept[i][s] && left-- == 0;
  }
}

/* Better ones, while there is time. That none is found in time is no error: there is a plan. */
static tp_status improve(late *l, tp_planner *few) {
  tp_status status = TP_OK;
  MlirContext context = l->p->pass->context;
  MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(context, tp__swallow, NULL, NULL);
  for (bool better = true; better && status == TP_OK && !tp__clock_is_over(l->p->clock);) {
    tp_planner next;
    keep_chosen(l, few);
    for (int i = 0; i < (int)l->p->n_nodes && status == TP_OK && !tp__clock_is_over(l->p->clock); i++)
      status = keep_best(l, i, true, false);
    if (status != TP_OK || tp__clock_is_over(l->p->clock))
      break;
    status = plan_few(l, &next);
    better = status == TP_OK && next.cost < few->cost;
    if (better) {
      tp__planner_drop(few);
      *few = next;
      if (few->routes)
        tp__routes_move(few->routes, few);
    } else {
      tp__planner_drop(&next);
    }
  }
  mlirContextDetachDiagnosticHandler(context, handler);
  return status == TP_NO_MEMORY ? out_of_memory(l->p) : TP_OK;
}

tp_status tp__plan_late(tp_planner *p) {
  tp_cost bound = least_cost(p);
  late l = {.p = p};
  tp_planner few = {0};
  p->is_cut_short = true;
  p->heeds_clock = p->is_given_up = false;
  tp__clock_extend(p->clock, GRACE);
  tp_status status = open(&l) && choose_few(&l) == TP_OK ? TP_OK : out_of_memory(p);
  tp__clock_extend(p->clock, GRACE);
  if (status == TP_OK)
    status = plan_few(&l, &few);
  if (status == TP_OK)
    status = improve(&l, &few);
  if (status == TP_OK) {
    p->cost = few.cost;
    p->method = few.method;
    p->width = few.width;
    p->work += few.work;
    p->overlapped = few.overlapped;
    tp__planner_take(p, &few);
    p->bound = bound < p->cost ? bound : p->cost;
  }
  tp__planner_drop(&few);
  return status;
}
