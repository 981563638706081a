/* Builds the routes of values under a memory limit.
 *
 * Time runs in half steps: 2k while op k runs, 2k + 1 just after. Arguments and results of the
 * function and of its loops have memory of their own throughout. Any other value is held by its
 * producer until its next reshard:
 *
 *   producer -> [hold] -> [group] -> use
 *
 * Each arrow is a station that may reshard. The hold keeps a value from its producer to its last
 * use ("save sharded"). A group of nearby uses shares a copy from the first to the last of them
 * ("gather again": there are at most two groups). A use may reshard for itself alone. A station
 * that does not reshard holds nothing. So reshards run as late as possible, and the memory of each
 * strategy of a station is exact, except that reshards in several steps are rounded up to one of a
 * few amounts.
 *
 * A value that is normally not stored (storage.h) is stored if its layout changes on the route;
 * else it extends the live ranges of its operands. If an op overwrites a value, the value is held
 * while the op runs, and the result from then on; if the layout of the value changes, the result is
 * held in addition to the copy. A value in memory that is counted for another value
 * (shared_places.c) holds none, unless its layout changes. */
#include "passes/propagate/limits/route_stations.h"
#include "passes/propagate/model/storage.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_STATIONS_ABOVE_USES = 5, FAR = 3 };

typedef struct placed {
  int use, anchor, until;
  bool is_return;
} placed;

/* ---- routes ---- */

/* True if the value has no buffer unless its layout changes. A value made from no input (fill) is
 * made in the buffer of its overwriting user. A view that the function returns is made in the
 * caller's memory. */
static bool is_unstored(const struct tp_routes *r, const tp_planned_value *v) {
  tp_planner *p = r->p;
  const tp_rule *rule = tp__route_rule(p, v);
  if (!rule || !(rule->is_free ||
                 tp__is_unstored(p, &r->timeline, r->timeline.values[v - p->problem.values].maker)))
    return false;
  bool is_returned = false;
  for (int u = 0; u < v->n_uses; u++)
    is_returned |= p->problem.nodes[v->uses[u].node].kind == TP_NODE_RESULT;
  return !is_returned;
}

static int by_anchor(const void *a, const void *b) {
  const placed *x = a, *y = b;
  if (x->is_return != y->is_return)
    return (int)x->is_return - (int)y->is_return;
  return x->anchor != y->anchor ? (x->anchor < y->anchor ? -1 : 1)
                                : (x->use > y->use) - (x->use < y->use);
}

/* Lists the uses in program order, with the uses by the function's return last. Returns the number
 * of other uses. */
static int place_uses(const struct tp_routes *r, const tp_planned_value *v, placed *uses) {
  int n = 0;
  for (int u = 0; u < v->n_uses; u++) {
    int anchor = tp__timeline_anchor(&r->timeline, v->value, v->uses[u].op);
    bool is_return = r->p->problem.nodes[v->uses[u].node].kind == TP_NODE_RESULT;
    bool starts = tp__op_has_dialect(v->uses[u].op, "scf") &&
                  mlirOperationEqual(v->uses[u].op, r->timeline.moments[anchor].op);
    /* a loop reads its initial value only at its start */
    uses[u] = (placed){u, anchor, starts ? anchor : r->until[anchor], is_return};
    n += !is_return;
  }
  qsort(uses, (size_t)v->n_uses, sizeof *uses, by_anchor);
  return n;
}

static int last_of(const placed *uses, int from, int to, int last) {
  for (int u = from; u < to; u++)
    last = uses[u].until > last ? uses[u].until : last;
  return last;
}

/* Adds a station that uses[from .. to) share. */
static tp_status share(struct tp_routes *r, int value, const placed *uses, int from, int to,
                       tp_station_plan plan, int *station) {
  tp_spec layouts[TP_MAX_STATION_LAYOUTS];
  const tp_planned_value *v = &r->p->problem.values[value];
  int n = tp__add_outputs(r->p, v->node, v->output, layouts, 0);
  for (int u = from; u < to; u++)
    n = tp__add_inputs(r->p, &v->uses[uses[u].use], layouts, n);
  return tp__add_station(r, value, n, layouts, &plan, station);
}

/* Index of the first use behind the widest gap between uses; n if all uses are close together. */
static int second_group(const placed *uses, int n) {
  int at = n, widest = FAR;
  for (int u = 1; u < n; u++)
    if (uses[u].anchor - uses[u - 1].anchor > widest) {
      widest = uses[u].anchor - uses[u - 1].anchor;
      at = u;
    }
  return at;
}

typedef struct life {
  int def;         /* the op that makes the value; -1: none */
  bool has_memory; /* has memory of its own: an argument or a carried value */
  bool is_returned, is_unstored;
  bool is_overwritten;    /* its buffer becomes that of another value in the last op that uses it */
  bool overwrites;        /* it reuses the buffer of another value */
  bool is_stored_changed; /* is_unstored, but stored where its layout changes (not a view) */
  /* first op of the live range of the shared buffer, if no layout changes; `def` if it has its own
   * buffer */
  int since;
  bool is_elsewhere; /* that buffer is counted elsewhere: it belongs to a function result */
} life;

/* Lets a station hold the source of its reshard, if the source would share other memory without the
 * reshard. The source is held until `end`, in half steps. `from`, `to`: the uses behind the
 * station. */
static void hold_source(const struct tp_routes *r, const tp_planned_value *v, const placed *uses,
                        int from, int to, const life *l, int64_t end, tp_station_plan *plan) {
  if (l->is_elsewhere) {
    plan->keeps = false;
    plan->twice = false;
    plan->source_start = 2 * (int64_t)l->since;
    plan->source_end = end;
  }
  for (int u = from; u < to; u++) {
    int loop = tp__passing_loop(r, &v->uses[uses[u].use]);
    if (loop < 0)
      continue;
    plan->source_start = 2 * (int64_t)loop;
    plan->source_end = 2 * (int64_t)r->timeline.moments[loop].end + 2;
  }
}

/* Holds the bytes of the station's result from `start` to `end` if it has changed the layout. */
static tp_status hold_changed(struct tp_routes *r, int value, int station, int64_t start,
                              int64_t end) {
  tp_planner *p = r->p;
  int change = r->routes[value].stations[station].node;
  const tp_node *node = &p->problem.nodes[change];
  const tp_planned_value *v = &p->problem.values[value];
  int64_t *bytes = tp__arena_array(p->problem.arena, (size_t)node->n + 1, sizeof *bytes);
  if (!bytes)
    return tp__plan_no_memory(p);
  for (int s = 0; s < node->n; s++)
    bytes[s] = node->station_strategies[s].changed ? tp__value_bytes(p, v, node->in[s]) : 0;
  return tp__hold_space(r, value, change, bytes, start, end);
}

/* Adds the hold: the layout in which a temporary value is kept from its producer to its last use.
 * *station is the preceding station, and becomes the new one. */
static tp_status add_hold(struct tp_routes *r, int value, const placed *uses, int n, const life *l,
                          int *station) {
  tp_planner *p = r->p;
  int last = last_of(uses, 0, n, l->def), held, top = *station;
  bool stays = l->has_memory || l->is_returned;
  tp_station_plan plan = {
      .before = top, .anchor = -1, .start = 2 * l->def + 1, .end = 2 * l->def + 2};
  if (stays)
    plan = (tp_station_plan){
        .before = top, .anchor = uses[0].anchor, .start = 2 * uses[0].anchor, .end = 2 * last + 1};
  hold_source(r, &p->problem.values[value], uses, 0, n, l,
              stays ? 2 * (int64_t)last + 1 : 2 * (int64_t)l->def + 2, &plan);
  if (!stays && l->is_elsewhere && r->is_sketch) /* counts the resharded value, nothing else */
    plan.end = 2 * (int64_t)last + 1;
  tp_status status = share(r, value, uses, 0, n, plan, station);
  if (status != TP_OK || stays)
    return status;
  if (l->is_elsewhere)
    return r->is_sketch
               ? TP_OK
               : hold_changed(r, value, *station, 2 * (int64_t)l->def + 2, 2 * (int64_t)last + 1);
  tp_planned_value whole = p->problem.values[value];
  whole.output = 0;
  if (r->is_sketch)
    return tp__hold_output(r, r->routes[value].stations[*station].node, &whole, 2 * l->def + 2,
                           2 * last + 1);
  status = tp__routes_node(r, TP_NODE_HELD, value, &held);
  if (status != TP_OK)
    return status;
  const tp_node *change = &p->problem.nodes[r->routes[value].stations[*station].node];
  tp_node *node = &p->problem.nodes[held];
  node->in = node->out = tp__arena_array(p->problem.arena, (size_t)change->n + 1, sizeof *node->in);
  node->costs = tp__arena_array(p->problem.arena, (size_t)change->n + 1, sizeof *node->costs);
  if (!node->in || !node->costs)
    return tp__plan_no_memory(p);
  for (int s = 0; s < change->n; s++)
    node->n = tp__add_distinct(node->in, node->n, change->in[s]);
  node->slot = r->routes[value].stations[*station].node;
  status = tp__hold_output(r, held, &whole, 2 * l->def + 2, 2 * last + 1);
  /* After a reshard, the op that would overwrite the value makes its result in a separate
   * buffer. */
  return status == TP_OK && l->is_overwritten
             ? hold_changed(r, value, *station, 2 * (int64_t)last, 2 * (int64_t)last + 1)
             : status;
}

/* Adds the stations that several uses share; above[u] becomes the station in front of use u. */
static tp_status add_shared(struct tp_routes *r, int value, const placed *uses, int n,
                            const life *l, int top, int *above) {
  tp_status status = TP_OK;
  int first = top, split = second_group(uses, n);
  bool stays = l->has_memory || l->is_returned;
  if (n > 0 && !l->is_unstored &&
      (stays ? n > 1 && split < n : last_of(uses, 0, n, l->def) - l->def > FAR))
    status = add_hold(r, value, uses, n, l, &top);
  for (int u = 0; u < n; u++)
    above[u] = top;
  for (int from = 0; from < n && status == TP_OK; from = from < split ? split : n) {
    int to = from < split ? split : n, station;
    if (to - from < 2 || (top != first && to - from == n))
      continue;
    tp_station_plan plan = {.before = top,
                            .anchor = uses[from].anchor,
                            .start = 2 * (int64_t)uses[from].anchor,
                            .end = 2 * (int64_t)last_of(uses, from, to, 0) + 1,
                            .keeps = l->is_stored_changed,
                            .keep_start = 2 * (int64_t)l->def,
                            .twice = l->is_overwritten,
                            .twice_start = 2 * (int64_t)uses[to - 1].anchor};
    hold_source(r, &r->p->problem.values[value], uses, from, to, l,
                2 * (int64_t)last_of(uses, 0, n, l->def) + 1, &plan);
    status = share(r, value, uses, from, to, plan, &station);
    for (int u = from; u < to && status == TP_OK; u++)
      above[u] = station;
  }
  return status;
}

/* Plans a reshard for a return: its result lies in the memory of a function result. */
static void plan_return(const life *l, int anchor, int last, tp_station_plan *plan) {
  plan->elsewhere = true;
  plan->anchor = l->is_returned ? -1 : anchor;
  plan->start = 2 * (int64_t)(l->is_returned ? l->def : anchor);
  plan->end = plan->start + 1 + l->is_returned;
  plan->source_start = 2 * (int64_t)l->since;
  plan->source_end = l->is_returned ? 2 * (int64_t)last + 2 : plan->source_start;
}

/* Adds the station that results and other uses share. Its output lies in the memory of a function
 * result, where the other uses read it. */
static tp_status add_returned(struct tp_routes *r, int value, const placed *uses, int n,
                              const life *l, int *station) {
  int n_uses = r->p->problem.values[value].n_uses;
  tp_station_plan plan = {.before = -1, .anchor = -1, .elsewhere = true};
  plan.start = 2 * (int64_t)l->def;
  plan.source_start = 2 * (int64_t)l->since;
  plan.end = plan.source_end = plan.start + 2;
  *station = -1;
  return l->is_returned && n > 0 ? share(r, value, uses, 0, n_uses, plan, station) : TP_OK;
}

/* Adds the station that several results share. Its output is one of the results, and the others are
 * copies of it. */
static tp_status add_shared_return(struct tp_routes *r, int value, const placed *uses, int n,
                                   const life *l, int last, int top, int *above) {
  tp_station_plan plan = {.before = top};
  int station, n_uses = r->p->problem.values[value].n_uses;
  for (int u = n; u < n_uses; u++)
    above[u] = top;
  if (n_uses - n < 2)
    return TP_OK;
  plan_return(l, uses[n].anchor, last, &plan);
  tp_status status = share(r, value, uses, n, n_uses, plan, &station);
  for (int u = n; u < n_uses && status == TP_OK; u++)
    above[u] = station;
  return status;
}

/* True if the op is a view or a reshard whose result the function returns, so that it is made in
 * the memory of a function result. */
static bool is_made_in_result(const tp_planner *p, MlirOperation op) {
  const tp_planned_value *made = tp__is_view(op) || tp__op_is(op, "shard.shard")
                                     ? tp__planned_value(p, mlirOperationGetResult(op, 0))
                                     : NULL;
  return made && tp__is_returned(p, made);
}

static tp_status add_use(struct tp_routes *r, int value, const placed *at, const life *l, int above,
                         int last) {
  const tp_planned_value *v = &r->p->problem.values[value];
  const tp_use *use = &v->uses[at->use];
  tp_spec layouts[TP_MAX_STATION_LAYOUTS];
  int n = tp__add_inputs(r->p, use, layouts, 0), station;
  tp_station_plan plan = {.before = above, .anchor = at->anchor, .is_alone = true};
  plan.in_op = r->p->problem.nodes[use->node].kind == TP_NODE_LAYOUT;
  plan.start = 2 * (int64_t)at->anchor;
  plan.end = 2 * (int64_t)at->until + 1;
  plan.twice = l->is_overwritten;
  plan.twice_start = plan.start;
  plan.keeps = l->is_stored_changed;
  plan.keep_start = 2 * (int64_t)l->def;
  hold_source(r, v, at, 0, 1, l, 2 * (int64_t)last + 1, &plan);
  plan.elsewhere = is_made_in_result(r->p, use->op);
  if (at->is_return) {
    plan_return(l, at->anchor, last, &plan);
    if (above >= 0 && !l->is_returned && !plan.keeps) {
      /* the result of the shared station may be none of the function results */
      plan.keeps = true;
      plan.keep_start = plan.start;
    }
  }
  tp_status status = tp__add_station(r, value, n, layouts, &plan, &station);
  r->routes[value].of_use[at->use] = station;
  return status;
}

static life life_of(struct tp_routes *r, int value, const placed *uses, int n) {
  const tp_planned_value *v = &r->p->problem.values[value];
  const tp_node *node = &r->p->problem.nodes[v->node];
  MlirOperation op = tp__defining_op(v->value);
  life l = {.def = r->timeline.values[value].maker};
  l.has_memory = node->kind == TP_NODE_ARG || node->kind == TP_NODE_CARRIED;
  l.is_returned = !l.has_memory && n < v->n_uses && uses[n].is_return;
  l.is_unstored = !l.has_memory && is_unstored(r, v);
  l.is_stored_changed = l.is_unstored && !tp__is_view(op);
  l.is_overwritten = tp__table_get(&r->ends, v->value.ptr) >= 0;
  int since = r->since[value];
  l.since = since >= 0 ? since : l.def;
  l.is_elsewhere = since >= 0 && !l.is_returned;
  l.overwrites = l.def >= 0 && tp__overwritten(r->p, &r->timeline, l.def) >= 0;
  return l;
}

/* True if an op makes the value from no input (fill) in any layout that its only user wants. Then
 * nothing reshards, and nothing is held. */
static bool is_made_as_wanted(const tp_planner *p, const tp_planned_value *v) {
  const tp_rule *rule = tp__route_rule(p, v);
  if (!rule || !rule->is_free || v->n_uses != 1)
    return false;
  const tp_node *from = &p->problem.nodes[v->node], *to = &p->problem.nodes[v->uses[0].node];
  for (int t = 0; t < to->n; t++) {
    bool is_made = false;
    for (int s = 0; s < from->n && !is_made; s++)
      is_made = tp_spec_equal(from->out[s * from->n_out + v->output],
                              to->in[t * to->n_in + v->uses[0].input]);
    if (!is_made)
      return false;
  }
  return true;
}

/* The use whose reshard serves use u: mostly itself. */
static int serving_use(const tp_planned_value *v, int u) {
  const tp_use *use = &v->uses[u];
  while (use->served_by >= 0 &&
         (v->uses[u].node != use->node || v->uses[u].input != use->served_by))
    u--; /* operands are listed in order */
  return u;
}

static tp_status route_value(struct tp_routes *r, int value) {
  tp_planner *p = r->p;
  p->problem.values[value].keeps_layout |= is_made_as_wanted(p, &p->problem.values[value]);
  /* a copy: adding nodes may move the array of nodes, not that of values */
  tp_planned_value v = p->problem.values[value];
  tp_route *route = &r->routes[value];
  placed *uses = tp__calloc((size_t)v.n_uses + 1, sizeof *uses);
  int *above = tp__calloc((size_t)v.n_uses + 1, sizeof *above);
  route->stations = tp__arena_array(p->problem.arena, (size_t)v.n_uses + MAX_STATIONS_ABOVE_USES,
                                    sizeof *route->stations);
  route->of_use = tp__arena_array(p->problem.arena, (size_t)v.n_uses + 1, sizeof *route->of_use);
  tp_status status =
      uses && above && route->stations && route->of_use ? TP_OK : tp__plan_no_memory(p);
  if (status == TP_OK && (v.in_blocks || !v.keeps_layout)) {
    int n = place_uses(r, &v, uses);
    life l = life_of(r, value, uses, n);
    int last = last_of(uses, 0, n, l.def);
    if (v.in_blocks) {
      if (!l.is_unstored)
        status = tp__hold_output(r, v.node, &v, 2 * (int64_t)l.def, 2 * (int64_t)last + 1);
      tp__free(uses);
      tp__free(above);
      return status;
    }
    int top;
    status = add_returned(r, value, uses, n, &l, &top);
    if (status == TP_OK)
      status = add_shared(r, value, uses, n, &l, top, above);
    if (status == TP_OK)
      status = add_shared_return(r, value, uses, n, &l, last, top, above);
    bool held = n > 0 && route->n_stations > 0 && route->stations[0].anchor < 0;
    for (int u = 0; u < v.n_uses && status == TP_OK; u++)
      if (v.uses[uses[u].use].served_by < 0)
        status = add_use(r, value, &uses[u], &l, above[u], last);
    for (int u = 0; u < v.n_uses && status == TP_OK; u++)
      route->of_use[u] = route->of_use[serving_use(&v, u)];
    if (status == TP_OK && !l.has_memory && !l.is_returned && !l.is_elsewhere && !l.is_unstored)
      status = tp__hold_output(
          r, v.node, &v,
          2 * (int64_t)l.def + (p->problem.nodes[v.node].kind == TP_NODE_LAYOUT || l.overwrites),
          held ? 2 * (int64_t)l.def + 2 : 2 * (int64_t)last + 1);
  }
  tp__free(uses);
  tp__free(above);
  return status;
}

/* ---- building ---- */

/* Runs backwards, since the user of a fused op may itself be fused or make blocks. */
static void find_ends(struct tp_routes *r) {
  tp_planner *p = r->p;
  for (size_t k = r->timeline.n; k-- > 0;) {
    int result = r->timeline.moments[k].result;
    r->until[k] = r->timeline.moments[k].end;
    const tp_planned_value *v =
        result >= 0 && (size_t)result < p->problem.n_values ? &p->problem.values[result] : NULL;
    if (!v || !(v->in_blocks || is_unstored(r, v)))
      continue;
    for (int u = 0; u < v->n_uses; u++) {
      int until = r->until[tp__timeline_anchor(&r->timeline, v->value, v->uses[u].op)];
      r->until[k] = until > r->until[k] ? until : r->until[k];
    }
  }
}

tp_status tp__routes_build(tp_planner *p, bool is_sketch) {
  struct tp_routes *r = p->routes = tp__arena_alloc(p->problem.arena, sizeof *r);
  if (!r)
    return tp__plan_no_memory(p);
  *r = (struct tp_routes){.p = p, .is_sketch = is_sketch};
  tp_status status = tp__timeline_build(p, &r->timeline);
  if (status != TP_OK)
    return status;
  r->until = tp__arena_array(p->problem.arena, r->timeline.n + 1, sizeof *r->until);
  r->routes = tp__arena_array(p->problem.arena, p->problem.n_values + 1, sizeof *r->routes);
  if (!r->until || !r->routes ||
      tp__grow((void **)&r->usages, &r->usage_capacity, p->problem.n_nodes + 1,
               sizeof *r->usages) != TP_OK ||
      tp__grow((void **)&r->tables, &r->table_capacity, p->problem.n_nodes + 1,
               sizeof(const tp_station_table *)) != TP_OK)
    return tp__plan_no_memory(p);
  memset(r->usages, 0, p->problem.n_nodes * sizeof *r->usages);
  memset(r->tables, 0, p->problem.n_nodes * sizeof(const tp_station_table *));
  find_ends(r);
  status = tp__routes_places(r);
  if (status == TP_OK)
    status = tp__hold_fixed(r);
  if (status == TP_OK)
    status = tp__hold_boundary(r);
  if (status == TP_OK)
    status = tp__hold_carried(r);
  for (size_t k = 0; k < p->problem.n_values && status == TP_OK; k++)
    status = route_value(r, (int)k);
  if (status == TP_OK)
    status = tp__hold_workspaces(r);
  return status == TP_OK ? tp__routes_order(r) : status;
}

void tp__routes_destroy(struct tp_routes *r) {
  if (!r)
    return;
  tp__timeline_destroy(&r->timeline);
  tp__free(r->usages);
  tp__free(r->tables);
  tp__free(r->spaces);
  tp__table_destroy(&r->ends);
  tp__memo_destroy(&r->same_stations);
  tp__memo_destroy(&r->same_moves);
}

void tp__routes_move(struct tp_routes *r, tp_planner *p) {
  r->p = p;
  r->timeline.planner = p;
}

const tp_route *tp__route(const struct tp_routes *r, const tp_planned_value *v) {
  return &r->routes[v - r->p->problem.values];
}

const tp_usage *tp__usage(const struct tp_routes *r, int node) { return &r->usages[node]; }

int64_t tp__routes_fixed_bytes(const struct tp_routes *r) { return r->fixed_bytes; }

MlirOperation tp__routes_op(const struct tp_routes *r, int64_t time) {
  size_t k = time < 0 ? 0 : (size_t)time / 2;
  return r->timeline.n == 0 ? r->p->problem.graph.func
                            : r->timeline.moments[k < r->timeline.n ? k : r->timeline.n - 1].op;
}
