/* Reductions in which threads share result elements: chooses how many threads share one, and
 * combines their partial results. */
#include "passes/gpu/kernels/map.h"

#include "ir/collectives.h"
#include "passes/support/lower.h"

#include <stdio.h>

enum { THREADS = 128, ROW_THREADS = 256, MAX_THREADS = 1024, MAX_SERIAL_VALUES = 8 };

int tp__map_floor_power(int64_t n, int most) {
  int power = 1;
  while (2 * power <= n && 2 * power <= most)
    power *= 2;
  return power;
}

void tp__map_share_rows(tp__map_sharing *s, int64_t n_steps, int lanes) {
  int most = ROW_THREADS;
  while (most < MAX_THREADS && (n_steps + most - 1) / most * lanes > TP_MAP_ROW_ELEMENTS)
    most *= 2;
  s->rows = true;
  s->n_sharing = tp__map_floor_power(n_steps, most);
  s->n_elements = s->n_sharing < THREADS ? THREADS / s->n_sharing : 1;
}

static MlirType element_of(const tp__map_nest *n, int k) {
  return n->operands[n->n_inputs + k].element;
}

bool tp__map_combiners(const tp__map_nest *n, tp_combiner *combiners) {
  for (int k = 0; k < tp__map_n_outputs(n); k++)
    if (!tp__body_combiner(&n->body, k, combiners + k) || mlirTypeIsAComplex(element_of(n, k)) ||
        mlirAttributeIsNull(tp__identity_attr(element_of(n, k), combiners[k])))
      return false;
  return true;
}

MlirValue tp__map_identity(const tp__map_sharing *s, MlirOperation where, int k) {
  MlirType type = element_of(s->n, k);
  return tp__constant(where, type, tp__identity_attr(type, s->combiners[k]));
}

MlirValue tp__map_combine(const tp__map_sharing *s, MlirOperation where, int k, MlirValue a,
                          MlirValue b) {
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
  return tp__binary(where, is_float ? rows[s->combiners[k]].floats : rows[s->combiners[k]].integers,
                    a, b);
}

static bool can_shuffle(const tp__map_sharing *s, int k) {
  MlirType type = element_of(s->n, k);
  return s->rows && (mlirTypeIsAF32(type) ||
                     (mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 32));
}

/* Combines the values of the threads of a warp, pairwise at distance n/2, ..., 1. */
static MlirValue combine_in_warp(const tp__map_sharing *s, MlirOperation where, int k,
                                 MlirValue value) {
  int n = s->n_sharing < TP_MAP_WARP ? s->n_sharing : TP_MAP_WARP;
  MlirType type = mlirValueGetType(value), i32 = s->n->i32;
  MlirNamedAttribute kind =
      tp__named(s->n->context, "kind", tp__parse_attr(s->n->context, "#nvvm<shfl_kind bfly>"));
  for (int distance = n / 2; distance >= 1; distance /= 2) {
    MlirValue operands[] = {tp__build_int(where, i32, -1), value,
                            tp__build_int(where, i32, distance),
                            tp__build_int(where, i32, TP_MAP_WARP - 1)};
    MlirValue other = mlirOperationGetResult(
        tp__build(where, "nvvm.shfl.sync", 4, operands, 1, &type, 1, &kind), 0);
    value = tp__map_combine(s, where, k, value, other);
  }
  return value;
}

static MlirValue load_shared(const tp__map_sharing *s, MlirOperation where, int k, MlirValue shared,
                             MlirValue at) {
  MlirValue operands[] = {shared, tp__map_cast(where, at, s->n->index)};
  return tp__build_one(where, "memref.load", 2, operands, element_of(s->n, k));
}

static void store_shared(const tp__map_sharing *s, MlirOperation where, MlirValue shared,
                         MlirValue at, MlirValue value) {
  MlirValue operands[] = {value, shared, tp__map_cast(where, at, s->n->index)};
  tp__build(where, "memref.store", 3, operands, 0, NULL, 0, NULL);
}

static void barrier(MlirOperation where) {
  tp__build(where, "nvvm.barrier0", 0, NULL, 0, NULL, 0, NULL);
}

/* Combines n values from `start` on, in the order of combine_in_block. Every thread does all the
 * work, so no barrier is needed. */
static MlirValue combine_alone(const tp__map_sharing *s, MlirOperation end, int k, MlirValue shared,
                               MlirValue start, int n) {
  MlirValue values[MAX_SERIAL_VALUES];
  for (int i = 0; i < n; i++)
    values[i] = load_shared(s, end, k, shared,
                            tp__binary(end, "arith.addi", start, tp__build_int(end, s->n->i32, i)));
  for (int distance = n / 2; distance >= 1; distance /= 2)
    for (int i = 0; i < distance; i++)
      values[i] = tp__map_combine(s, end, k, values[i], values[i + distance]);
  return values[0];
}

/* Combines the values of threads, or of warps, through shared memory, pairwise at distance n/2,
 * ..., 1. The thread with turn 0 gets the result. With for_all, which requires rows, the other
 * threads of the row get it too. */
static MlirValue combine_in_block(tp__map_sharing *s, MlirOperation end, int k, MlirValue value,
                                  int group, bool for_all) {
  int n = s->n_sharing / group, apart = s->rows ? 1 : s->n_elements;
  MlirType i32 = s->n->i32;
  char name[160];
  MlirStringRef kernel = mlirStringAttrGetValue(tp__inherent(s->func, "sym_name"));
  snprintf(name, sizeof name, "%.*s_shared%d", (int)kernel.length, kernel.data, s->n_arrays++);
  MlirValue shared =
      tp__map_shared(s->func, end, name, (int64_t)n * s->n_elements, element_of(s->n, k));
  MlirValue size = tp__build_int(end, i32, group), zero = tp__build_int(end, i32, 0);
  MlirValue place = tp__binary(end, "arith.divui", s->thread, size),
            turn = tp__binary(end, "arith.divui", s->turn, size);
  MlirValue is_writer =
      tp__compare(end, TP_EQ, tp__binary(end, "arith.remui", s->thread, size), zero);
  MlirOperation inside;
  tp__map_if(end, is_writer, &inside);
  store_shared(s, inside, shared, place, value);
  barrier(end);
  MlirValue start = s->rows ? tp__binary(end, "arith.subi", place, turn) : place;
  if (s->rows && n <= MAX_SERIAL_VALUES)
    return combine_alone(s, end, k, shared, start, n);
  for (int distance = n / 2; distance >= 1; distance /= 2) {
    MlirValue first = tp__compare(end, TP_ULT, turn, tp__build_int(end, i32, distance));
    tp__map_if(end, tp__binary(end, "arith.andi", is_writer, first), &inside);
    MlirValue other = tp__binary(inside, "arith.addi", place,
                                 tp__build_int(inside, i32, (int64_t)distance * apart));
    MlirValue a = load_shared(s, inside, k, shared, place),
              b = load_shared(s, inside, k, shared, other);
    store_shared(s, inside, shared, place, tp__map_combine(s, inside, k, a, b));
    barrier(end);
  }
  return load_shared(s, end, k, shared, for_all ? start : place);
}

MlirValue tp__map_combine_threads(tp__map_sharing *s, MlirOperation end, int k, MlirValue value,
                                  bool for_all) {
  if (s->n_sharing == 1)
    return value;
  int group = 1;
  if (can_shuffle(s, k)) {
    value = combine_in_warp(s, end, k, value);
    group = TP_MAP_WARP;
  }
  return s->n_sharing > group ? combine_in_block(s, end, k, value, group, for_all) : value;
}
