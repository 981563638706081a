/* Makes copies of planners with fewer strategies. */
#include "passes/propagate/limits/reduced_planner.h"

#include <string.h>

static tp_status copy_values(const tp_planner *p, tp_planner *copy) {
  copy->problem.values =
      tp__arena_array(p->problem.arena, p->problem.n_values + 1, sizeof *copy->problem.values);
  if (!copy->problem.values)
    return TP_NO_MEMORY;
  for (size_t k = 0; k < p->problem.n_values; k++) {
    const tp_planned_value *from = &p->problem.values[k];
    tp_use *uses = tp__arena_array(p->problem.arena, (size_t)from->n_uses + 1, sizeof *uses);
    if (!uses)
      return TP_NO_MEMORY;
    if (from->n_uses > 0)
      memcpy(uses, from->uses, (size_t)from->n_uses * sizeof *uses);
    copy->problem.values[k] = *from;
    copy->problem.values[k].uses = uses;
    copy->problem.values[k].use_capacity = from->n_uses;
  }
  return TP_OK;
}

tp_status tp__planner_copy(const tp_planner *p, tp_planner *copy) {
  *copy = *p;
  copy->problem.nodes = tp__calloc(p->problem.n_nodes + 1, sizeof *copy->problem.nodes);
  copy->problem.node_capacity = p->problem.n_nodes;
  copy->same_edges = copy->forms = (tp_memo){0}; /* the memos that routes and problems add to */
  copy->stated = NULL;
  copy->routes = NULL;
  if (!copy->problem.nodes || copy_values(p, copy) != TP_OK)
    return tp__plan_no_memory(p);
  if (p->problem.n_nodes > 0)
    memcpy(copy->problem.nodes, p->problem.nodes, p->problem.n_nodes * sizeof *p->problem.nodes);
  return TP_OK;
}

static void drop_lists(tp_planner *p) {
  tp__free(p->problem.nodes);
  tp__memo_destroy(&p->same_edges);
  tp__memo_destroy(&p->forms);
  tp_problem_destroy(p->stated);
  tp__routes_destroy(p->routes);
}

void tp__planner_drop(tp_planner *copy) {
  drop_lists(copy);
  *copy = (tp_planner){0};
}

void tp__planner_take(tp_planner *p, tp_planner *copy) {
  drop_lists(p);
  p->problem.nodes = copy->problem.nodes;
  p->problem.n_nodes = copy->problem.n_nodes;
  p->problem.node_capacity = copy->problem.node_capacity;
  p->problem.values = copy->problem.values;
  p->same_edges = copy->same_edges;
  p->forms = copy->forms;
  p->stated = copy->stated;
  p->routes = copy->routes;
  p->kept = copy->kept;
  p->n_cut = copy->n_cut;
  if (p->routes)
    tp__routes_move(p->routes, p);
  *copy = (tp_planner){0};
}

/* ---- strategies ---- */

static int count(const bool *kept, int n) {
  int n_kept = 0;
  for (int s = 0; s < n; s++)
    n_kept += kept[s];
  return n_kept;
}

static tp_status cut_node(tp_planner *p, const bool *kept, tp_node *node) {
  const tp_node from = *node;
  int n = count(kept, from.n);
  if (tp__node_allocate(p, node, n, from.n_in, from.n_out) != TP_OK)
    return TP_NO_MEMORY;
  node->strategies = from.strategies
                         ? tp__arena_array(p->problem.arena, (size_t)n, sizeof *node->strategies)
                         : NULL;
  if (from.strategies && !node->strategies)
    return TP_NO_MEMORY;
  node->n = 0;
  for (int s = 0; s < from.n; s++) {
    if (!kept[s])
      continue;
    memcpy(node->in + node->n * node->n_in, from.in + s * from.n_in,
           (size_t)from.n_in * sizeof *node->in);
    memcpy(node->out + node->n * node->n_out, from.out + s * from.n_out,
           (size_t)from.n_out * sizeof *node->out);
    if (node->strategies)
      node->strategies[node->n] = from.strategies[s];
    node->costs[node->n++] = from.costs[s];
  }
  return TP_OK;
}

/* Equal nodes that are cut equally share their arrays, so that edges between them stay equal. */
static void **find_cut(tp_planner *p, tp_memo *memo, const bool *kept, const tp_node *node) {
  enum { BITS = 60 };
  const void *lists[] = {node->in, node->out, node->costs, node->strategies};
  int64_t key[TP_LEN(lists) + 1 + TP_MAX_STRATEGIES / BITS + 1];
  size_t n = 0;
  for (int k = 0; k < TP_LEN(lists); k++)
    key[n++] = (int64_t)(intptr_t)lists[k];
  key[n++] = node->n;
  for (int s = 0; s < node->n; s += BITS) {
    int64_t bits = 0;
    for (int i = s; i < node->n && i < s + BITS; i++)
      bits |= (int64_t)kept[i] << (i - s);
    key[n++] = bits;
  }
  return tp__memo(memo, p->problem.arena, key, n);
}

tp_status tp__planner_cut(tp_planner *p, const bool *const *kept) {
  tp_memo same = {0};
  tp_status status = TP_OK;
  p->kept = kept;
  for (size_t i = 0; i < p->problem.n_nodes && status == TP_OK; i++) {
    tp_node *node = &p->problem.nodes[i];
    if (count(kept[i], node->n) == node->n)
      continue;
    p->n_cut += node->n - count(kept[i], node->n);
    void **slot = find_cut(p, &same, kept[i], node);
    if (slot && *slot) {
      const tp_node *cut = *slot;
      tp_node own = *node;
      *node = *cut;
      node->index = own.index;
      node->slot = own.slot;
      node->left_out = own.left_out;
      continue;
    }
    status = slot ? cut_node(p, kept[i], node) : TP_NO_MEMORY;
    tp_node *keep = status == TP_OK ? tp__arena_array(p->problem.arena, 1, sizeof *keep) : NULL;
    if (keep) {
      *keep = *node;
      *slot = keep;
    }
    status = keep ? TP_OK : TP_NO_MEMORY;
  }
  tp__memo_destroy(&same);
  return status == TP_OK ? TP_OK : tp__plan_no_memory(p);
}

tp_status tp__planner_restrict(tp_planner *p, int place, const bool *among) {
  size_t n = 1;
  for (size_t i = 0; i < p->problem.n_nodes; i++)
    n = (size_t)p->problem.nodes[i].n > n ? (size_t)p->problem.nodes[i].n : n;
  bool *all = tp__calloc(n, sizeof *all);
  const bool **kept = tp__calloc(p->problem.n_nodes + 1, sizeof(const bool *));
  tp_status status = all && kept ? TP_OK : tp__plan_no_memory(p);
  for (size_t s = 0; status == TP_OK && s < n; s++)
    all[s] = true;
  for (size_t i = 0; status == TP_OK && i < p->problem.n_nodes; i++)
    kept[i] = (int)i == place ? among : all;
  if (status == TP_OK)
    status = tp__planner_cut(p, kept);
  p->kept = NULL;
  p->n_cut = 0;
  p->is_restricted = true;
  tp__free(all);
  tp__free(kept);
  return status;
}

int tp__number_among_all(const bool *kept, int s) {
  int at = 0;
  if (!kept)
    return s;
  for (int left = s; !kept[at] || left-- > 0; at++)
    ;
  return at;
}

bool tp__is_of_routes(const tp_node *node) {
  return node->kind == TP_NODE_CHANGE || node->kind == TP_NODE_HELD || node->kind == TP_NODE_SPACE;
}
