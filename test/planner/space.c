/* Enumerates all plans of a small program: its values, its decisions, and how they depend. */
#include "space_choices.h"

#include "passes/propagate/model/planner.h"

#include <string.h>

enum { MAX_DECISIONS = 256 };

/* ---- The program ---- */

static value *add_value(space *s, MlirValue at, int maker, int output) {
  value *v = &s->values[s->n_values];
  *v = (value){.decision = maker, .output = output, .trips = tp__func_graph_trips(&s->graph, at)};
  tp__static_tensor(mlirValueGetType(at), &v->rank, v->shape);
  v->element_size = tp__element_size(tp__element_type(mlirValueGetType(at)));
  tp__table_put(&s->table, at.ptr, s->n_values++);
  return v;
}

static bool add_argument(space *s, int i) {
  MlirValue arg =
      mlirBlockGetArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(s->graph.func, 0)), i);
  tp_annotation pin = {0};
  bool pinned;
  if (!tp__is_tensor(mlirValueGetType(arg)))
    return true;
  if (tp__func_graph_arg(&s->graph, i, &pin, &pinned) != TP_OK)
    return false;
  value *v = add_value(s, arg, -1, 0);
  v->index = i;
  v->argument = list_layouts(s, v, pin.spec, pinned ? pin.open : UINT32_MAX, 0);
  return true;
}

static bool add_carried(space *s, const tp_item *item, const tp_carried *c) {
  tp_annotation pin = {0};
  bool pinned;
  if (tp__func_graph_carried(&s->graph, item->op, c, &pin, &pinned) != TP_OK ||
      s->n_decisions == MAX_DECISIONS)
    return false;
  if (c->differs)
    pin = (tp_annotation){0};
  value *v = NULL;
  for (int i = 0; i < c->n_values; i++)
    v = add_value(s, c->values[i], s->n_decisions, 0);
  space_decide_layout(s, v, pin.spec,
                      c->differs ? 0
                      : pinned   ? pin.open
                                 : UINT32_MAX,
                      AT_CARRIED, &s->decisions[s->n_decisions++]);
  return true;
}

static bool add_item(space *s, const tp_item *item) {
  decision *d = &s->decisions[s->n_decisions];
  tp_annotation pin = {0};
  bool pinned, ok = true;
  if (s->n_decisions == MAX_DECISIONS)
    return false;
  switch (item->kind) {
  case TP_ITEM_OP:
    ok = space_decide_op(s, item->rule, d);
    for (int k = 0; k < d->n; k++)
      d->choices[k].cost = (tp_cost)((double)d->choices[k].cost * item->trips);
    for (int i = 0; i < item->rule->n_results; i++)
      if (item->rule->results[i].is_tensor)
        add_value(s, item->rule->results[i].value, s->n_decisions, i)->in_blocks =
            item->rule->results[i].in_blocks;
    s->n_decisions++;
    return ok;
  case TP_ITEM_LAYOUT:
    if (tp__func_graph_op(&s->graph, item->op, 0, &pin, &pinned) != TP_OK || !pinned)
      return false;
    space_decide_layout(s, add_value(s, mlirOperationGetResult(item->op, 0), s->n_decisions, 0),
                        pin.spec, pin.open, AT_LAYOUT, d);
    d->op = item->op;
    s->n_decisions++;
    return true;
  case TP_ITEM_REGION:
    for (int k = 0; k < item->n_carried && ok; k++)
      ok = add_carried(s, item, &item->carried[k]);
    return ok;
  case TP_ITEM_RETURN:
    return true;
  }
  return false;
}

static bool add_use(space *s, MlirValue at, use u) {
  int i = tp__table_get(&s->table, at.ptr);
  if (i < 0 || s->values[i].n_uses == MAX_USES)
    return false;
  s->values[i].uses[s->values[i].n_uses++] = u;
  return true;
}

static bool add_results(space *s, MlirOperation ret) {
  bool ok = true;
  for (int i = 0; i < s->graph.n_results && ok; i++) {
    MlirValue at = mlirOperationGetOperand(ret, i);
    tp_annotation pin = {0};
    bool pinned;
    if (!tp__is_tensor(mlirValueGetType(at)))
      continue;
    layouts *all = tp__arena_alloc(s->arena, sizeof *all);
    if (tp__func_graph_result(&s->graph, i, &pin, &pinned) != TP_OK)
      return false;
    *all = list_layouts(s, &s->values[tp__table_get(&s->table, at.ptr)], pin.spec,
                        pinned ? pin.open : UINT32_MAX, 0);
    ok = add_use(s, at, (use){.decision = -1, .index = i, .result = all});
  }
  return ok;
}

static bool add_uses(space *s) {
  bool ok = true;
  int d = 0; /* decisions are in the order of the items */
  for (int i = 0; i < s->graph.n_items && ok; i++) {
    const tp_item *item = &s->graph.items[i];
    if (item->kind == TP_ITEM_OP) {
      for (int o = 0; o < item->rule->n_operands && ok; o++)
        if (item->rule->operands[o].is_tensor && !item->rule->operands[o].is_unused)
          ok = add_use(s, item->rule->operands[o].value, (use){.decision = d, .input = o});
      d++;
    } else if (item->kind == TP_ITEM_LAYOUT) {
      ok = add_use(s, mlirOperationGetOperand(item->op, 0), (use){.decision = d++});
    } else if (item->kind == TP_ITEM_RETURN) {
      ok = add_results(s, item->op);
    } else {
      for (int k = 0; k < item->n_carried && ok; k++, d++)
        for (int u = 0; u < item->carried[k].n_uses && ok; u++)
          ok = add_use(s,
                       mlirOperationGetOperand(item->carried[k].uses[u].op,
                                               item->carried[k].uses[u].operand),
                       (use){.decision = d});
    }
  }
  return ok;
}

static tp_status collect_readers(MlirOperation op, void *ops) {
  bool takes = tp__op_is(op, "tensor.pad") || tp__op_is(op, "tensor.concat");
  return takes ? tp__op_list_add(ops, op) : TP_OK;
}

bool space_take_in_place(MlirOperation func, tp__arena *arena) {
  tp_op_list ops = {0};
  tp_status status = tp__walk_outside(func, collect_readers, &ops);
  if (status == TP_OK)
    status = tp__take_in_place(&ops, arena);
  tp__free(ops.items);
  return status == TP_OK;
}

bool space_read(MlirOperation func, const tp_mesh *mesh, const tp_topology *topology,
                bool mixes_sub_axes, tp__arena *arena, space *s) {
  *s =
      (space){.mesh = mesh, .topology = topology, .mixes_sub_axes = mixes_sub_axes, .arena = arena};
  if (tp__func_graph_read(func, mesh, false, NULL, NULL, arena, &s->graph) != TP_OK ||
      tp__mark_attention(&s->graph, s->topology->attention_features) != TP_OK)
    return false;
  size_t n_values = (size_t)s->graph.n_args + 1;
  for (int i = 0; i < s->graph.n_items; i++)
    n_values += 2 * (size_t)(mlirOperationGetNumResults(s->graph.items[i].op) +
                             s->graph.items[i].n_carried);
  s->decisions = tp__arena_array(arena, MAX_DECISIONS, sizeof *s->decisions);
  s->values = tp__arena_array(arena, n_values, sizeof *s->values);
  bool ok = s->decisions && s->values;
  for (int i = 0; i < s->graph.n_args && ok; i++)
    ok = add_argument(s, i);
  for (int i = 0; i < s->graph.n_items && ok; i++)
    ok = add_item(s, &s->graph.items[i]);
  return ok && add_uses(s);
}

/* ---- Arguments and results as decisions ---- */

static decision boundary_decision(const space *s, const value *v, const layouts *all, int index,
                                  site at) {
  decision d = {.at = at,
                .index = index,
                .rank = v->rank,
                .n_in = at == AT_RESULT,
                .n_out = at == AT_ARGUMENT,
                .n = all->n};
  d.choices = tp__arena_array(s->arena, (size_t)all->n + 1, sizeof *d.choices);
  for (int i = 0; i < all->n; i++)
    d.choices[i] = (choice){
        .beyond = all->n == 1 ? 0 : all->beyond[i],
        .held = tp_spec_local_elements(s->mesh, all->specs[i], v->rank, v->shape) * v->element_size,
        .in = &all->specs[i],
        .out = &all->specs[i]};
  return d;
}

static void shift_decisions(space *s, int by) {
  memmove(s->decisions + by, s->decisions, (size_t)s->n_decisions * sizeof *s->decisions);
  s->n_decisions += by;
  for (int v = 0; v < s->n_values; v++) {
    s->values[v].decision += s->values[v].decision < 0 ? 0 : by;
    for (int u = 0; u < s->values[v].n_uses; u++)
      s->values[v].uses[u].decision += s->values[v].uses[u].decision < 0 ? 0 : by;
  }
}

bool space_decide_boundary(space *s) {
  int n_args = 0, n_results = 0;
  for (int v = 0; v < s->n_values; v++) {
    n_args += s->values[v].decision < 0;
    for (int u = 0; u < s->values[v].n_uses; u++)
      n_results += s->values[v].uses[u].decision < 0;
  }
  if (s->n_decisions + n_args + n_results > MAX_DECISIONS)
    return false;
  shift_decisions(s, n_args);
  for (int v = 0, d = 0; v < s->n_values; v++) {
    value *at = &s->values[v];
    if (at->decision < 0) {
      s->decisions[d] = boundary_decision(s, at, &at->argument, at->index, AT_ARGUMENT);
      at->decision = d++;
      at->output = 0;
    }
    for (int u = 0; u < at->n_uses; u++)
      if (at->uses[u].decision < 0) {
        s->decisions[s->n_decisions] =
            boundary_decision(s, at, at->uses[u].result, at->uses[u].index, AT_RESULT);
        at->uses[u].decision = s->n_decisions++;
        at->uses[u].input = 0;
      }
  }
  return true;
}

void space_clear(space *s) {
  tp__table_destroy(&s->table);
  tp__func_graph_destroy(&s->graph);
}
