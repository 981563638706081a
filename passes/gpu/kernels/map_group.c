/* Analyzes the loops of several nests that are to become one kernel. */
#include "passes/gpu/kernels/map_group.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

static bool runs(const tp__map_nest *n, int l) { return n->size[l] != 1; }

bool tp__group_reduces(const tp__map_nest *n) {
  for (int l = 0; l < n->n_loops; l++)
    if (n->is_reduction[l] && runs(n, l))
      return true;
  return false;
}

/* Lists the sizes of loops with more than one iteration, in order. *n_parallel is the number of
 * parallel loops, or -1 if a reduction loop precedes a parallel one. */
static int list_loops(const tp__map_nest *n, int64_t *size, int *n_parallel) {
  int count = 0, reduced = 0;
  bool ordered = true;
  *n_parallel = 0;
  for (int l = 0; l < n->n_loops; l++) {
    if (!runs(n, l))
      continue;
    size[count++] = n->size[l];
    ordered &= n->is_reduction[l] || reduced == 0;
    reduced += n->is_reduction[l];
    *n_parallel += !n->is_reduction[l];
  }
  if (!ordered)
    *n_parallel = -1;
  return count;
}

static bool find_loops(tp__map_group *g) {
  int unused;
  int64_t size[TP_MAP_LOOPS];
  g->n_loops = 0;
  for (int i = 0; i < g->n_nests; i++) {
    int count = list_loops(g->nests[i], size, &unused);
    if (i > 0 && count <= g->n_loops)
      continue;
    g->n_loops = count;
    for (int l = 0; l < count; l++)
      g->size[l] = size[l];
  }
  for (int l = 0; l < g->n_loops; l++)
    if (g->size[l] == 0)
      return false;
  return true;
}

bool tp__group_loops(tp__map_group *g) {
  if (!find_loops(g))
    return false;
  g->n_row_loops = g->n_loops; /* provisional: all nests have all loops */
  for (int i = 0; i < g->n_nests; i++) {
    int64_t size[TP_MAP_LOOPS];
    int n_parallel, count = list_loops(g->nests[i], size, &n_parallel);
    for (int l = 0; l < count; l++)
      if (size[l] != g->size[l])
        return false;
    /* reduces over loops that are row loops of other nests */
    if (n_parallel < 0 || (n_parallel < count && count < g->n_loops))
      return false;
    if (n_parallel == g->n_loops)
      continue;
    if (g->n_row_loops != g->n_loops && g->n_row_loops != n_parallel)
      return false;
    g->n_row_loops = n_parallel;
  }
  g->has_rows = g->n_row_loops < g->n_loops;
  if (!g->has_rows)
    g->n_row_loops = 0;
  g->n_rows = g->width = 1;
  for (int l = 0; l < g->n_loops; l++)
    *(l < g->n_row_loops ? &g->n_rows : &g->width) *= g->size[l];
  return true;
}

bool tp__group_is_whole(const tp__map_group *g, const tp__map_nest *n) {
  int count = 0;
  for (int l = 0; l < n->n_loops; l++)
    count += runs(n, l);
  return count == g->n_loops;
}

int tp__group_order(const tp__map_group *g, const tp__map_nest *n, bool of_rows, int *loops) {
  int count = 0, number = 0; /* loop number in the group */
  for (int l = 0; l < n->n_loops; l++) {
    bool of_row = !runs(n, l) || number < g->n_row_loops;
    number += runs(n, l);
    if (of_row == of_rows)
      loops[count++] = l;
  }
  return count;
}

/* ---- operands ---- */

tp__group_access tp__group_access_of(const tp__map_group *g, const tp__map_nest *n, int operand,
                                     int *place) {
  const tp__map_operand *o = n->operands + operand;
  int number[TP_MAP_LOOPS], count = 0;
  uint32_t seen = 0;
  for (int l = 0; l < n->n_loops; l++)
    number[l] = runs(n, l) ? count++ : -1;
  for (int d = 0; d < o->rank; d++) {
    MlirAffineExpr expr = mlirAffineMapGetResult(o->map, d);
    place[d] = mlirAffineExprIsADim(expr) ? number[mlirAffineDimExprGetPosition(expr)] : -1;
    if (place[d] < 0 ? o->sizes[d] != 1 : seen >> place[d] & 1)
      return TP_ACCESS_OTHER;
    seen |= place[d] < 0 ? 0 : UINT32_C(1) << place[d];
  }
  if (o->is_scalar)
    return TP_ACCESS_OTHER;
  if (seen == (UINT32_C(1) << g->n_loops) - 1)
    return TP_ACCESS_ELEMENT;
  return g->has_rows && seen == (UINT32_C(1) << g->n_row_loops) - 1 ? TP_ACCESS_ROW
                                                                    : TP_ACCESS_OTHER;
}

/* ---- vectors ---- */

static int inner_loop(const tp__map_group *g, const tp__map_nest *n) {
  int loops[TP_MAP_LOOPS], count = tp__group_order(g, n, false, loops);
  return count > 0 ? loops[count - 1] : -1;
}

int tp__group_lanes(const tp__map_group *g) {
  int least = TP_MAP_LANES, reduced = 0;
  for (int i = 0; i < g->n_nests; i++) {
    const tp__map_nest *n = g->nests[i];
    int inner = inner_loop(g, n);
    if (!tp__group_is_whole(g, n) || inner < 0)
      continue;
    int lanes = tp__map_lanes(n, inner);
    least = lanes < least ? lanes : least;
    if (!tp__group_reduces(n))
      continue;
    if (tp__map_inner(n) != inner || (reduced > 0 && reduced != lanes))
      return 0;
    reduced = lanes;
  }
  return reduced > 0 ? reduced : g->n_loops > 0 ? least : 1;
}

int tp__group_nest_lanes(const tp__map_group *g, const tp__map_nest *n, int lanes, int *loop) {
  *loop = inner_loop(g, n);
  if (!tp__group_is_whole(g, n) || *loop < 0)
    return 1;
  int own = tp__map_lanes(n, *loop);
  return own < lanes ? own : lanes;
}

int64_t tp__group_elements(const tp__map_group *g, int lanes) {
  tp__map_sharing sharing;
  if (!g->has_rows)
    return lanes;
  int64_t n_steps = g->width / lanes;
  tp__map_share_rows(&sharing, n_steps, lanes);
  return (n_steps + sharing.n_sharing - 1) / sharing.n_sharing * lanes;
}

int tp__group_threads(const tp__map_group *g, int lanes) {
  tp__map_sharing sharing;
  if (!g->has_rows)
    return TP_GROUP_THREADS;
  tp__map_share_rows(&sharing, g->width / lanes, lanes);
  return sharing.n_sharing * sharing.n_elements;
}

bool tp__group_is_looped(const tp__map_group *g) {
  int64_t words = 1; /* words of the widest element */
  for (int i = 0; i < g->n_nests; i++)
    for (int k = 0; k < g->nests[i]->n_operands; k++)
      words = tp__element_size(g->nests[i]->operands[k].element) > 4 ? 2 : words;
  return g->has_rows && g->width > TP_GROUP_ROW / words;
}

bool tp__group_has_kernel(const tp__map_group *g) {
  tp_combiner combiners[TP_MAP_OPERANDS];
  for (int i = 0; i < g->n_nests; i++)
    if (tp__group_reduces(g->nests[i]) && !tp__map_combiners(g->nests[i], combiners))
      return false;
  return tp__group_lanes(g) > 0;
}

/* ---- a fill and a reduction ---- */

static tp_status refuse_index(MlirOperation op, void *data) {
  (void)data;
  return tp__op_is(op, "linalg.index") ? TP_UNSUPPORTED : TP_OK;
}

/* True if the nest writes every element of the operand once. */
static bool covers(const tp__map_nest *n, int operand) {
  const tp__map_operand *o = n->operands + operand;
  uint32_t seen = 0;
  for (int d = 0; d < o->rank; d++) {
    MlirAffineExpr expr = mlirAffineMapGetResult(o->map, d);
    int64_t l = mlirAffineExprIsADim(expr) ? mlirAffineDimExprGetPosition(expr) : -1;
    if (o->sizes[d] != (l < 0 ? 1 : n->size[l]) || (l >= 0 && (seen >> l & 1)))
      return false;
    seen |= l < 0 ? 0 : UINT32_C(1) << l;
  }
  return true;
}

static bool is_number(const tp__map_nest *n) {
  for (int i = 0; i < n->n_operands; i++)
    if (i < n->n_inputs ? !n->operands[i].is_scalar : tp__body_reads(&n->body, i) || !covers(n, i))
      return false;
  for (int l = 0; l < n->n_loops; l++)
    if (n->is_reduction[l])
      return false;
  return tp__map_n_outputs(n) == 1 && tp__walk(n->op, refuse_index, NULL) == TP_OK;
}

bool tp__group_is_begun(const tp__map_group *g) {
  if (g->n_nests != 2 || !is_number(g->nests[0]) || !tp__group_reduces(g->nests[1]) ||
      tp__map_n_outputs(g->nests[1]) != 1)
    return false;
  const tp__map_nest *n = g->nests[1];
  return mlirValueEqual(g->nests[0]->operands[g->nests[0]->n_inputs].memref,
                        n->operands[n->n_inputs].memref) &&
         covers(n, n->n_inputs);
}
