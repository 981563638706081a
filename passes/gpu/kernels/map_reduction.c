/* Kernels of nests with reductions: several threads of a block share the iterations of one result
 * element.
 *
 * If these iterations are contiguous in memory, adjacent threads read adjacent elements ("rows").
 * If the result elements are contiguous, adjacent threads compute different elements ("columns").
 * Each thread combines every n_sharing-th iteration, in order, starting from the identity. Then
 * threads combine pairwise at fixed distances. A program therefore gives the same bits in every
 * run. */
#include "passes/gpu/kernels/map.h"

#include "passes/support/lower.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

enum { THREADS = 128, SHARED_BYTES = 48 * 1024 };

typedef struct reduction {
  tp__map_sharing sharing;
  int n_outputs, inner, lanes;
  /* number of result elements, and of iterations of each, counted in vectors */
  int64_t n_results, n_steps;
} reduction;

/* ---- the shape of a block ---- */

int tp__map_inner(const tp__map_nest *n) {
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

static int64_t shared_bytes(const reduction *r, int n_threads) {
  int64_t bytes = 0;
  for (int k = 0; k < r->n_outputs; k++)
    bytes +=
        n_threads * tp__element_size(r->sharing.n->operands[r->sharing.n->n_inputs + k].element);
  return bytes;
}

static void choose_block(reduction *r) {
  const tp__map_nest *n = r->sharing.n;
  r->inner = tp__map_inner(n);
  r->sharing.rows = n->is_reduction[r->inner];
  r->lanes = 1;
  r->sharing.n_sharing = 1;
  r->sharing.n_elements = THREADS;
  r->n_results = tp__map_iterations(n, false);
  r->n_steps = tp__map_iterations(n, true);
  if (!tp__map_combiners(n, r->sharing.combiners))
    return;
  if (r->sharing.rows) {
    r->lanes = tp__map_lanes(n, r->inner);
    r->n_steps /= r->lanes;
    tp__map_share_rows(&r->sharing, r->n_steps, r->lanes);
  } else {
    r->sharing.n_sharing = tp__map_floor_power(r->n_steps / 4, TP_MAP_WARP);
    r->sharing.n_elements =
        r->sharing.n_sharing * TP_MAP_WARP < THREADS ? THREADS / r->sharing.n_sharing : TP_MAP_WARP;
  }
  if (shared_bytes(r, r->sharing.n_sharing * r->sharing.n_elements) > SHARED_BYTES) {
    r->sharing.n_sharing = 1;
    r->sharing.n_elements = THREADS;
  }
}

static int64_t count_blocks(const reduction *r) {
  return (r->n_results + r->sharing.n_elements - 1) / r->sharing.n_elements;
}

int64_t tp__map_reduction_blocks(const tp__map_nest *n) {
  reduction r = {.sharing = {.n = n}, .n_outputs = tp__map_n_outputs(n)};
  choose_block(&r);
  return count_blocks(&r);
}

/* ---- the kernel ---- */

/* Builds the loop over the iterations of a thread, in steps of n_sharing. Updates `values`. */
static tp_status build_loop(const reduction *r, MlirOperation where, MlirType counter,
                            const MlirValue *outer, MlirValue *values) {
  const tp__map_nest *n = r->sharing.n;
  MlirOperation inside;
  int loops[TP_MAP_LOOPS], count = tp__map_order(n, true, r->inner, loops);
  MlirValue at[TP_MAP_LOOPS], step, carried[TP_MAP_OPERANDS];
  for (int l = 0; l < n->n_loops; l++)
    at[l] = outer[l];
  MlirOperation loop = tp__map_for(where, tp__map_cast(where, r->sharing.turn, counter),
                                   tp__build_int(where, counter, r->n_steps),
                                   tp__build_int(where, counter, r->sharing.n_sharing),
                                   r->n_outputs, values, &step, carried, &inside);
  tp__map_split(n, inside, step, count, loops, r->lanes, at);
  tp_status status = tp__map_body(n, inside, loops[count - 1], r->lanes, at, carried);
  tp__map_yield(inside, r->n_outputs, carried);
  for (int k = 0; k < r->n_outputs; k++)
    values[k] = mlirOperationGetResult(loop, k);
  return status;
}

/* Computes the element and the turn of the thread, and the index of each parallel loop. Threads
 * beyond the last element compute it too, because all threads must reach the barriers, but do not
 * write it. Returns an i1: does this thread write? */
static MlirValue build_place(reduction *r, MlirOperation end, MlirValue *at) {
  const tp__map_nest *n = r->sharing.n;
  int loops[TP_MAP_LOOPS];
  MlirType counter = tp__map_counter(n, r->n_results + r->sharing.n_elements);
  MlirValue small =
      tp__build_int(end, n->i32, r->sharing.rows ? r->sharing.n_sharing : r->sharing.n_elements);
  r->sharing.thread = tp__map_register(n, end, "tid.x");
  MlirValue slow = tp__binary(end, "arith.divui", r->sharing.thread, small),
            fast = tp__binary(end, "arith.remui", r->sharing.thread, small);
  r->sharing.element = r->sharing.rows ? slow : fast;
  r->sharing.turn = r->sharing.rows ? fast : slow;
  MlirValue block = tp__map_cast(end, tp__map_register(n, end, "ctaid.x"), counter);
  MlirValue first =
      tp__binary(end, "arith.muli", block, tp__build_int(end, counter, r->sharing.n_elements));
  MlirValue number =
      tp__binary(end, "arith.addi", first, tp__map_cast(end, r->sharing.element, counter));
  MlirValue exists = tp__compare(end, TP_ULT, number, tp__build_int(end, counter, r->n_results));
  number = tp__select(end, exists, number, tp__build_int(end, counter, r->n_results - 1));
  int count = tp__map_order(n, false, r->inner, loops);
  if (count > 0)
    tp__map_split(n, end, number, count, loops, 1, at);
  return tp__binary(end, "arith.andi", exists,
                    tp__compare(end, TP_EQ, r->sharing.turn, tp__build_int(end, n->i32, 0)));
}

/* Computes the initial values of the reduction: the numbers with which the nest `begin` fills the
 * results. */
static tp_status build_begin(const tp__map_nest *begin, MlirOperation end, MlirValue *values) {
  tp__map_lanes_of arguments[TP_MAP_OPERANDS], yielded[TP_MAP_OPERANDS];
  MlirValue at[TP_MAP_LOOPS] = {{NULL}};
  for (int i = 0; i < begin->n_operands; i++)
    arguments[i][0] = i < begin->n_inputs ? begin->operands[i].memref : (MlirValue){NULL};
  TP_TRY(tp__map_compute(begin, end, 0, 1, at, arguments, NULL, yielded));
  for (int k = 0; k < tp__map_n_outputs(begin); k++)
    values[k] = yielded[k][0];
  return TP_OK;
}

tp_status tp__map_reduction(const tp__map_nest *n, const tp__map_nest *begin, MlirOperation func,
                            MlirOperation end, tp__map_launch *launch) {
  reduction r = {.sharing = {.n = n, .func = func}, .n_outputs = tp__map_n_outputs(n)};
  MlirValue at[TP_MAP_LOOPS] = {{NULL}}, values[TP_MAP_OPERANDS];
  MlirOperation inside;
  choose_block(&r);
  *launch = (tp__map_launch){.n_blocks = count_blocks(&r),
                             .n_threads = r.sharing.n_sharing * r.sharing.n_elements,
                             .loop = r.inner,
                             .lanes = r.lanes};
  MlirValue writes = build_place(&r, end, at), first[TP_MAP_OPERANDS];
  bool shares = r.sharing.n_sharing > 1;
  if (begin)
    TP_TRY(build_begin(begin, end, first));
  for (int k = 0; k < r.n_outputs; k++)
    values[k] = shares  ? tp__map_identity(&r.sharing, end, k)
                : begin ? first[k]
                        : tp__map_load(n, end, n->n_inputs + k, at);
  TP_TRY(build_loop(&r, end, tp__map_counter(n, r.n_steps + r.sharing.n_sharing), at, values));
  for (int k = 0; k < r.n_outputs; k++)
    values[k] = tp__map_combine_threads(&r.sharing, end, k, values[k], false);
  tp__map_if(end, writes, &inside);
  for (int k = 0; k < r.n_outputs; k++) {
    int output = n->n_inputs + k;
    if (shares)
      values[k] = tp__map_combine(
          &r.sharing, inside, k, begin ? first[k] : tp__map_load(n, inside, output, at), values[k]);
    tp__map_store(n, inside, output, at, values[k]);
  }
  return TP_OK;
}
