/* Compares the planner's claims with an exhaustive search over all plans. */
#include "oracle.h"

#include "limits.h"
#include "planned.h"
#include "search.h"
#include "source.h"

#include "passes/propagate/model/planner.h"

#include "tp/passes.h"

#include <mlir-c/Diagnostics.h>
#include <stdio.h>
#include <string.h>

/* Plans a copy of `source`. */
static bool plan(const setting *s, MlirModule source, planned *p) {
  return plan_copy(source, s->bytes ? "objective=bytes" : "", p);
}

/* ---- The written plan ---- */

static tp_spec spec_of(const tp_func_graph *graph, MlirValue at) {
  tp_annotation a = {0};
  bool present;
  if (!mlirValueIsABlockArgument(at)) {
    MlirOperation op = mlirOpResultGetOwner(at);
    tp__func_graph_op(graph, op, (int)mlirOpResultGetResultNumber(at), &a, &present);
  } else if (tp__op_is(mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(at)), "func.func")) {
    tp__func_graph_arg(graph, (int)mlirBlockArgumentGetArgNumber(at), &a, &present);
  } else {
    tp_carried carried = {.n_values = 1, .values = {at}};
    tp__func_graph_carried(graph, mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(at)),
                           &carried, &a, &present);
  }
  return a.spec;
}

/* `stored`: an operand that an op reads block by block, which is in memory unless it is created
 * from nothing. */
static bool is_elementwise(const tp_func_graph *graph, MlirValue at, bool stored) {
  MlirOperation op = tp__defining_op(unchanged(at));
  for (int i = 0; i < graph->n_items && !mlirOperationIsNull(op); i++)
    if (graph->items[i].kind == TP_ITEM_OP && mlirOperationEqual(graph->items[i].op, op))
      return graph->items[i].rule->is_elementwise && (!stored || graph->items[i].rule->is_free);
  return false;
}

static tp_cost written_op(const space *s, const tp_item *item) {
  const tp_rule *rule = item->rule;
  tp_spec in[64], out[64];
  tp_strategy hint, found;
  uint64_t fused = 0;
  MlirAttribute factors = tp__get(rule->op, "tp.factors");
  bool hinted =
      !mlirAttributeIsNull(factors) && tp__read_factors(rule, factors, s->mesh, &hint) == TP_OK;
  for (int i = 0; i < rule->n_operands; i++) {
    in[i] = rule->operands[i].is_tensor ? spec_of(&s->graph, rule->operands[i].value)
                                        : tp_spec_replicated();
    if (rule->is_elementwise && rule->operands[i].is_tensor &&
        mlirOperationIsNull(rule->operands[i].in_place) && !rule->operands[i].is_updated &&
        rule->operands[i].n_reads == 0 &&
        is_elementwise(&s->graph, rule->operands[i].value, reads_stored(rule, i)))
      fused |= UINT64_C(1) << i;
  }
  for (int i = 0; i < rule->n_results; i++)
    out[i] = spec_of(&s->graph, rule->results[i].value);
  if (tp__strategy_match(rule, s->mesh, in, out, hinted ? &hint : NULL, &found) == 0)
    return TP_COST_FORBIDDEN;
  return (tp_cost)((double)op_cost(s, rule, &found, fused) * item->trips);
}

static tp_cost written_change(const space *s, tp_reshard_cache *reshards, MlirOperation op) {
  MlirValue from = mlirOperationGetOperand(op, 0), to = mlirOperationGetResult(op, 0);
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(mlirValueGetType(to), &rank, shape);
  tp_cost cost = tp_reshard_cost(reshards, spec_of(&s->graph, from), spec_of(&s->graph, to), rank,
                                 shape, tp__element_size(tp__element_type(mlirValueGetType(to))));
  return (tp_cost)((double)cost * tp__func_graph_trips(&s->graph, to));
}

/* Returns the cost of the plan in the IR: its ops, and each of its reshards once. */
static tp_cost written_cost(const planned *p, const tp_topology *topology,
                            tp_reshard_cache *reshards, tp__arena *arena) {
  space s = {.mesh = &p->mesh, .topology = topology, .arena = arena};
  tp_cost sum = 0;
  if (tp__func_graph_read(p->func, &p->mesh, false, NULL, NULL, arena, &s.graph) != TP_OK ||
      tp__mark_attention(&s.graph, topology->attention_features) != TP_OK)
    return TP_COST_FORBIDDEN;
  for (int i = 0; i < s.graph.n_items; i++) {
    const tp_item *item = &s.graph.items[i];
    if (item->kind == TP_ITEM_OP)
      sum = tp_cost_add(sum, written_op(&s, item));
    else if (item->kind == TP_ITEM_LAYOUT)
      sum = tp_cost_add(sum, written_change(&s, reshards, item->op));
  }
  tp__func_graph_destroy(&s.graph);
  return sum;
}

/* ---- All plans ---- */

typedef struct check {
  const setting *s;
  totals *t;
  MlirModule source;
  planned plan;
  tp__arena arena;
  tp_reshard_cache *reshards;
  tp_cost offered, all; /* lowest costs found; infinite before */
} check;

static void print_spec(const space *s, const value *v, const char *name, tp_spec spec) {
  char chars[256];
  tp_spec_text(s->mesh, spec, v->rank, chars, sizeof chars);
  printf(" %s %s", name, chars);
}

/* Prints the plan that is better than the claimed optimum. */
static void print_plan(const space *s, const int *plan) {
  for (int d = 0; d < s->n_decisions; d++) {
    const decision *at = &s->decisions[d];
    const choice *chosen = &at->choices[plan[d]];
    MlirStringRef name = at->rule ? tp__op_name(at->rule->op) : tp__ref("a layout");
    printf("  %.*s: %lld ps,", (int)name.length, name.data, (long long)chosen->cost);
    for (int v = 0; v < s->n_values; v++) {
      for (int u = 0; u < s->values[v].n_uses; u++)
        if (s->values[v].uses[u].decision == d)
          print_spec(s, &s->values[v], "takes", chosen->in[s->values[v].uses[u].input]);
      if (s->values[v].decision == d)
        print_spec(s, &s->values[v], "makes", chosen->out[s->values[v].output]);
    }
    printf("%s\n", at->is_free ? " (free)" : "");
  }
}

static search_result least_of(check *c, const space *s, unsigned beyond) {
  int *best = tp__arena_array(&c->arena, (size_t)s->n_decisions + 1, sizeof *best);
  search_options how = {.beyond = beyond, .limit = c->plan.cost + 1, .steps = c->s->steps};
  search_result r = search_plans(s, c->reshards, &how, best);
  if (r.least < c->plan.cost && (beyond == 0 || c->s->verbose)) {
    printf("beyond %u: %lld\n", beyond, (long long)r.least);
    print_plan(s, best);
  }
  return r;
}

static verdict compare_space(check *c, const space *s) {
  search_result offered = least_of(c, s, 0), all = least_of(c, s, BEYOND_ALL);
  c->offered = offered.least;
  c->all = all.least;
  if (offered.least < c->plan.cost)
    return CHEAPER;
  if (!offered.done || !all.done)
    return TOO_MANY;
  if (all.least > c->plan.cost)
    return UNFOUND;
  for (int bit = 0; bit < 3 && all.least < c->plan.cost; bit++)
    c->t->beyond[bit] += least_of(c, s, 1u << bit).least < c->plan.cost;
  return all.least < c->plan.cost       ? EQUAL_OFFERED
         : offered.least > c->plan.cost ? EQUAL_NAMED
                                        : EQUAL;
}

static verdict compare(check *c, const tp_topology *topology, bool mixes) {
  space s = {0};
  if (c->plan.bound != c->plan.cost)
    return OPEN;
  bool read = space_read(the_function(c->source), &c->plan.mesh, topology, mixes, &c->arena, &s);
  verdict v = read ? compare_space(c, &s) : TOO_MANY;
  space_clear(&s);
  return v;
}

/* ---- Edits ---- */

typedef struct editing {
  rng *r;
  int left; /* number of ops before the one that is edited */
  const tp_mesh *mesh;
  MlirOperation done; /* the op that was pinned */
} editing;

/* Returns a sharding that divides, of whole axes in mesh order: one that is offered without a
 * request. */
static tp_spec random_layout(editing *e, int rank, const int64_t *shape) {
  tp_spec spec = tp_spec_replicated();
  for (int a = 0; a < e->mesh->n_axes && rank > 0; a++) {
    int d = rng_below(e->r, rank + 1);
    tp_spec next = spec;
    if (d < rank && e->mesh->axes[a].size > 1 && tp_spec_append(&next, a, d) == TP_OK &&
        shape[d] % tp_spec_dim_shards(e->mesh, next, d) == 0)
      spec = next;
  }
  return spec;
}

static tp_status pin_one(MlirOperation op, void *data) {
  editing *e = data;
  int rank;
  int64_t shape[TP_MAX_RANK];
  bool fits = mlirOperationGetNumResults(op) == 1 && mlirOperationGetNumRegions(op) <= 1 &&
              tp__static_tensor(mlirValueGetType(mlirOperationGetResult(op, 0)), &rank, shape) &&
              mlirAttributeIsNull(tp__get(op, "tp.sharding")) && !tp__op_has_dialect(op, "scf") &&
              !tp__is_in_place(op);
  if (!fits || !mlirOperationIsNull(e->done) || e->left-- > 0)
    return TP_OK;
  tp_annotation pin = {.spec = random_layout(e, rank, shape)};
  tp__set_op_sharding(op, e->mesh, 1, &pin);
  e->done = op;
  return TP_OK;
}

static verdict edit(check *c, rng *r) {
  planned pinned;
  verdict v = EQUAL;
  editing e = {.r = r, .left = rng_below(r, 6), .mesh = &c->plan.mesh};
  if (tp_mesh_is_refined(&c->plan.mesh)) /* a pin changes the available parts of an axis */
    return EQUAL;
  MlirModule copy = mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(c->source)));
  tp__walk(mlirModuleGetOperation(copy), pin_one, &e);
  if (!mlirOperationIsNull(e.done)) {
    c->t->pins++;
    if (!plan(c->s, copy, &pinned))
      c->t->pins_refused++;
    else if (pinned.cost < c->plan.cost && pinned.cost < c->all &&
             !tp_mesh_is_refined(&pinned.mesh))
      /* else the named axis has caused more plans to be offered, with empty shards */
      v = EDITED;
    if (v == EDITED) {
      printf("pinned: %lld instead of %lld\n", (long long)pinned.cost, (long long)c->plan.cost);
      mlirOperationDump(e.done);
    }
    mlirModuleDestroy(pinned.module);
  }
  mlirModuleDestroy(copy);
  return v;
}

/* ---- One program ---- */

/* Checks that planning the written plan again gives the same cost. The plan consists of pins, and
 * its reshards are ops, so each is paid for once as written. If its pins split the mesh
 * differently, other reshards are available. */
static bool is_same_again(const check *c, tp_cost written) {
  planned again;
  bool same =
      plan(c->s, c->plan.module, &again) && (again.mesh.n_axes != c->plan.mesh.n_axes ||
                                             (again.cost == written && again.bound == written));
  if (!same)
    printf("planned again: %lld .. %lld, written: %lld %s\n", (long long)again.bound,
           (long long)again.cost, (long long)written, last_error());
  mlirModuleDestroy(again.module);
  return same;
}

/* Plans the program in parts, as large programs are, and checks that bound <= cheapest plan <= plan
 * in parts. True for objective=bytes, where plans in parts have other prices (only paths over whole
 * axes), so that costs cannot be compared. */
static bool is_bounded_in_parts(const check *c) {
  planned parts;
  if (c->s->bytes)
    return true;
  bool holds = plan_copy(c->source, "entries=1", &parts) && parts.bound <= c->plan.cost &&
               c->plan.cost <= parts.cost;
  if (!holds)
    printf("in parts: %lld .. %lld, claimed: %lld %s\n", (long long)parts.bound,
           (long long)parts.cost, (long long)c->plan.cost, last_error());
  mlirModuleDestroy(parts.module);
  return holds;
}

static verdict check_planned(check *c, const tp_topology *topology, bool mixes) {
  tp_cost written = written_cost(&c->plan, topology, c->reshards, &c->arena);
  verdict v = written > c->plan.cost       ? WRITTEN
              : !is_same_again(c, written) ? AGAIN
              : !is_bounded_in_parts(c)    ? PARTS
                                           : compare(c, topology, mixes);
  if (v == WRITTEN)
    printf("written: %lld, claimed: %lld\n", (long long)written, (long long)c->plan.cost);
  c->t->written_less += written < c->plan.cost;
  return v;
}

static verdict check_module(const setting *s, MlirModule module, rng *r, totals *t) {
  check c = {
      .s = s, .t = t, .source = module, .offered = TP_COST_FORBIDDEN, .all = TP_COST_FORBIDDEN};
  tp_topology topology;
  tp_mesh before;
  clear_error();
  if (tp_run_pipeline(module, "tp-import,tp-decompose,tp-inline-calls,tp-raise,"
                              "tp-hoist-invariants") != TP_OK)
    return REFUSED;
  verdict v = REFUSED;
  bool has_mesh = tp__module_mesh(mlirModuleGetOperation(module), "", &before) == TP_OK;
  if (has_mesh && s->limits > 0)
    return check_limits(s, module, tp_mesh_is_refined(&before), r, t);
  if (has_mesh && plan(s, module, &c.plan)) {
    tp_topology_load("cpu", &c.plan.mesh, NULL, 0, &topology);
    if (s->bytes)
      tp_topology_count_bytes(&topology, TP_BYTE_FLOPS);
    c.reshards = tp_reshard_cache_create(&c.plan.mesh, &topology);
    /* not a decision, so all plans contain it */
    if (space_take_in_place(the_function(module), &c.arena))
      v = check_planned(&c, &topology, tp_mesh_is_refined(&before));
    for (int i = 0; i < s->edits && v < CHEAPER; i++)
      if (edit(&c, r) == EDITED)
        v = EDITED;
    tp_reshard_cache_destroy(c.reshards);
  }
  if (v >= CHEAPER || s->verbose)
    printf("claimed %lld, bound %lld, least offered %lld, least of all %lld\n",
           (long long)c.plan.cost, (long long)c.plan.bound, (long long)c.offered, (long long)c.all);
  if (v >= CHEAPER)
    mlirOperationDump(mlirModuleGetOperation(c.plan.module));
  mlirModuleDestroy(c.plan.module);
  tp__arena_destroy(&c.arena);
  return v;
}

static void check_source(MlirContext context, const setting *s, const char *source, uint64_t seed,
                         const char *name, totals *t) {
  clear_error();
  MlirModule module = mlirModuleCreateParse(context, tp__ref(source));
  rng r = {seed};
  verdict v = mlirModuleIsNull(module) ? REFUSED : check_module(s, module, &r, t);
  t->n++;
  t->verdicts[v]++;
  if (v == REFUSED && s->verbose)
    printf("%s: refused: %s\n", name, last_error());
  else if (v >= CHEAPER || s->verbose)
    printf("%s: %s\n", name, v >= CHEAPER ? "DEFECT" : "agrees");
  if (v >= CHEAPER)
    printf("%s\n", source);
  if (!mlirModuleIsNull(module))
    mlirModuleDestroy(module);
}

void check_random(MlirContext context, const setting *s, uint64_t seed, totals *t) {
  char name[40];
  text source = {0};
  draw_source(seed, &source);
  snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
  check_source(context, s, source.chars, seed, name, t);
  text_clear(&source);
}

void check_file(MlirContext context, const setting *s, const char *path, totals *t) {
  text source = {0};
  if (!text_read(&source, path)) {
    fprintf(stderr, "shard-oracle: cannot read '%s'\n", path);
    t->verdicts[UNFOUND]++;
    return;
  }
  check_source(context, s, source.chars, 1, path, t);
  text_clear(&source);
}
