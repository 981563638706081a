/* Memory use under a limit that does not depend on reshard placement. */
#include "passes/propagate/limits/route_stations.h"
#include "passes/propagate/model/storage.h"

#include <inttypes.h>

const tp_rule *tp__route_rule(const tp_planner *p, const tp_planned_value *v) {
  const tp_node *node = &p->problem.nodes[v->node];
  return node->kind == TP_NODE_OP ? p->problem.graph.items[node->index].rule : NULL;
}

/* ---- memory held all the time ---- */

static int64_t number_bytes(MlirType type) {
  return tp__is_tensor(type) ? 0 : tp__element_size(type);
}

tp_status tp__hold_fixed(struct tp_routes *r) {
  const tp_planner *p = r->p;
  int64_t constants;
  TP_TRY(tp__constant_bytes(p->problem.graph.func, &constants));
  r->fixed_bytes += constants;
  MlirType type = tp__func_type(p->problem.graph.func);
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(type); i++)
    r->fixed_bytes += number_bytes(mlirFunctionTypeGetInput(type, i));
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumResults(type); i++)
    r->fixed_bytes += number_bytes(mlirFunctionTypeGetResult(type, i));
  if (r->fixed_bytes <= p->limits.memory)
    return TP_OK;
  return tp__error(p->problem.graph.func, TP_INFEASIBLE,
                   "memory-limit: a device may hold %" PRId64
                   " bytes, and no plan fits: the constants of the function take %" PRId64
                   " on every device, and its scalar arguments and results %" PRId64
                   "; raise the limit, or shard constants that are smaller, too, with a "
                   "smaller shard-constants",
                   p->limits.memory, constants, r->fixed_bytes - constants);
}

tp_status tp__hold_boundary(struct tp_routes *r) {
  tp_planner *p = r->p;
  int64_t end = 2 * (int64_t)r->timeline.n + 1;
  tp_status status = TP_OK;
  for (size_t k = 0; k < p->problem.n_values && status == TP_OK; k++) {
    const tp_planned_value *v = &p->problem.values[k];
    if (p->problem.nodes[v->node].kind == TP_NODE_ARG)
      status = tp__hold_output(r, v->node, v, 0, end);
    for (int u = 0; u < v->n_uses && status == TP_OK; u++)
      if (p->problem.nodes[v->uses[u].node].kind == TP_NODE_RESULT) {
        tp_planned_value result = *v;
        result.output = 0;
        status = tp__hold_output(r, v->uses[u].node, &result, 0, end);
      }
  }
  return status;
}

static bool lies_in_result(const struct tp_routes *r, const tp_carried *c) {
  bool lies = false;
  for (int i = 0; i < c->n_values; i++)
    lies |= r->since[tp__planned_value(r->p, c->values[i]) - r->p->problem.values] >= 0;
  return lies;
}

tp_status tp__hold_carried(struct tp_routes *r) {
  tp_planner *p = r->p;
  tp_status status = TP_OK;
  for (size_t k = 0; k < p->problem.n_values && status == TP_OK; k++) {
    tp_planned_value *v = &p->problem.values[k];
    tp_node *node = &p->problem.nodes[v->node];
    if (node->kind != TP_NODE_CARRIED || r->usages[v->node].n > 0)
      continue;
    const tp_item *item = &p->problem.graph.items[node->index];
    if (tp__carried_is_passed_on(item, node->slot) || lies_in_result(r, &item->carried[node->slot]))
      continue;
    int loop = tp__timeline_number(&r->timeline, item->op), last = r->timeline.moments[loop].end;
    for (int i = 0; i < item->carried[node->slot].n_values; i++) {
      const tp_planned_value *one = tp__planned_value(p, item->carried[node->slot].values[i]);
      for (int u = 0; one && !mlirOperationIsNull(tp__defining_op(one->value)) && u < one->n_uses;
           u++) {
        int until = r->until[tp__timeline_anchor(&r->timeline, one->value, one->uses[u].op)];
        last = until > last ? until : last;
      }
    }
    bool is_used = last > r->timeline.moments[loop].end;
    status =
        tp__hold_output(r, v->node, v, 2 * (int64_t)loop, 2 * (int64_t)last + (is_used ? 1 : 2));
  }
  return status;
}

/* ---- while an op runs ---- */

/* Holds the bytes that `of` returns for each strategy of the op that makes value `k`, from op
 * `from` to op `to`. */
static tp_status hold_inside(struct tp_routes *r, int k,
                             int64_t (*of)(const tp_planner *, const tp_rule *,
                                           const tp_strategy *),
                             int64_t from, int64_t to) {
  tp_planner *p = r->p;
  const tp_planned_value *v = &p->problem.values[k];
  const tp_node *node = &p->problem.nodes[v->node];
  int64_t *bytes = tp__calloc((size_t)node->n + 1, sizeof *bytes);
  if (!bytes)
    return tp__plan_no_memory(p);
  for (int s = 0; s < node->n; s++)
    bytes[s] = of(p, tp__route_rule(p, v), &node->strategies[s]);
  tp_status status = tp__hold_space(r, k, v->node, bytes, 2 * from, 2 * to + 1);
  tp__free(bytes);
  return status;
}

tp_status tp__hold_workspaces(struct tp_routes *r) {
  tp_planner *p = r->p;
  size_t n_values = p->problem.n_values;
  tp_status status = TP_OK;
  for (size_t k = 0; k < n_values && status == TP_OK; k++) {
    const tp_planned_value *v = &p->problem.values[k];
    const tp_rule *rule = tp__route_rule(p, v);
    if (!rule || v->output > 0)
      continue;
    int64_t at = r->timeline.values[k].maker;
    status = hold_inside(r, (int)k, tp__workspace, at, at);
    if (status == TP_OK && rule->ring.factors)
      status = hold_inside(r, (int)k, tp__ring_bytes, at,
                           tp__timeline_number(&r->timeline, rule->ring.last));
  }
  return status;
}
