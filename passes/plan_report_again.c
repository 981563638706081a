/* What other decisions would cost. Where the other decision lies is found by solving the same problem without the strategies of this one;
 * what it costs is found by planning the module again, with the annotation that makes it. So the figures are those that anybody gets who
 * writes the annotation. */
#include "passes/plan_report.h"

#include <mlir-c/Diagnostics.h>
#include <stdlib.h>
#include <string.h>

enum {
  COSTLY_PERCENT = 1,        /* of the plan's cost: an annotation that costs less is not reported */
  PLANS_PER_ALTERNATIVE = 4, /* how many plans are made to find costly annotations, for each alternative that may be reported */
};

/* ---- planning again ---- */

/* What is said while something is tried has been said before, or is not about the input. */
static MlirLogicalResult swallow(MlirDiagnostic diagnostic, void *data) {
  (void)diagnostic;
  (void)data;
  return mlirLogicalResultSuccess();
}

static bool plan_copy(const tp_report *r, const tp_planner *p, tp_cost *cost, tp_cost *bound) {
  MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(r->pass->context, swallow, NULL, NULL);
  tp_pass pass = *r->pass;
  pass.module = mlirModuleGetOperation(r->before);
  tp_status status = tp__plan_again(&pass, p->number, cost, bound);
  mlirContextDetachDiagnosticHandler(r->pass->context, handler);
  return status == TP_OK;
}

static MlirOperation copied(const tp_report *r, MlirOperation op) { return r->ops.items[tp__table_get(&r->op_place, op.ptr)]; }

static void set_boundary(MlirOperation func, bool is_arg, int i, MlirAttribute value) {
  tp_boundary boundary;
  if (tp__boundary_begin(func, is_arg, &boundary) != TP_OK)
    return;
  tp__boundary_set(&boundary, i, "tp.sharding", value);
  tp__boundary_end(&boundary);
}

static void set_or_remove(MlirOperation op, const char *name, MlirAttribute value) {
  if (mlirAttributeIsNull(value))
    tp__remove(op, name);
  else
    tp__set(op, name, value);
}

/* The annotation that the copy has at the place of this one. */
static tp_pin current(const tp_report *r, const tp_pin *pin) {
  tp_pin now = *pin;
  MlirOperation op = copied(r, pin->op);
  bool is_op = pin->place == TP_PIN_OP;
  now.sharding = is_op                      ? tp__get(op, "tp.sharding")
                 : pin->place == TP_PIN_ARG ? tp__arg_attr(op, pin->number, "tp.sharding")
                                            : tp__result_attr(op, pin->number, "tp.sharding");
  now.factors = is_op ? tp__get(op, "tp.factors") : (MlirAttribute){NULL};
  return now;
}

/* Writes the annotation into the copy; null attributes remove it. */
static void annotate(const tp_report *r, const tp_pin *pin, MlirAttribute sharding, MlirAttribute factors) {
  MlirOperation op = copied(r, pin->op);
  if (pin->place != TP_PIN_OP) {
    set_boundary(op, pin->place == TP_PIN_ARG, pin->number, sharding);
    return;
  }
  set_or_remove(op, "tp.sharding", sharding);
  set_or_remove(op, "tp.factors", factors);
}

/* A constraint cannot go, since others use its value; it asks for nothing when all its dimensions are open. */
static MlirAttribute without(const tp_report *r, const tp_pin *pin) {
  if (!pin->is_constraint)
    return (MlirAttribute){NULL};
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(pin->value));
  return tp__write_sharding(r->pass->context, r->mesh, rank,
                            (tp_annotation){.spec = tp_spec_replicated(), .open = (1u << rank) - 1});
}

static const MlirAttribute none = {NULL};

/* ---- alternatives of a change of layout ---- */

typedef enum subject { OUTPUT, INPUT, STRATEGY } subject;

/* What a node has decided: the layout of an output or an input, or its strategy. */
typedef struct decision {
  int node;
  subject what;
  int at; /* the output or input */
} decision;

static bool decides_as(const tp_planner *p, decision d, int s) {
  const tp_node *n = &p->nodes[d.node];
  int k = n->chosen;
  if (d.what == STRATEGY)
    return s == k;
  return d.what == INPUT ? tp_spec_equal(n->in[s * n->n_in + d.at], n->in[k * n->n_in + d.at])
                         : tp_spec_equal(n->out[s * n->n_out + d.at], n->out[k * n->n_out + d.at]);
}

/* The annotation that says: this node has strategy s. */
static bool pin_of_strategy(const tp_report *r, const tp_planner *p, decision d, int s, tp_pin *pin) {
  const tp_node *n = &p->nodes[d.node];
  MlirContext context = r->pass->context;
  MlirOperation func = p->program.func;
  if (n->kind == TP_NODE_ARG || n->kind == TP_NODE_RESULT) {
    bool is_arg = n->kind == TP_NODE_ARG;
    tp_spec spec = is_arg ? n->out[s] : n->in[s];
    MlirType type = mlirTypeAttrGetValue(tp__inherent(func, "function_type"));
    MlirType value = is_arg ? mlirFunctionTypeGetInput(type, n->index) : mlirFunctionTypeGetResult(type, n->index);
    int rank = (int)mlirShapedTypeGetRank(value);
    *pin = (tp_pin){.place = is_arg ? TP_PIN_ARG : TP_PIN_RESULT,
                    .number = n->index,
                    .op = func,
                    .sharding = tp__write_sharding(context, r->mesh, rank, (tp_annotation){.spec = spec})};
    if (is_arg)
      pin->value = mlirBlockGetArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0)), n->index);
    return true;
  }
  enum { MAX_RESULTS = 64 };
  const tp_rule *rule = p->program.items[n->index].rule;
  MlirAttribute entries[MAX_RESULTS];
  bool decides = false; /* do the layouts of the results alone keep the op from deciding as it did? */
  if (rule->n_results == 0 || rule->n_results > MAX_RESULTS || rule->n_results != mlirOperationGetNumResults(rule->op))
    return false;
  for (int i = 0; i < rule->n_results; i++) {
    tp_spec result = n->out[s * n->n_out + i];
    decides |= d.what == OUTPUT && i == d.at;
    entries[i] = tp__write_sharding(context, r->mesh, rule->results[i].rank, (tp_annotation){.spec = result});
  }
  *pin = (tp_pin){.place = TP_PIN_OP,
                  .number = -1,
                  .op = rule->op,
                  .value = mlirOperationGetResult(rule->op, 0),
                  .sharding = rule->n_results == 1 ? entries[0] : mlirArrayAttrGet(context, rule->n_results, entries)};
  if (!decides)
    pin->factors = tp__write_factors(context, r->mesh, &n->strategies[s]);
  return true;
}

/* The strategy of the node in the cheapest plan in which it decides otherwise; -1 when there is no other. `bound` is what any such plan costs
 * at least. */
static int decide_otherwise(const tp_planner *p, decision d, tp_cost *bound) {
  const tp_node *n = &p->nodes[d.node];
  bool *allowed = tp__calloc((size_t)n->n, sizeof *allowed), any = false;
  int chosen = -1;
  tp_solution solution;
  for (int s = 0; allowed && s < n->n; s++)
    any |= allowed[s] = !decides_as(p, d, s);
  tp_solver_options options = {.size = sizeof options};
  if (any && tp_solve_allowing(p->problem, &options, d.node, allowed, &solution) == TP_OK) {
    chosen = solution.choices[d.node];
    *bound = solution.lower_bound;
    tp_solution_clear(&solution);
  }
  tp__free(allowed);
  return chosen;
}

static void try_decision(tp_report *r, const tp_planner *p, decision d, tp_alternative *best) {
  tp_alternative other = {.found = true};
  tp_cost bound = 0;
  tp_node_kind kind = p->nodes[d.node].kind;
  bool has_place = kind == TP_NODE_ARG || kind == TP_NODE_RESULT || kind == TP_NODE_OP; /* for an annotation */
  if (!has_place || p->nodes[d.node].n < 2)
    return;
  int s = decide_otherwise(p, d, &bound);
  if (s < 0 || (best->found && bound >= best->cost) || !pin_of_strategy(r, p, d, s, &other.pin))
    return;
  tp_pin own = current(r, &other.pin);
  annotate(r, &other.pin, other.pin.sharding, other.pin.factors);
  bool planned = plan_copy(r, p, &other.cost, &other.bound);
  annotate(r, &own, own.sharding, own.factors);
  if (planned && (!best->found || other.cost < best->cost))
    *best = other;
}

static void find_alternative(tp_report *r, const tp_planner *p, tp_change *c) {
  if (c->node >= 0) {
    try_decision(r, p, (decision){c->node, STRATEGY, 0}, &c->alternative);
  } else {
    const tp_planned_value *v = c->value;
    const tp_use *use = &v->uses[c->use < 0 ? 0 : c->use];
    try_decision(r, p, (decision){v->node, OUTPUT, v->output}, &c->alternative);
    try_decision(r, p, (decision){use->node, INPUT, use->input}, &c->alternative);
  }
  if (!c->alternative.found)
    c->alternative.missing = "annotations and rules leave no other choice";
}

static int compare_costs(const void *a, const void *b) {
  const tp_change *x = *(tp_change *const *)a, *y = *(tp_change *const *)b;
  tp_cost cx = x->cost - x->local, cy = y->cost - y->local;
  return cx != cy ? (cx > cy ? -1 : 1) : x->position < y->position ? -1 : 1;
}

static tp_status find_alternatives(tp_report *r, const tp_planner *p) {
  tp_function_report *f = &r->function;
  tp_change **order = tp__arena_array(p->arena, f->n_changes + 1, sizeof *order);
  size_t n = 0;
  if (!order)
    return tp__error(p->program.func, TP_NO_MEMORY, "out of memory");
  for (size_t i = 0; i < f->n_changes; i++)
    if (f->changes[i].n_collectives > 0)
      order[n++] = &f->changes[i];
  qsort(order, n, sizeof *order, compare_costs);
  for (size_t i = 0; i < n; i++)
    if (i < (size_t)r->n_alternatives)
      find_alternative(r, p, order[i]);
    else
      order[i]->alternative.missing = "not among the most expensive collectives (report-alternatives)";
  return TP_OK;
}

/* ---- annotations that cost something ---- */

typedef struct dropping {
  tp_report *r;
  const tp_planner *p;
  int plans; /* that may still be made */
} dropping;

static bool plan_without(dropping *d, size_t first, size_t n, tp_cost *cost, tp_cost *bound) {
  const tp_function_report *f = &d->r->function;
  if (d->plans == 0)
    return false;
  d->plans--;
  for (size_t i = first; i < first + n; i++)
    annotate(d->r, &f->pins[i], without(d->r, &f->pins[i]), none);
  bool planned = plan_copy(d->r, d->p, cost, bound);
  for (size_t i = first; i < first + n; i++)
    annotate(d->r, &f->pins[i], f->pins[i].sharding, f->pins[i].factors);
  return planned;
}

/* A group of annotations without which the plan costs about as much has none that costs more; else its halves are looked at. */
static tp_status examine(dropping *d, size_t first, size_t n) {
  tp_function_report *f = &d->r->function;
  tp_cost cost = 0, bound = 0, limit = d->p->cost - d->p->cost / 100 * COSTLY_PERCENT;
  if (n == 0 || !plan_without(d, first, n, &cost, &bound))
    return TP_OK;
  if (bound >= limit || n == 1) {
    f->n_examined += (int)n;
    if (cost < limit)
      f->costly[f->n_costly++] = (tp_costly_pin){f->pins[first], cost, bound};
    return TP_OK;
  }
  examine(d, first, n / 2);
  return examine(d, first + n / 2, n - n / 2);
}

static tp_status find_costly(tp_report *r, const tp_planner *p) {
  tp_function_report *f = &r->function;
  dropping d = {r, p, PLANS_PER_ALTERNATIVE * r->n_alternatives};
  f->costly = tp__calloc(f->n_pins + 1, sizeof *f->costly);
  return f->costly ? examine(&d, 0, f->n_pins) : tp__error(p->program.func, TP_NO_MEMORY, "out of memory");
}

tp_status tp__report_alternatives(tp_report *r, tp_planner *p) {
  tp_status status = find_alternatives(r, p);
  return status == TP_OK ? find_costly(r, p) : status;
}
