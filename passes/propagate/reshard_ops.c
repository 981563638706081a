/* Writes the reshards of a plan as shard.shard ops.
 *
 * A reshard to a smaller layout runs right behind the producer. A reshard to a larger layout, or of
 * a value that stays in memory anyway (an argument of the function or of a loop), runs in front of
 * the first op that uses it. So the larger layout is held for the shortest time. A value from
 * outside a loop is resharded outside of it. */
#include "passes/propagate/limits/routes.h"
#include "passes/propagate/report/plan_report.h"
#include "rules/shift.h"

#include <limits.h>
#include <stdlib.h>

/* A use, the op in front of which its reshard may be placed, and the program order of that op. */
typedef struct placed_use {
  const tp_use *use;
  MlirOperation anchor;
  int order;
} placed_use;

static int by_order(const void *a, const void *b) {
  const placed_use *x = a, *y = b;
  if (x->order != y->order)
    return x->order < y->order ? -1 : 1;
  return (x->use > y->use) - (x->use < y->use);
}

/* The copies of one value created so far, by layout. */
typedef struct copies {
  tp_planner *p;
  const tp_planned_value *v;
  int n;
  tp_spec specs[64];
  MlirValue values[64];
} copies;

static tp_cost reshard_cost(const copies *c, tp_spec from, tp_spec to) {
  return tp_reshard_cost(c->p->problem.reshards, from, to, c->v->rank, c->v->shape,
                         c->v->element_size);
}

/* The op behind the producer, or the first op of the block whose argument the value is. */
static MlirOperation behind(MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  return mlirOperationIsNull(op) ? mlirBlockGetFirstOperation(mlirBlockArgumentGetOwner(value))
                                 : mlirOperationGetNextInBlock(op);
}

static int64_t bytes_in(const copies *c, tp_spec spec) { return tp__value_bytes(c->p, c->v, spec); }

/* The copy with the cheapest reshard to `spec`. */
static int cheapest(const copies *c, tp_spec spec) {
  int best = 0;
  for (int i = 1; i < c->n; i++)
    if (reshard_cost(c, c->specs[i], spec) < reshard_cost(c, c->specs[best], spec))
      best = i;
  return best;
}

/* The execution time of one run of a reshard of `v`. */
static tp_cost run_time(const tp_plan_problem *problem, const tp_planned_value *v, tp_spec from,
                        tp_spec to) {
  tp_reshard path;
  if (tp_reshard_path(problem->reshards, from, to, v->rank, v->shape, v->element_size, &path) !=
      TP_OK)
    return 0;
  tp_cost time = 0;
  for (int i = 0; i < path.n_steps; i++)
    time = tp_cost_add(time, tp_step_cost(problem->mesh, problem->machine, &path, i, v->rank,
                                          v->shape, v->element_size));
  return time;
}

/* The execution time of the reshard that `op` is, each time that the program runs. Equal reshards
 * are priced once; without memory for that they are priced again. */
static tp_cost reshard_time(const copies *c, tp_spec from, tp_spec to, MlirOperation op) {
  const tp_planned_value *v = c->v;
  tp_plan_problem *problem = &c->p->problem;
  tp_memo_key key;
  key.n = 0;
  tp__memo_key_add(&key, (int64_t)from.bits);
  tp__memo_key_add(&key, (int64_t)to.bits);
  tp__memo_key_add(&key, v->element_size);
  for (int d = 0; d < v->rank; d++)
    tp__memo_key_add(&key, v->shape[d]);
  void **slot = tp__memo(&c->p->reshard_times, problem->arena, key.words, key.n);
  tp_cost *kept = slot ? *slot : NULL, time = kept ? *kept : run_time(problem, v, from, to);
  if (slot && !kept && (kept = *slot = tp__arena_alloc(problem->arena, sizeof *kept)))
    *kept = time;
  return tp__cost_times(time, tp__func_graph_trips(&problem->graph, mlirOperationGetResult(op, 0)));
}

static void record_reshard(const copies *c, int use, tp_spec from, tp_spec to, MlirOperation op) {
  c->p->result.reshards = tp_cost_add(c->p->result.reshards, reshard_time(c, from, to, op));
  if (c->p->report)
    tp__report_reshard(c->p, c->v, use, from, to, op);
}

/* Inserts a reshard of `from` in front of `where`. Its attributes are cached by layout; without
 * memory for the cache they are rebuilt. */
static MlirValue insert_reshard(const copies *c, MlirOperation where, MlirLocation location,
                                MlirValue from, tp_spec spec) {
  tp_planner *p = c->p;
  int64_t key[] = {(int64_t)spec.bits, c->v->rank};
  void **slot = tp__memo(&p->layout_changes, p->problem.arena, key, TP_LEN(key));
  tp_reshard_attrs *kept = slot ? *slot : NULL;
  if (slot && !kept)
    kept = *slot = tp__arena_alloc(p->problem.arena, sizeof *kept);
  if (!kept)
    return tp__build_reshard(where, location, from, p->problem.mesh, (tp_annotation){.spec = spec});
  if (mlirTypeIsNull(kept->type))
    *kept = tp__reshard_attrs(p->problem.pass->context, p->problem.mesh, c->v->rank,
                              (tp_annotation){.spec = spec});
  return tp__insert_reshard(where, location, from, kept);
}

/* A reshard has the place of its reader. The place of func.return is that of the whole function, or
 * of the tool that traced it: a reshard of a result has the place of what makes the value. */
static MlirLocation place_of_reshard(MlirOperation reader, MlirValue value) {
  return mlirValueIsAOpResult(value) && tp__op_is(reader, "func.return")
             ? mlirValueGetLocation(value)
             : mlirOperationGetLocation(reader);
}

/* Returns the value in layout `spec` for a use (if `shared`, for several uses), available from its
 * anchor on. */
static MlirValue changed(copies *c, tp_spec spec, const placed_use *at, bool shared) {
  int best = cheapest(c, spec);
  if (tp_spec_equal(c->specs[best], spec))
    return c->values[best];
  MlirValue from = c->values[best];
  MlirLocation location = place_of_reshard(at->use->op, c->v->value);
  bool stays = c->p->problem.nodes[c->v->node].kind != TP_NODE_OP &&
               c->p->problem.nodes[c->v->node].kind != TP_NODE_LAYOUT;
  bool late = (stays && best == 0) || bytes_in(c, spec) > bytes_in(c, c->specs[best]);
  MlirOperation where = late ? at->anchor : behind(from);
  MlirValue value = insert_reshard(c, where, location, from, spec);
  record_reshard(c, shared ? -1 : (int)(at->use - c->v->uses), c->specs[best], spec,
                 mlirOpResultGetOwner(value));
  if (c->n < TP_LEN(c->specs)) {
    c->specs[c->n] = spec;
    c->values[c->n++] = value;
  }
  return value;
}

typedef struct capture {
  MlirValue from, to;
} capture;

static tp_status rewire_captured(MlirOperation op, void *data) {
  const capture *c = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (mlirValueEqual(mlirOperationGetOperand(op, i), c->from))
      mlirOperationSetOperand(op, i, c->to);
  return TP_OK;
}

static void rewire(const tp_planned_value *v, const tp_use *use, MlirValue value) {
  capture c = {v->value, value};
  if (mlirValueEqual(value, v->value))
    return;
  if (use->operand < 0) {
    tp__walk(use->op, rewire_captured, &c);
    return;
  }
  MlirOperation in_place = tp__read_in_place(use->op, use->operand);
  if (mlirOperationIsNull(in_place)) {
    mlirOperationSetOperand(use->op, use->operand, value);
    return;
  }
  if (tp__op_is(in_place, "tensor.extract_slice")) {
    tp__shift_rewire(use->op, value);
    return;
  }
  mlirOperationSetOperand(in_place, 0, value);
  mlirOperationMoveBefore(in_place, use->op); /* the reshard may stand behind the pad */
}

/* A constraint (shard.shard) reshards by itself, from the copy that makes it cheapest. */
static bool reshards_itself(const tp_planner *p, const tp_use *use) {
  return p->problem.nodes[use->node].kind == TP_NODE_LAYOUT;
}

/* The first of the uses that take the shared copy; -1 if no use takes it, or only one that can
 * reshard directly. To rows of groups there is a direct way only from whole rows. */
static int first_sharing(const copies *c, tp_spec shared, const placed_use *uses) {
  int users = 0, first = -1;
  bool is_needed = false;
  for (int u = 0; u < c->v->n_uses; u++) {
    tp_spec want = tp__plan_wanted(c->p, uses[u].use);
    tp_cost direct = reshard_cost(c, c->specs[0], want);
    if (tp_spec_equal(want, c->specs[0]) || reshard_cost(c, shared, want) >= direct)
      continue;
    first = users++ ? first : u;
    is_needed |= direct >= TP_COST_FORBIDDEN;
  }
  return users > 1 || is_needed ? first : -1;
}

static MlirValue constrained(const copies *c, tp_spec spec, const tp_use *use) {
  int best = cheapest(c, spec);
  if (!tp_spec_equal(c->specs[best], spec))
    record_reshard(c, (int)(use - c->v->uses), c->specs[best], spec, use->op);
  return c->values[best];
}

/* True if every use takes the producer's layout, as for most values. */
static bool stays(const tp_planner *p, const tp_planned_value *v) {
  tp_spec produced = tp__plan_produced(p, v);
  for (int u = 0; u < v->n_uses; u++)
    if (!tp_spec_equal(tp__plan_wanted(p, &v->uses[u]), produced))
      return false;
  return true;
}

/* ---- placement of reshards ---- */

/* Maps control-flow ops to their items. */
static tp_status number_regions(const tp_planner *p, tp_value_table *regions) {
  tp_status status = TP_OK;
  for (int i = 0; i < p->problem.graph.n_items && status == TP_OK; i++)
    if (p->problem.graph.items[i].kind == TP_ITEM_REGION)
      status = tp__table_put(regions, p->problem.graph.items[i].op.ptr, i);
  return status == TP_OK ? TP_OK : tp__out_of_memory(p->problem.graph.func);
}

/* Places a use in the block of the value: at the op that uses it or that encloses the user. Items
 * have program order; terminators come after all items. */
static placed_use place(const tp_planner *p, const tp_value_table *regions, MlirBlock block,
                        const tp_use *use) {
  MlirOperation op = use->op;
  while (!mlirBlockEqual(mlirOperationGetBlock(op), block))
    op = mlirOperationGetParentOperation(op);
  const tp_node *node = &p->problem.nodes[use->node];
  bool is_item =
      mlirOperationEqual(op, use->op) && (node->kind == TP_NODE_OP || node->kind == TP_NODE_LAYOUT);
  int region = is_item ? -1 : tp__table_get(regions, op.ptr);
  return (placed_use){use, op, is_item ? node->index : region >= 0 ? region : INT_MAX};
}

static tp_status write_value(tp_planner *p, const tp_value_table *regions,
                             const tp_planned_value *v) {
  if (stays(p, v))
    return TP_OK;
  copies c = {.p = p, .v = v, .n = 1, .specs = {tp__plan_produced(p, v)}, .values = {v->value}};
  placed_use *uses = tp__calloc((size_t)v->n_uses + 1, sizeof *uses);
  if (!uses)
    return tp__out_of_memory(p->problem.graph.func);
  MlirBlock block = tp__block_of(v->value);
  for (int u = 0; u < v->n_uses; u++)
    uses[u] = place(p, regions, block, &v->uses[u]);
  qsort(uses, (size_t)v->n_uses, sizeof *uses, by_order);
  tp_spec shared =
      v->copy >= 0 ? p->problem.nodes[v->copy].in[p->problem.nodes[v->copy].chosen] : c.specs[0];
  int first = first_sharing(&c, shared, uses);
  for (int u = 0; u < v->n_uses; u++) {
    const tp_use *use = uses[u].use;
    /* not earlier: copies made for preceding uses may be cheaper to start from */
    if (u == first)
      changed(&c, shared, &uses[u], true);
    tp_spec spec = tp__plan_wanted(p, use);
    rewire(v, use,
           reshards_itself(p, use) ? constrained(&c, spec, use)
                                   : changed(&c, spec, &uses[u], false));
  }
  tp__free(uses);
  return TP_OK;
}

/* ---- under a memory limit: reshards at the stations of the route ---- */

static bool is_resharded(const tp_planner *p, const tp_station *s) {
  const tp_node *node = &p->problem.nodes[s->node];
  return node->station_strategies[node->chosen].changed;
}

static tp_spec layout_at(const tp_planner *p, const tp_planned_value *v, const tp_route *route,
                         int station) {
  if (station < 0)
    return tp__plan_produced(p, v);
  const tp_node *node = &p->problem.nodes[route->stations[station].node];
  return node->in[node->chosen];
}

/* True if another reshard of the value makes the same layout. Such reshards must stay separate:
 * merging them would extend the live range from the first to the last use. */
static bool is_repeated(const tp_planner *p, const tp_planned_value *v, const tp_route *route,
                        int station) {
  for (int i = 0; i < route->n_stations; i++)
    if (i != station && is_resharded(p, &route->stations[i]) && !route->stations[i].in_op &&
        tp_spec_equal(layout_at(p, v, route, i), layout_at(p, v, route, station)))
      return true;
  return false;
}

static MlirValue pass_station(copies *c, const tp_route *route, int station, MlirValue from) {
  tp_planner *p = c->p;
  const tp_station *s = &route->stations[station];
  tp_spec before = layout_at(p, c->v, route, s->before), after = layout_at(p, c->v, route, station);
  int use = 0, n = 0;
  if (!is_resharded(p, s))
    return from;
  for (int u = c->v->n_uses; u-- > 0;)
    for (int at = route->of_use[u]; at >= 0; at = route->stations[at].before)
      if (at == station) {
        use = u;
        n++;
      }
  MlirOperation op = c->v->uses[use].op;
  MlirValue to = from;
  if (!s->in_op) {
    to = insert_reshard(
        c, s->anchor >= 0 ? tp__routes_op(p->routes, 2 * (int64_t)s->anchor) : behind(from),
        place_of_reshard(op, c->v->value), from, after);
    op = mlirOpResultGetOwner(to);
    if (is_repeated(p, c->v, route, station))
      tp__set(op, "tp.copy", tp__attr_i64(p->problem.pass->context, station));
  }
  record_reshard(c, n > 1 ? -1 : use, before, after, op);
  return to;
}

static tp_status write_route(tp_planner *p, const tp_planned_value *v, const tp_route *route) {
  copies c = {.p = p, .v = v};
  MlirValue *values = tp__calloc((size_t)route->n_stations + 1, sizeof *values);
  if (!values)
    return tp__out_of_memory(p->problem.graph.func);
  for (int i = 0; i < route->n_stations; i++) /* in order, so that the source of each exists */
    values[i] = pass_station(
        &c, route, i, route->stations[i].before < 0 ? v->value : values[route->stations[i].before]);
  for (int u = 0; u < v->n_uses; u++)
    rewire(v, &v->uses[u], values[route->of_use[u]]);
  tp__free(values);
  return TP_OK;
}

tp_status tp__write_reshards(tp_planner *p) {
  tp_value_table regions = {0};
  tp_status status = number_regions(p, &regions);
  for (size_t i = 0; i < p->problem.n_values && status == TP_OK; i++)
    status =
        p->routes && tp__route(p->routes, &p->problem.values[i])->n_stations > 0
            ? write_route(p, &p->problem.values[i], tp__route(p->routes, &p->problem.values[i]))
            : write_value(p, &regions, &p->problem.values[i]);
  tp__table_destroy(&regions);
  return status;
}
