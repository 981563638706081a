/* Exchanges between more than two dimensions: an all_to_all whose axes move from one dimension to
 * several, or from several to one. One exchange moves all data except a device's own share once;
 * axis by axis, some of it moves twice. */
#include "sharding/layout.h"

/* Maximum number of axes that move at once, limited by the rank of the local form
 * (lib/ir/exchange.c). */
enum { MAX_MOVED = 4 };

typedef struct walk {
  const tp_mesh *mesh;
  int n_dims;
  tp__move_fn *emit;
  void *context;
} walk;

/* The minor axes of a dimension, major to minor. */
typedef struct tail {
  int n, next;
  int axes[TP_MAX_AXES];
} tail;

/* ---- one dimension to several ---- */

/* Appends every axis of the tail as the minor-most axis of some dimension other than `lost`. `won`
 * is the set of dimensions that got one. */
static tp_status spread(const walk *w, tail t, int lost, unsigned won, unsigned moved,
                        tp_spec spec) {
  if (t.next == t.n)
    return (won & (won - 1)) ? w->emit(w->context, TP_STEP_ALL_TO_ALL, moved, spec) : TP_OK;
  int axis = t.axes[t.next++];
  for (int d = 0; d < w->n_dims; d++) {
    tp_spec to = spec;
    if (d == lost)
      continue;
    TP_TRY(tp_spec_append(&to, axis, d));
    TP_TRY(spread(w, t, lost, won | 1u << d, moved | 1u << axis, to));
  }
  return TP_OK;
}

static tp_status spread_dim(const walk *w, int dim, tp_spec from) {
  int axes[TP_MAX_AXES], n = tp_spec_dim_axes(w->mesh, from, dim, axes);
  for (int first = n - 1; first >= 0 && n - first <= MAX_MOVED; first--) {
    tail t = {0};
    tp_spec_clear(&from, axes[first]);
    for (int i = first; i < n; i++)
      t.axes[t.n++] = axes[i];
    TP_TRY(spread(w, t, dim, 0, 0, from));
  }
  return TP_OK;
}

/* ---- several to one ---- */

/* Appends the tails to dimension `won`, in every interleaving that keeps the order within each
 * tail. */
static tp_status merge(const walk *w, tail *tails, int won, unsigned moved, tp_spec spec) {
  bool done = true;
  tp_status status = TP_OK;
  for (int d = 0; d < w->n_dims && status == TP_OK; d++) {
    tp_spec to = spec;
    if (tails[d].next == tails[d].n)
      continue;
    int axis = tails[d].axes[tails[d].next++];
    done = false;
    status = tp_spec_append(&to, axis, won);
    if (status == TP_OK)
      status = merge(w, tails, won, moved | 1u << axis, to);
    tails[d].next--;
  }
  return done ? w->emit(w->context, TP_STEP_ALL_TO_ALL, moved, spec) : status;
}

/* Chooses a tail, possibly empty, of every dimension from `dim` on except `won`. */
static tp_status choose_tails(const walk *w, tail *tails, int dim, int n_lost, int n_moved, int won,
                              tp_spec spec) {
  if (dim == w->n_dims)
    return n_lost > 1 ? merge(w, tails, won, 0, spec) : TP_OK;
  int axes[TP_MAX_AXES], n = dim == won ? 0 : tp_spec_dim_axes(w->mesh, spec, dim, axes);
  tails[dim] = (tail){0};
  TP_TRY(choose_tails(w, tails, dim + 1, n_lost, n_moved, won, spec));
  for (int first = n - 1; first >= 0 && n_moved + n - first <= MAX_MOVED; first--) {
    tp_spec_clear(&spec, axes[first]);
    tails[dim] = (tail){0};
    for (int i = first; i < n; i++)
      tails[dim].axes[tails[dim].n++] = axes[i];
    TP_TRY(choose_tails(w, tails, dim + 1, n_lost + 1, n_moved + n - first, won, spec));
  }
  return TP_OK;
}

tp_status tp__exchange_moves(const tp_mesh *mesh, int n_dims, tp_spec from, tp__move_fn *emit,
                             void *context) {
  const walk w = {mesh, n_dims, emit, context};
  tail tails[TP_MAX_RANK];
  for (int d = 0; d < n_dims; d++) {
    TP_TRY(spread_dim(&w, d, from));
    TP_TRY(choose_tails(&w, tails, 0, 0, 0, d, from));
  }
  return TP_OK;
}
