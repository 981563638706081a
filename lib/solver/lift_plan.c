/* Solves the quotient of a graph: one node per class of equal nodes, one edge per bundle of equal
 * edges. Its assignment, given to every node of each class, is the plan of the whole graph. */
#include "solver/lift_plan.h"

#include "solver/lift_classes.h"
#include "support/support.h"

enum {
  RADIUS = 3,   /* of the surroundings that make nodes equal, in edges */
  REPEATED = 4, /* least average number of nodes per class */
  SHARE = 8     /* 1/SHARE of the work that is left may go to the classes */
};

/* count * cost; forbidden if that is too much. */
static tp_cost times(tp_cost cost, int64_t count) {
  return cost < TP_COST_FORBIDDEN / count ? cost * count : TP_COST_FORBIDDEN;
}

/* Edges of one class that connect the same classes of nodes. Near the borders of what repeats, an
 * edge may connect other ones than those of its class farther inside. */
typedef struct bundle {
  int edge; /* one of them */
  int64_t count;
} bundle;

static bool is_alike(const tp__wcsp *g, const tp__lift_classes *c, int a, int b) {
  const int *x = g->edges[a].node, *y = g->edges[b].node;
  return c->node_class[x[0]] == c->node_class[y[0]] && c->node_class[x[1]] == c->node_class[y[1]];
}

/* Fills in the bundle of each class of edges: that of its middle one. Returns how many other edges
 * there are; `others` lists them. */
static int bundle_edges(const tp__wcsp *g, const tp__lift_classes *c, bundle *bundles,
                        int *others) {
  int n_others = 0;
  for (int e = 0; e < g->n_edges; e++) {
    bundle *b = g->edges[e].node[0] < 0 ? NULL : &bundles[c->edge_class[e]];
    if (b && ++b->count == c->edges[c->edge_class[e]].count / 2 + 1)
      b->edge = e;
  }
  for (int e = 0; e < g->n_edges; e++) {
    bundle *b = g->edges[e].node[0] < 0 ? NULL : &bundles[c->edge_class[e]];
    if (!b || is_alike(g, c, e, b->edge))
      continue;
    others[n_others++] = e;
    b->count--;
  }
  return n_others;
}

static tp_status add_nodes(const tp__lift_classes *c, tp__wcsp *q) {
  for (int k = 0; k < c->n_nodes; k++) {
    const tp__lift_nodes *v = &c->nodes[k];
    tp_cost *cost = tp__pool_alloc(&q->pool, (size_t)v->n, sizeof *cost);
    if (!cost)
      return TP_NO_MEMORY;
    for (int x = 0; x < v->n; x++)
      cost[x] = times(v->cost[x], v->count);
    TP_TRY(tp__wcsp_adopt_node(q, k, v->n, cost));
  }
  return TP_OK;
}

/* Adds a bundle of edges. Nodes of one class take the same strategy, so tables between them are
 * costs of the class. */
static tp_status add_bundle(const tp__wcsp *g, const tp__lift_classes *c, bundle b, tp_cost *table,
                            tp__wcsp *q) {
  const tp__wedge *edge = &g->edges[b.edge];
  int k = c->node_class[edge->node[0]], l = c->node_class[edge->node[1]];
  size_t rows = (size_t)q->nodes[k].n, columns = (size_t)q->nodes[l].n;
  for (size_t i = 0; i < rows * columns; i++)
    table[i] = times(edge->table[i], b.count);
  if (k != l)
    return tp__wcsp_connect(q, k, l, table, columns, 1);
  for (size_t x = 0; x < rows; x++)
    q->nodes[k].cost[x] = tp_cost_add(q->nodes[k].cost[x], table[x * columns + x]);
  return TP_OK;
}

static tp_status add_edges(const tp__wcsp *g, const tp__lift_classes *c, tp__wcsp *q) {
  size_t most = 1;
  for (int e = 0; e < c->n_edges; e++) {
    size_t n = (size_t)c->edges[e].rows * (size_t)c->edges[e].columns;
    most = n > most ? n : most;
  }
  tp_cost *table = tp__malloc(most * sizeof *table);
  bundle *bundles = tp__calloc((size_t)c->n_edges + 1, sizeof *bundles);
  int *others = tp__malloc((size_t)g->n_edges * sizeof *others + 1);
  tp_status status = table && bundles && others ? TP_OK : TP_NO_MEMORY;
  int n_others = status == TP_OK ? bundle_edges(g, c, bundles, others) : 0;
  for (int e = 0; e < c->n_edges && status == TP_OK; e++)
    status = add_bundle(g, c, bundles[e], table, q);
  for (int i = 0; i < n_others && status == TP_OK; i++)
    status = add_bundle(g, c, (bundle){others[i], 1}, table, q);
  tp__free(table);
  tp__free(bundles);
  tp__free(others);
  return status;
}

/* Builds the problem of one strategy per class. NULL if memory runs out. */
static tp__wcsp *build(const tp__wcsp *g, const tp__lift_classes *c) {
  tp__wcsp *q = tp__wcsp_create(c->n_nodes);
  if (q && add_nodes(c, q) == TP_OK && add_edges(g, c, q) == TP_OK)
    return q;
  tp__wcsp_destroy(q);
  return NULL;
}

static tp_status plan(tp__search *s, const tp__wcsp *g, const tp__lift_classes *c, int *at,
                      bool *found) {
  tp__wcsp *q = build(g, c);
  tp__answer answer = {.cost = TP_COST_FORBIDDEN};
  answer.choices = tp__calloc((size_t)c->n_nodes + 1, sizeof *answer.choices);
  int64_t whole_limit = s->work_limit;
  s->work_limit = s->work + (whole_limit - s->work) / SHARE;
  s->nested++;
  tp_status status =
      q && answer.choices ? tp__wcsp_search(s, q, TP_COST_FORBIDDEN, 1, &answer) : TP_NO_MEMORY;
  s->nested--;
  s->work_limit = whole_limit;
  *found = status == TP_OK && answer.cost < TP_COST_FORBIDDEN;
  for (int v = 0; v < g->n_nodes && *found; v++)
    if (g->nodes[v].alive)
      at[v] = answer.choices[c->node_class[v]];
  tp__free(answer.choices);
  tp__wcsp_destroy(q);
  return status;
}

tp_status tp__lift_plan(tp__search *s, const tp__wcsp *g, int *at, bool *found) {
  tp__pool pool = {0};
  tp__lift_classes classes;
  *found = false;
  tp_status status = tp__lift_classify(g, RADIUS, &pool, &classes);
  if (status == TP_OK && classes.n_nodes <= g->n_alive / REPEATED)
    status = plan(s, g, &classes, at, found);
  tp__pool_release(&pool);
  return status;
}
