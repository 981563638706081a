/* Checks memory limits: searches all plans of a small program for one that satisfies a limit. */
#include "limits.h"

#include "planned.h"
#include "search.h"

#include "passes/propagate/model/memory_model.h"
#include "passes/propagate/model/storage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct trial {
  const setting *s;
  MlirModule module; /* the module whose ops carry the plan that is tried */
  space space;
  tp__arena arena;
  int64_t limit;
  /* plans that cost less are tried; the planner claims that plans within the limit cost at least
   * this */
  tp_cost most;
  int n_written; /* number of plans that were written and planned again */
  planned found; /* the last plan that satisfies the limit and costs less */
  bool is_found;
  int *leanest;         /* the written plan with the smallest peak ... */
  int64_t leanest_peak; /* ... and its peak */
} trial;

/* Max number of plans to write per limit; each takes a millisecond. */
enum { MOST_WRITTEN = 400, MOST_CLIMBED = 600 };
/* a plan at least this factor more expensive than one within the limit is counted */
#define MUCH 1.1

/* ---- A plan as annotations ---- */

static tp_annotation closed(tp_spec spec) { return (tp_annotation){.spec = spec}; }

static void pin_boundary(const trial *t, const int *plan, bool is_args) {
  const space *s = &t->space;
  tp_boundary boundary;
  if (tp__boundary_begin(s->graph.func, is_args, &boundary) != TP_OK)
    return;
  for (int d = 0; d < s->n_decisions; d++) {
    const decision *at = &s->decisions[d];
    if (at->at != (is_args ? AT_ARGUMENT : AT_RESULT))
      continue;
    const choice *chosen = &at->choices[plan[d]];
    tp__boundary_set(&boundary, at->index, "tp.sharding",
                     tp__write_sharding(mlirModuleGetContext(t->module), s->mesh, at->rank,
                                        closed(is_args ? chosen->out[0] : chosen->in[0])));
  }
  tp__boundary_end(&boundary);
}

/* Leaves values open that control flow carries or that are created from nothing: they follow from
 * the rest, or cost nothing. */
static void pin_ops(const trial *t, const int *plan) {
  const space *s = &t->space;
  for (int d = 0; d < s->n_decisions; d++) {
    const decision *at = &s->decisions[d];
    tp_annotation pins[MAX_PINS];
    if (at->is_free || (at->at != AT_OP && at->at != AT_LAYOUT) || at->n_out > MAX_PINS ||
        at->n_out == 0)
      continue;
    bool has_layout = at->at == AT_LAYOUT;
    for (int i = 0; i < at->n_out; i++) {
      pins[i] = closed(at->choices[plan[d]].out[i]);
      has_layout |= at->rule && at->rule->results[i].is_tensor;
    }
    if (has_layout)
      tp__set_op_sharding(at->op, s->mesh, at->n_out, pins);
  }
}

/* Returns true if the plan satisfies the limit. Its reshards are where planning without a limit
 * puts them. */
static bool keeps_limit(void *data, const int *plan, tp_cost cost) {
  trial *t = data;
  (void)cost;
  pin_boundary(t, plan, true);
  pin_boundary(t, plan, false);
  pin_ops(t, plan);
  planned written;
  t->n_written++;
  bool is_planned = plan_copy(t->module, "", &written);
  bool keeps = is_planned && written.peak <= t->limit && written.cost < t->most;
  if (is_planned && written.peak < t->leanest_peak) {
    t->leanest_peak = written.peak;
    memcpy(t->leanest, plan, (size_t)t->space.n_decisions * sizeof *plan);
  }
  if (keeps && t->is_found)
    mlirModuleDestroy(t->found.module);
  if (keeps)
    t->found = written;
  else
    mlirModuleDestroy(written.module);
  t->is_found |= keeps;
  return keeps;
}

/* ---- One limit ---- */

/* Reasons why the planner overestimates a plan's memory (docs/explanation/planning.md): a reshard
 * of several steps, a constraint without effect, an alias of a value that is resharded or has other
 * uses, an operand of several elementwise ops that are fused and overwrite it, a value that only
 * several reshards read. */
typedef struct excuse {
  const planned *plan;
  tp_reshard_cache *reshards;
  bool found;
} excuse;

static tp_spec spec_of(const excuse *e, MlirValue of) {
  tp_annotation a = {0};
  bool present;
  if (mlirValueIsABlockArgument(of))
    tp__read_sharding(
        e->plan->func, "an argument",
        tp__arg_attr(e->plan->func, (int)mlirBlockArgumentGetArgNumber(of), "tp.sharding"),
        &e->plan->mesh, mlirValueGetType(of), &a);
  else
    tp__op_sharding(mlirOpResultGetOwner(of), (int)mlirOpResultGetResultNumber(of), &e->plan->mesh,
                    &a, &present);
  return a.spec;
}

static bool is_changed(MlirValue of) {
  for (MlirOpOperand at = mlirValueGetFirstUse(of); !mlirOpOperandIsNull(at);
       at = mlirOpOperandGetNextUse(at))
    if (tp__op_is(mlirOpOperandGetOwner(at), "shard.shard"))
      return true;
  return false;
}

static bool is_only_changed(MlirValue of) {
  int n = 0;
  for (MlirOpOperand at = mlirValueGetFirstUse(of); !mlirOpOperandIsNull(at);
       at = mlirOpOperandGetNextUse(at), n++)
    if (!tp__op_is(mlirOpOperandGetOwner(at), "shard.shard"))
      return false;
  return n > 1;
}

/* Returns true if it is read by several ops, all elementwise. */
static bool is_read_elementwise(MlirValue of) {
  int n = 0;
  for (MlirOpOperand at = mlirValueGetFirstUse(of); !mlirOpOperandIsNull(at);
       at = mlirOpOperandGetNextUse(at), n++) {
    MlirOperation op = mlirOpOperandGetOwner(at);
    if (!tp__op_has_dialect(op, "arith") && !tp__op_has_dialect(op, "math") &&
        !tp__op_is(op, "linalg.generic"))
      return false;
  }
  return n > 1;
}

static tp_status look_for_excuse(MlirOperation op, void *data) {
  excuse *e = data;
  int rank;
  int64_t shape[TP_MAX_RANK];
  e->found |= tp__is_view(op) && (is_changed(mlirOperationGetResult(op, 0)) ||
                                  tp__n_uses(mlirOperationGetOperand(op, 0)) > 1);
  e->found |=
      mlirOperationGetNumResults(op) == 1 && (is_read_elementwise(mlirOperationGetResult(op, 0)) ||
                                              is_only_changed(mlirOperationGetResult(op, 0)));
  if (!tp__op_is(op, "shard.shard") ||
      !tp__static_tensor(mlirValueGetType(mlirOperationGetResult(op, 0)), &rank, shape))
    return TP_OK;
  tp_spec from = spec_of(e, mlirOperationGetOperand(op, 0)),
          to = spec_of(e, mlirOperationGetResult(op, 0));
  int64_t size =
      tp__element_size(tp__element_type(mlirValueGetType(mlirOperationGetResult(op, 0))));
  tp_reshard path;
  e->found |= tp_spec_equal(from, to) ||
              (tp_reshard_path(e->reshards, from, to, rank, shape, size, &path) == TP_OK &&
               tp__reshard_excess(&path, rank, shape, size) > 0);
  return TP_OK;
}

/* Judges a plan that satisfies the limit and costs less than `within`. It is a defect if it costs
 * less than the proven bound. */
static verdict judge(trial *t, tp_reshard_cache *reshards, const planned *within, totals *sum) {
  sum->limits_dearer += within->cost > 0 && (double)within->cost > MUCH * (double)t->found.cost;
  if (within->bound >= 0 && t->found.cost >= within->bound)
    return EQUAL;
  excuse e = {.plan = &t->found, .reshards = reshards};
  tp__walk(mlirModuleGetOperation(t->found.module), look_for_excuse, &e);
  sum->counted_more += e.found;
  if (e.found)
    return EQUAL;
  printf("within %" PRId64 " bytes: claimed %lld, but %lld is enough for %" PRId64 " bytes: %s\n",
         t->limit, (long long)within->cost, (long long)t->found.cost, t->found.peak, last_error());
  mlirOperationDump(mlirModuleGetOperation(t->found.module));
  return LOST;
}

/* If no plan within the limit was found: changes one decision after another of the plan with the
 * smallest peak, as long as the peak does not increase. */
static void climb(trial *t, rng *r) {
  space *s = &t->space;
  int *plan = tp__arena_array(&t->arena, (size_t)s->n_decisions + 1, sizeof *plan);
  for (int i = 0; i < MOST_CLIMBED && !t->is_found && s->n_decisions > 0; i++) {
    memcpy(plan, t->leanest, (size_t)s->n_decisions * sizeof *plan);
    for (int k = 1 + rng_below(r, 3); k > 0; k--) {
      int d = rng_below(r, s->n_decisions);
      int other = rng_below(r, s->decisions[d].n);
      plan[d] = s->decisions[d].choices[other].beyond ? plan[d] : other;
    }
    t->leanest_peak++; /* accepts equal peaks */
    int64_t before = t->leanest_peak;
    keeps_limit(t, plan, 0);
    t->leanest_peak -= t->leanest_peak == before;
  }
}

static verdict check_limit(trial *t, const planned *free, MlirModule source, rng *r, totals *sum) {
  char options[80];
  planned within;
  clear_error();
  snprintf(options, sizeof options, "memory-limit=%" PRId64 "B%s", t->limit,
           t->s->bytes ? " objective=bytes" : "");
  bool is_planned = plan_copy(source, options, &within);
  verdict v = EQUAL;
  sum->limits++;
  sum->limits_refused += !is_planned;
  if (is_planned && (within.peak > t->limit || within.bound > within.cost)) {
    printf("within %" PRId64 " bytes: holds %" PRId64 ", costs %lld .. %lld\n", t->limit,
           within.peak, (long long)within.bound, (long long)within.cost);
    v = EXCEEDED_LIMIT;
  }
  if (v == EQUAL && (!is_planned || within.cost > free->cost)) {
    tp_reshard_cache *reshards = tp_reshard_cache_create(t->space.mesh, t->space.topology);
    t->most = is_planned ? within.cost : TP_COST_FORBIDDEN;
    search_options how = {.limit = t->most,
                          .steps = t->s->steps,
                          .memory = t->limit,
                          .accept = keeps_limit,
                          .data = t,
                          .most_accepts = MOST_WRITTEN};
    t->is_found = false;
    t->leanest_peak = INT64_MAX - 1;
    t->leanest = tp__arena_array(&t->arena, (size_t)t->space.n_decisions + 1, sizeof *t->leanest);
    search_result found = search_plans(&t->space, reshards, &how, NULL);
    sum->limits_cut += !found.done;
    if (!is_planned && !t->is_found && !found.done)
      climb(t, r);
    sum->limits_written += t->n_written;
    sum->limits_kept += !is_planned && t->is_found;
    sum->limits_unkept += !is_planned && !t->is_found && found.done;
    if (t->s->verbose)
      printf("within %" PRId64
             " bytes: costs %lld, bound %lld; tried %d plans%s, the leanest holds %" PRId64
             "; one that keeps it costs %lld\n",
             t->limit, (long long)within.cost, (long long)within.bound, t->n_written,
             found.done ? "" : " of more", t->leanest_peak,
             t->is_found ? (long long)t->found.cost : -1);
    if (t->is_found) {
      v = judge(t, reshards, &within, sum);
      mlirModuleDestroy(t->found.module);
    }
    tp_reshard_cache_destroy(reshards);
  }
  mlirModuleDestroy(within.module);
  return v;
}

/* Returns the smallest peak of any plan, as the planner estimates it. */
static int64_t least_counted(MlirModule source) {
  planned none;
  int64_t least = 0;
  clear_error();
  if (!plan_copy(source, "memory-limit=0B", &none)) {
    const char *at = strstr(last_error(), "counts at least ");
    least = at ? atoll(at + strlen("counts at least ")) : 0;
  }
  mlirModuleDestroy(none.module);
  return least;
}

verdict check_limits(const setting *s, MlirModule source, bool mixes, rng *r, totals *sum) {
  planned free;
  tp_topology topology;
  verdict v = REFUSED;
  trial t = {.s = s,
             .module = mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(source)))};
  if (plan_copy(source, s->bytes ? "objective=bytes" : "", &free)) {
    tp_topology_load("cpu", &free.mesh, NULL, 0, &topology);
    if (s->bytes)
      tp_topology_count_bytes(&topology, TP_BYTE_FLOPS);
    /* a pin changes the available parts of an axis */
    bool read =
        !tp_mesh_is_refined(&free.mesh) && space_take_in_place(the_function(t.module), &t.arena) &&
        space_read(the_function(t.module), &free.mesh, &topology, mixes, &t.arena, &t.space) &&
        space_decide_boundary(&t.space);
    v = read ? EQUAL : TOO_MANY;
    int64_t least = least_counted(source);
    for (int i = 0; i < s->limits && v < CHEAPER && read; i++) {
      t.limit =
          i == 0 || free.peak <= least ? free.peak : least + rng_below(r, (int)(free.peak - least));
      t.n_written = 0;
      v = check_limit(&t, &free, source, r, sum);
    }
    space_clear(&t.space);
  }
  mlirModuleDestroy(free.module);
  mlirModuleDestroy(t.module);
  tp__arena_destroy(&t.arena);
  return v;
}
