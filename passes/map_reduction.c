/* Nests with reductions: several threads of a block share the iterations that go into one element.
 *
 * Where those lie side by side in memory, neighbouring threads read neighbours ("rows"); where the elements of the result do, neighbouring
 * threads have different elements ("columns"). Each thread combines every n_sharing-th iteration, in order, from the identity on; then threads
 * combine by pairs, at fixed distances. So the same program gives the same bits whenever it runs. */
#include "passes/map.h"

#include "ir/collectives.h"
#include "passes/lower.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <stdio.h>

enum { THREADS = 128, ROW_THREADS = 256, LONG_ROW_THREADS = 1024, LONG_ROW = 8192, FEW_ROWS = 256, SHARED_BYTES = 48 * 1024 };

typedef struct reduction {
  const tp__map_nest *n;
  MlirOperation func;
  int n_outputs, inner, lanes;
  bool rows;
  int n_sharing, n_elements;  /* threads for an element, elements of a block: powers of two */
  int64_t n_results, n_steps; /* elements in all, and iterations of each, counted in lanes */
  tp_combiner combiners[TP_MAP_OPERANDS];
  MlirValue thread, element, turn; /* i32: of the block; which element in it, which of those that share one */
} reduction;

/* ---- the shape of a block ---- */

static int floor_power(int64_t n, int most) {
  int power = 1;
  while (2 * power <= n && 2 * power <= most)
    power *= 2;
  return power;
}

/* The loop along which the largest input that is reduced lies in memory. */
static int find_inner(const tp__map_nest *n) {
  int inner = -1;
  int64_t most = -1;
  for (int i = 0; i < n->n_inputs; i++) {
    const tp__map_operand *o = n->operands + i;
    int64_t size = 1;
    int along = -1;
    bool reduced = false;
    for (int d = 0; d < o->rank; d++) {
      MlirAffineExpr expr = mlirAffineMapGetResult(o->map, d);
      size *= o->sizes[d];
      int loop = mlirAffineExprIsADim(expr) ? (int)mlirAffineDimExprGetPosition(expr) : -1;
      if (loop >= 0 && o->strides[d] == 1 && n->size[loop] > 1)
        along = loop;
      for (int l = 0; l < n->n_loops; l++)
        reduced |= n->is_reduction[l] && n->size[l] > 1 && mlirAffineExprIsFunctionOfDim(expr, l);
    }
    if (reduced && along >= 0 && size > most) {
      most = size;
      inner = along;
    }
  }
  for (int l = n->n_loops - 1; l >= 0 && inner < 0; l--)
    if (n->is_reduction[l])
      inner = l;
  return inner;
}

/* Can threads share an element? */
static bool find_combiners(reduction *r) {
  for (int k = 0; k < r->n_outputs; k++) {
    MlirType element = r->n->operands[r->n->n_inputs + k].element;
    if (!tp__body_combiner(&r->n->body, k, r->combiners + k) || mlirTypeIsAComplex(element) ||
        mlirAttributeIsNull(tp__identity_attr(element, r->combiners[k])))
      return false;
  }
  return true;
}

static int64_t shared_bytes(const reduction *r, int n_threads) {
  int64_t bytes = 0;
  for (int k = 0; k < r->n_outputs; k++)
    bytes += n_threads * tp__element_size(r->n->operands[r->n->n_inputs + k].element);
  return bytes;
}

static void choose_block(reduction *r) {
  const tp__map_nest *n = r->n;
  r->inner = find_inner(n);
  r->rows = n->is_reduction[r->inner];
  r->lanes = 1;
  r->n_sharing = 1;
  r->n_elements = THREADS;
  r->n_results = tp__map_iterations(n, false);
  r->n_steps = tp__map_iterations(n, true);
  if (!find_combiners(r))
    return;
  if (r->rows) {
    r->lanes = tp__map_lanes(n, r->inner);
    r->n_steps /= r->lanes;
    bool is_long = r->n_steps >= LONG_ROW && r->n_results < FEW_ROWS;
    r->n_sharing = floor_power(r->n_steps, is_long ? LONG_ROW_THREADS : ROW_THREADS);
    r->n_elements = r->n_sharing < THREADS ? THREADS / r->n_sharing : 1;
  } else {
    r->n_sharing = floor_power(r->n_steps / 4, TP_MAP_WARP);
    r->n_elements = r->n_sharing * TP_MAP_WARP < THREADS ? THREADS / r->n_sharing : TP_MAP_WARP;
  }
  if (shared_bytes(r, r->n_sharing * r->n_elements) > SHARED_BYTES) {
    r->n_sharing = 1;
    r->n_elements = THREADS;
  }
}

/* ---- combining ---- */

static MlirValue combine(const reduction *r, MlirOperation where, int k, MlirValue a, MlirValue b) {
  static const struct {
    const char *floats, *integers;
  } rows[TP_N_COMBINERS] = {
      [TP_SUM] = {"arith.addf", "arith.addi"},
      [TP_PRODUCT] = {"arith.mulf", "arith.muli"},
      [TP_MAX] = {"arith.maximumf", "arith.maxsi"},
      [TP_MIN] = {"arith.minimumf", "arith.minsi"},
      [TP_MAXNUM] = {"arith.maxnumf", NULL},
      [TP_MINNUM] = {"arith.minnumf", NULL},
      [TP_MAXU] = {NULL, "arith.maxui"},
      [TP_MINU] = {NULL, "arith.minui"},
      [TP_AND] = {NULL, "arith.andi"},
      [TP_OR] = {NULL, "arith.ori"},
      [TP_XOR] = {NULL, "arith.xori"},
  };
  bool is_float = mlirTypeIsAFloat(mlirValueGetType(a));
  return tp__binary(where, is_float ? rows[r->combiners[k]].floats : rows[r->combiners[k]].integers, a, b);
}

static MlirType element_of(const reduction *r, int k) { return r->n->operands[r->n->n_inputs + k].element; }

static bool can_shuffle(const reduction *r, int k) {
  MlirType type = element_of(r, k);
  return r->rows && (mlirTypeIsAF32(type) || (mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 32));
}

/* What the threads of a warp have, by pairs at distance n/2, ..., 1. */
static MlirValue combine_in_warp(const reduction *r, MlirOperation where, int k, MlirValue value) {
  int n = r->n_sharing < TP_MAP_WARP ? r->n_sharing : TP_MAP_WARP;
  MlirType type = mlirValueGetType(value), i32 = r->n->i32;
  MlirNamedAttribute kind = tp__named(r->n->context, "kind", tp__parse_attr(r->n->context, "#nvvm<shfl_kind bfly>"));
  for (int distance = n / 2; distance >= 1; distance /= 2) {
    MlirValue operands[] = {tp__build_int(where, i32, -1), value, tp__build_int(where, i32, distance),
                            tp__build_int(where, i32, TP_MAP_WARP - 1)};
    MlirValue other = mlirOperationGetResult(tp__build(where, "nvvm.shfl.sync", 4, operands, 1, &type, 1, &kind), 0);
    value = combine(r, where, k, value, other);
  }
  return value;
}

static MlirValue load_shared(const reduction *r, MlirOperation where, int k, MlirValue shared, MlirValue at) {
  MlirValue operands[] = {shared, tp__map_cast(where, at, r->n->index)};
  return tp__build_one(where, "memref.load", 2, operands, element_of(r, k));
}

static void store_shared(const reduction *r, MlirOperation where, MlirValue shared, MlirValue at, MlirValue value) {
  MlirValue operands[] = {value, shared, tp__map_cast(where, at, r->n->index)};
  tp__build(where, "memref.store", 3, operands, 0, NULL, 0, NULL);
}

static void barrier(MlirOperation where) { tp__build(where, "nvvm.barrier0", 0, NULL, 0, NULL, 0, NULL); }

/* Through memory of the block: what its threads have, or its warps, by pairs at distance n/2, ..., 1. The thread whose turn is 0 gets the result. */
static MlirValue combine_in_block(const reduction *r, MlirOperation end, int k, MlirValue value, int group) {
  int n = r->n_sharing / group, apart = r->rows ? 1 : r->n_elements;
  MlirType i32 = r->n->i32;
  char name[160];
  MlirStringRef kernel = mlirStringAttrGetValue(tp__inherent(r->func, "sym_name"));
  snprintf(name, sizeof name, "%.*s_shared%d", (int)kernel.length, kernel.data, k);
  MlirValue shared = tp__map_shared(r->func, end, name, (int64_t)n * r->n_elements, element_of(r, k));
  MlirValue size = tp__build_int(end, i32, group), zero = tp__build_int(end, i32, 0);
  MlirValue place = tp__binary(end, "arith.divui", r->thread, size), turn = tp__binary(end, "arith.divui", r->turn, size);
  MlirValue speaks = tp__compare(end, TP_EQ, tp__binary(end, "arith.remui", r->thread, size), zero);
  MlirOperation inside;
  tp__map_if(end, speaks, &inside);
  store_shared(r, inside, shared, place, value);
  barrier(end);
  for (int distance = n / 2; distance >= 1; distance /= 2) {
    MlirValue first = tp__compare(end, TP_ULT, turn, tp__build_int(end, i32, distance));
    tp__map_if(end, tp__binary(end, "arith.andi", speaks, first), &inside);
    MlirValue other = tp__binary(inside, "arith.addi", place, tp__build_int(inside, i32, (int64_t)distance * apart));
    MlirValue a = load_shared(r, inside, k, shared, place), b = load_shared(r, inside, k, shared, other);
    store_shared(r, inside, shared, place, combine(r, inside, k, a, b));
    barrier(end);
  }
  return load_shared(r, end, k, shared, place);
}

static MlirValue combine_threads(const reduction *r, MlirOperation end, int k, MlirValue value) {
  if (r->n_sharing == 1)
    return value;
  int group = 1;
  if (can_shuffle(r, k)) {
    value = combine_in_warp(r, end, k, value);
    group = TP_MAP_WARP;
  }
  return r->n_sharing > group ? combine_in_block(r, end, k, value, group) : value;
}

/* ---- the kernel ---- */

/* The iterations of a thread, in steps of n_sharing; `values` go in and out. */
static tp_status build_loop(const reduction *r, MlirOperation where, MlirType counter, const MlirValue *outer,
                            MlirValue *values) {
  const tp__map_nest *n = r->n;
  MlirOperation inside;
  int loops[TP_MAP_LOOPS], count = tp__map_order(n, true, r->inner, loops);
  MlirValue at[TP_MAP_LOOPS], step, carried[TP_MAP_OPERANDS];
  for (int l = 0; l < n->n_loops; l++)
    at[l] = outer[l];
  MlirOperation loop = tp__map_for(where, tp__map_cast(where, r->turn, counter), tp__build_int(where, counter, r->n_steps),
                                   tp__build_int(where, counter, r->n_sharing), r->n_outputs, values, &step, carried, &inside);
  tp__map_split(n, inside, step, count, loops, r->lanes, at);
  tp_status status = tp__map_body(n, inside, loops[count - 1], r->lanes, at, carried);
  tp__map_yield(inside, r->n_outputs, carried);
  for (int k = 0; k < r->n_outputs; k++)
    values[k] = mlirOperationGetResult(loop, k);
  return status;
}

/* Which element and which turn the thread has; the index of each parallel loop. Threads behind the last element compute it, too, since all have
 * to come to barriers, but do not write: the bit. */
static MlirValue build_place(reduction *r, MlirOperation end, MlirValue *at) {
  const tp__map_nest *n = r->n;
  int loops[TP_MAP_LOOPS];
  MlirType counter = tp__map_counter(n, r->n_results + r->n_elements);
  MlirValue small = tp__build_int(end, n->i32, r->rows ? r->n_sharing : r->n_elements);
  r->thread = tp__map_register(n, end, "tid.x");
  MlirValue slow = tp__binary(end, "arith.divui", r->thread, small), fast = tp__binary(end, "arith.remui", r->thread, small);
  r->element = r->rows ? slow : fast;
  r->turn = r->rows ? fast : slow;
  MlirValue block = tp__map_cast(end, tp__map_register(n, end, "ctaid.x"), counter);
  MlirValue first = tp__binary(end, "arith.muli", block, tp__build_int(end, counter, r->n_elements));
  MlirValue number = tp__binary(end, "arith.addi", first, tp__map_cast(end, r->element, counter));
  MlirValue exists = tp__compare(end, TP_ULT, number, tp__build_int(end, counter, r->n_results));
  number = tp__select(end, exists, number, tp__build_int(end, counter, r->n_results - 1));
  int count = tp__map_order(n, false, r->inner, loops);
  if (count > 0)
    tp__map_split(n, end, number, count, loops, 1, at);
  return tp__binary(end, "arith.andi", exists, tp__compare(end, TP_EQ, r->turn, tp__build_int(end, n->i32, 0)));
}

tp_status tp__map_reduction(const tp__map_nest *n, MlirOperation func, MlirOperation end, tp__map_launch *launch) {
  reduction r = {.n = n, .func = func, .n_outputs = tp__map_n_outputs(n)};
  MlirValue at[TP_MAP_LOOPS] = {{NULL}}, values[TP_MAP_OPERANDS];
  MlirOperation inside;
  choose_block(&r);
  *launch = (tp__map_launch){.n_blocks = (r.n_results + r.n_elements - 1) / r.n_elements,
                             .n_threads = r.n_sharing * r.n_elements,
                             .loop = r.inner,
                             .lanes = r.lanes};
  MlirValue writes = build_place(&r, end, at);
  bool shares = r.n_sharing > 1;
  for (int k = 0; k < r.n_outputs; k++)
    values[k] = shares ? tp__constant(end, element_of(&r, k), tp__identity_attr(element_of(&r, k), r.combiners[k]))
                       : tp__map_load(n, end, n->n_inputs + k, at);
  tp_status status = build_loop(&r, end, tp__map_counter(n, r.n_steps + r.n_sharing), at, values);
  for (int k = 0; k < r.n_outputs; k++)
    values[k] = combine_threads(&r, end, k, values[k]);
  tp__map_if(end, writes, &inside);
  for (int k = 0; k < r.n_outputs; k++) {
    int output = n->n_inputs + k;
    if (shares)
      values[k] = combine(&r, inside, k, tp__map_load(n, inside, output, at), values[k]);
    tp__map_store(n, inside, output, at, values[k]);
  }
  return status;
}
