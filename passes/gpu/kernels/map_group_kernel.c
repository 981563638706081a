/* Builds the kernel of several nests. A thread keeps the results of a nest for its elements and its
 * row, so that later nests can use them. A result goes to memory only if ops after the kernel may
 * read it.
 *
 * If a block can keep a row, a thread has few elements, and the code is fully unrolled. If the
 * number of threads does not divide the elements of a row, a thread computes its first elements
 * again instead of missing ones and does not store them. Missing rows at the end are handled the
 * same way. All threads therefore reach all barriers.
 *
 * Of longer rows, only numbers per row are kept. Each reduction is a loop over the thread's
 * elements that recomputes the results of earlier nests. A last loop does the same for results to
 * be stored. At that time, a stored location is only read by the thread that stores it, just
 * before. LLVM removes the computations that a loop does not use. */
#include "passes/gpu/kernels/map_group_build.h"

#include "ir/diagnostics.h"
#include "passes/support/lower.h"
#include "support/support.h"

/* ---- nests ---- */

typedef struct nest_builder {
  const tp__map_nest *n;
  /* index in the group; loop of adjacent elements; lanes of a vector */
  int number, loop, lanes;
  /* entries of operands that are read, and of results; -1: none */
  int source[TP_MAP_OPERANDS], target[TP_MAP_OPERANDS];
  bool fills[TP_MAP_OPERANDS]; /* the entry has no value yet and is filled on the first read */
} nest_builder;

/* Looks up the kept values of the operands before results replace them. */
static tp_status begin_nest(tp__group_builder *b, int number, nest_builder *nb) {
  const tp__map_nest *n = b->group->nests[number];
  *nb = (nest_builder){.n = n, .number = number};
  nb->lanes = tp__group_nest_lanes(b->group, n, b->lanes, &nb->loop);
  if (!tp__group_is_whole(b->group, n))
    nb->loop = 0;
  for (int i = 0; i < n->n_operands; i++) {
    int place[TP_MAX_RANK];
    nb->source[i] = tp__group_find_kept(b, number, i);
    if (nb->source[i] >= 0 || !tp__body_reads(&n->body, i) || n->operands[i].is_scalar)
      continue;
    tp__group_access access = tp__group_access_of(b->group, n, i, place);
    bool keeps = access == TP_ACCESS_ELEMENT && (!b->is_looped || b->in_loop);
    if (access == TP_ACCESS_ROW ||
        (keeps && tp__group_is_used_after(b, number, n->operands[i].memref, false))) {
      nb->source[i] = tp__group_add_kept(b, number, i, true);
      nb->fills[i] = true;
      if (nb->source[i] < 0)
        return tp__out_of_memory(n->op);
    }
  }
  for (int i = n->n_inputs; i < n->n_operands; i++) {
    nb->target[i] = tp__group_add_kept(b, number, i, false);
    if (nb->target[i] < 0)
      return tp__out_of_memory(n->op);
  }
  return TP_OK;
}

/* Reads nb->lanes adjacent values of the operand, from element `first` of the thread on. */
static void read_operand(tp__group_builder *b, const nest_builder *nb, int i, int first,
                         const MlirValue *at, MlirValue *values) {
  tp__group_kept *k = nb->source[i] < 0 ? NULL : b->items + nb->source[i];
  bool of_row = k && k->access == TP_ACCESS_ROW;
  if (!k) {
    tp__map_fetch(nb->n, b->end, i, nb->loop, nb->lanes, at, values);
    return;
  }
  MlirValue *own = k->values + (of_row ? 0 : first);
  if (nb->fills[i] && mlirValueIsNull(own[0]))
    tp__map_fetch(nb->n, b->end, i, nb->loop, of_row ? 1 : nb->lanes, at, own);
  for (int lane = 0; lane < nb->lanes; lane++)
    values[lane] = own[of_row ? 0 : lane];
}

/* Builds the body for adjacent elements. Results are kept, or combined into `so_far`. */
static tp_status build_body(tp__group_builder *b, const nest_builder *nb, int first,
                            const MlirValue *at, MlirValue *so_far) {
  const tp__map_nest *n = nb->n;
  tp__map_lanes_of arguments[TP_MAP_OPERANDS], yielded[TP_MAP_OPERANDS];
  for (int i = 0; i < n->n_operands; i++) {
    for (int lane = 0; lane < nb->lanes; lane++)
      arguments[i][lane] = (MlirValue){NULL};
    if (tp__body_reads(&n->body, i) && (i < n->n_inputs || !so_far))
      read_operand(b, nb, i, first, at, arguments[i]);
  }
  tp_status status =
      tp__map_compute(n, b->end, nb->loop, nb->lanes, at, arguments, so_far, yielded);
  for (int k = 0; k < tp__map_n_outputs(n) && status == TP_OK && !so_far; k++)
    for (int lane = 0; lane < nb->lanes; lane++)
      b->items[nb->target[n->n_inputs + k]].values[first + lane] = yielded[k][lane];
  return status;
}

static void store(tp__group_builder *b, const nest_builder *nb, MlirValue condition, int first,
                  int count, const MlirValue *at) {
  const tp__map_nest *n = nb->n;
  for (int i = n->n_inputs; i < n->n_operands; i++) {
    MlirOperation where = b->end;
    if (!tp__group_is_stored(b, nb->number, n->operands[i].memref))
      continue;
    if (!mlirValueIsNull(condition))
      tp__map_if(b->end, condition, &where);
    MlirValue here[TP_MAP_LOOPS];
    for (int l = 0; l < n->n_loops; l++)
      here[l] = at[l];
    for (int c = 0; c < count; c += nb->lanes) {
      if (c > 0)
        here[nb->loop] =
            tp__binary(where, "arith.addi", at[nb->loop], tp__index_constant(where, c));
      tp__map_put(n, where, i, nb->loop, nb->lanes, here,
                  b->items[nb->target[i]].values + first + c);
    }
  }
}

static tp_status build_elements(tp__group_builder *b, const nest_builder *nb) {
  tp_status status = TP_OK;
  for (int s = 0; s < b->n_sections && status == TP_OK; s++) {
    MlirValue at[TP_MAP_LOOPS], start;
    tp__group_build_at(b, nb->n, s, at);
    start = nb->loop >= 0 ? at[nb->loop] : (MlirValue){NULL};
    for (int c = 0; c < b->lanes && status == TP_OK; c += nb->lanes) {
      if (c > 0)
        at[nb->loop] = tp__binary(b->end, "arith.addi", start, tp__index_constant(b->end, c));
      status = build_body(b, nb, s * b->lanes + c, at, NULL);
    }
    if (nb->loop >= 0)
      at[nb->loop] = start;
    if (status == TP_OK && b->stores_elements)
      store(b, nb, b->stores[s], s * b->lanes, b->lanes, at);
  }
  return status;
}

static tp_status build_row(tp__group_builder *b, const nest_builder *nb) {
  MlirValue at[TP_MAP_LOOPS];
  tp__group_build_at(b, nb->n, -1, at);
  TP_TRY(build_body(b, nb, 0, at, NULL));
  store(b, nb, b->is_writer, 0, 1, at);
  return TP_OK;
}

/* ---- loops over rows that are not kept ---- */

static bool is_of_elements(const tp__group_builder *b, int number) {
  const tp__map_nest *n = b->group->nests[number];
  return tp__group_is_whole(b->group, n) && !tp__group_reduces(n);
}

/* Reads the numbers per row that nests up to `last` need, for all later loops. */
static tp_status read_rows(tp__group_builder *b, int last) {
  for (int j = 0; j <= last; j++) {
    const tp__map_nest *n = b->group->nests[j];
    MlirValue at[TP_MAP_LOOPS];
    int place[TP_MAX_RANK];
    for (int i = 0; i < n->n_operands && tp__group_is_whole(b->group, n); i++) {
      if (!tp__body_reads(&n->body, i) || n->operands[i].is_scalar ||
          tp__group_find_kept(b, j, i) >= 0 ||
          tp__group_access_of(b->group, n, i, place) != TP_ACCESS_ROW)
        continue;
      int entry = tp__group_add_kept(b, j, i, true);
      if (entry < 0)
        return tp__out_of_memory(n->op);
      tp__group_build_at(b, n, -1, at);
      tp__map_fetch(n, b->end, i, 0, 1, at, b->items[entry].values);
    }
  }
  return TP_OK;
}

/* Builds the nests over elements up to `last` for some elements. If `so_far` is set, the nest
 * `last` is a reduction that combines their results into it. */
static tp_status build_inside(tp__group_builder *b, int last, MlirValue *so_far) {
  nest_builder nb;
  MlirValue at[TP_MAP_LOOPS];
  tp_status status = TP_OK;
  for (int j = 0; j <= last && status == TP_OK; j++) {
    if (!is_of_elements(b, j))
      continue;
    status = begin_nest(b, j, &nb);
    if (status == TP_OK)
      status = build_elements(b, &nb);
  }
  if (status != TP_OK || !so_far)
    return status;
  status = begin_nest(b, last, &nb);
  tp__group_build_at(b, nb.n, 0, at);
  return status == TP_OK ? build_body(b, &nb, 0, at, so_far) : status;
}

/* Builds a loop over all elements of the thread. With so_far (n values), the nest `last` combines
 * them; with NULL, final results are stored. */
static tp_status build_loop(tp__group_builder *b, int last, int n, MlirValue *so_far) {
  const tp__map_sharing *sharing = &b->sharing;
  MlirOperation outside = b->end, inside;
  MlirValue carried[TP_MAP_OPERANDS];
  int64_t n_steps = b->group->width / b->lanes;
  TP_TRY(read_rows(b, last));
  MlirType counter = tp__map_counter(b->group->nests[0], n_steps + sharing->n_sharing);
  MlirValue from = tp__map_cast(outside, sharing->turn, counter),
            to = tp__build_int(outside, counter, n_steps);
  MlirValue step = tp__build_int(outside, counter, sharing->n_sharing);
  MlirOperation loop =
      tp__map_for(outside, from, to, step, n, so_far, &b->positions[0], carried, &inside);
  size_t n_kept = b->n;
  b->end = inside;
  b->in_loop = true;
  b->stores_elements = !so_far;
  tp_status status = build_inside(b, last, so_far ? carried : NULL);
  b->end = outside;
  b->in_loop = false;
  b->n = n_kept; /* values of elements are only valid inside the loop */
  tp__map_yield(inside, n, carried);
  for (int k = 0; k < n; k++)
    so_far[k] = mlirOperationGetResult(loop, k);
  return status;
}

static bool stores_elements(const tp__group_builder *b) {
  for (int j = 0; j < b->group->n_nests; j++)
    for (int i = b->group->nests[j]->n_inputs; i < b->group->nests[j]->n_operands; i++)
      if (is_of_elements(b, j) && tp__group_is_stored(b, j, b->group->nests[j]->operands[i].memref))
        return true;
  return false;
}

/* Builds a reduction as in a kernel of its own. If threads share the row, it starts from the
 * identity, and the previous contents of the result are combined at the end. */
static tp_status build_reduction(tp__group_builder *b, const nest_builder *nb) {
  const tp__map_nest *n = nb->n;
  tp__map_sharing *sharing = &b->sharing;
  bool shares = sharing->n_sharing > 1;
  MlirValue at[TP_MAP_LOOPS], so_far[TP_MAP_OPERANDS], next[TP_MAP_OPERANDS];
  int n_outputs = tp__map_n_outputs(n);
  tp_status status = TP_OK;
  sharing->n = n;
  if (!tp__map_combiners(n, sharing->combiners))
    return tp__error(
        n->op, TP_UNSUPPORTED,
        "has a reduction with an unknown combiner, so it cannot be part of a fused kernel");
  for (int k = 0; k < n_outputs; k++)
    if (nb->source[n->n_inputs + k] < 0 || nb->fills[n->n_inputs + k])
      return tp__error(n->op, TP_UNSUPPORTED,
                       "continues from a value of output %d that its kernel did not compute", k);
  for (int k = 0; k < n_outputs; k++)
    so_far[k] = shares ? tp__map_identity(sharing, b->end, k)
                       : b->items[nb->source[n->n_inputs + k]].values[0];
  tp__group_build_at(b, n, -1, at);
  if (b->is_looped)
    status = build_loop(b, nb->number, n_outputs, so_far);
  for (int s = 0; s < b->n_sections && status == TP_OK && !b->is_looped; s++) {
    tp__group_build_at(b, n, s, at);
    for (int k = 0; k < n_outputs; k++)
      next[k] = so_far[k];
    status = build_body(b, nb, s * b->lanes, at, next);
    for (int k = 0; k < n_outputs && status == TP_OK; k++)
      so_far[k] = mlirValueIsNull(b->inside[s])
                      ? next[k]
                      : tp__select(b->end, b->inside[s], next[k], so_far[k]);
  }
  for (int k = 0; k < n_outputs && status == TP_OK; k++) {
    MlirValue value = tp__map_combine_threads(sharing, b->end, k, so_far[k], true);
    if (shares)
      value = tp__map_combine(sharing, b->end, k, b->items[nb->source[n->n_inputs + k]].values[0],
                              value);
    b->items[nb->target[n->n_inputs + k]].values[0] = value;
  }
  nest_builder of_row = *nb; /* a result per row has no vectors */
  of_row.lanes = 1;
  if (status == TP_OK)
    store(b, &of_row, b->is_writer, 0, 1, at);
  return status;
}

static tp_status build_nest(tp__group_builder *b, int number) {
  nest_builder nb;
  if (b->is_looped && is_of_elements(b, number)) /* built inside loops */
    return TP_OK;
  TP_TRY(begin_nest(b, number, &nb));
  return tp__group_reduces(nb.n)              ? build_reduction(b, &nb)
         : tp__group_is_whole(b->group, nb.n) ? build_elements(b, &nb)
                                              : build_row(b, &nb);
}

tp_status tp__map_group_kernel(const tp__map_group *g, MlirOperation func, MlirOperation end,
                               tp__map_launch *launch) {
  tp__group_builder b = {.group = g,
                         .func = func,
                         .end = end,
                         .sharing = {.n = g->nests[0], .func = func},
                         .lanes = tp__group_lanes(g)};
  tp_status status = TP_OK;
  b.is_looped = tp__group_is_looped(g);
  b.stores_elements = !b.is_looped;
  if (b.lanes == 0)
    return tp__error(g->nests[0]->op, TP_UNSUPPORTED,
                     "starts a kernel whose reductions have different vector widths");
  if (g->has_rows) {
    tp__map_share_rows(&b.sharing, g->width / b.lanes, b.lanes);
    tp__group_build_rows(&b);
    if (b.is_looped)
      tp__group_begin_loops(&b);
    else
      tp__group_build_sections(&b);
    *launch =
        (tp__map_launch){.n_blocks = (g->n_rows + b.sharing.n_elements - 1) / b.sharing.n_elements,
                         .n_threads = b.sharing.n_sharing * b.sharing.n_elements};
  } else {
    int64_t n_items = g->width / b.lanes;
    tp__group_build_items(&b, n_items);
    *launch = (tp__map_launch){.n_blocks = (n_items + TP_GROUP_THREADS - 1) / TP_GROUP_THREADS,
                               .n_threads = TP_GROUP_THREADS};
  }
  launch->lanes = b.lanes;
  for (int i = 0; i < g->n_nests && status == TP_OK; i++)
    status = build_nest(&b, i);
  if (status == TP_OK && b.is_looped && stores_elements(&b))
    status = build_loop(&b, g->n_nests - 1, 0, NULL);
  tp__free(b.items);
  return status;
}
