/* The results of layout_fewest.c, one for all problems that differ only in names.
 *
 * What a path sends depends on the sizes of axes and dimensions, not on which axes and dimensions
 * have them. So problems are brought into one form before they are looked up: dimensions sorted,
 * then axes; a dimension that all devices together divide has their number as its size, and the
 * rest of it multiplies what is sent. */
#include "sharding/fewest_memo.h"

#include <string.h>

enum { MAX_RESULTS = 1 << 15 };

/* ---- form ---- */

/* How a problem becomes its form. */
typedef struct form {
  tp__fewest problem;
  int axes[TP_MAX_AXES];        /* by axis of the form: the axis of the problem */
  int dims[TP__MAX_SPLIT_DIMS]; /* by dimension of the form: that of the problem */
  int64_t times;                /* what is sent, by what the form sends */
} form;

/* Describes the axes of one layout on a dimension without naming them: their sizes, and where the
 * other layout has them. */
static uint64_t describe(const tp__fewest *p, tp_spec spec, tp_spec other, int dim) {
  int axes[TP_MAX_AXES], n = tp_spec_dim_axes(&p->mesh, spec, dim, axes);
  uint64_t text = 0;
  for (int i = 0; i < n; i++) {
    unsigned byte = tp__spec_byte(other, axes[i]);
    int place = tp__byte_dim(byte);
    unsigned where = place == dim ? 0x100 | byte >> 4 : place >= 0 ? 0x200 | byte >> 4 : byte;
    const int64_t words[] = {(int64_t)text, p->mesh.axes[axes[i]].size, where};
    text = tp__hash_words(words, TP__COUNT(words));
  }
  return text;
}

typedef struct dim_key {
  int dim;
  uint64_t rows[3];
} dim_key;

static bool dim_before(const dim_key *a, const dim_key *b) {
  for (int i = 0; i < 3; i++)
    if (a->rows[i] != b->rows[i])
      return a->rows[i] < b->rows[i];
  return a->dim < b->dim;
}

/* Sorts the dimensions, and sets their sizes in the form. */
static void place_dims(const tp__fewest *p, int64_t devices, form *f) {
  dim_key keys[TP__MAX_SPLIT_DIMS];
  int64_t outer = 1;
  bool scales = false;
  unsigned split = 0;
  for (int i = 0; i < p->n_dims; i++) {
    int d = p->dims[i], at = i;
    int64_t size = p->shape[d];
    dim_key key = {d,
                   {(uint64_t)(size % devices == 0 ? devices : size),
                    describe(p, p->from, p->to, d), describe(p, p->to, p->from, d)}};
    for (; at > 0 && dim_before(&key, &keys[at - 1]); at--)
      keys[at] = keys[at - 1];
    keys[at] = key;
    split |= 1u << d;
    scales |= size % devices == 0;
    outer = tp__multiply(outer, size % devices == 0 ? size / devices : 1);
  }
  for (int d = 0; d < p->rank; d++)
    outer = tp__multiply(outer, split >> d & 1 ? 1 : p->shape[d]);
  for (int i = 0; i < p->n_dims; i++) {
    f->dims[i] = keys[i].dim;
    f->problem.dims[i] = i;
    f->problem.shape[i] = (int64_t)keys[i].rows[0];
  }
  f->problem.n_dims = f->problem.rank = p->n_dims;
  /* a sum rounds its pieces up; they divide if some dimension is a multiple of the devices */
  f->times = scales ? outer : 1;
  if (!scales && outer != 1)
    f->problem.shape[f->problem.rank++] = outer;
}

static unsigned form_byte(const form *f, unsigned byte) {
  int d = tp__byte_dim(byte);
  if (d < 0)
    return byte ? TP__PARTIAL_BIT | TP_SUM : 0;
  for (int i = 0; i < f->problem.n_dims; i++)
    if (f->dims[i] == d)
      return (byte & 0x70) | (unsigned)(i + 1);
  return byte; /* never: the dimensions of both layouts are listed */
}

/* Sorts the axes by size and by their places in both layouts, which is all that a search knows of
 * them. */
static void place_axes(const tp__fewest *p, form *f) {
  uint64_t keys[TP_MAX_AXES];
  int n = p->mesh.n_axes;
  f->problem.mesh.n_axes = n;
  for (int a = 0; a < n; a++) {
    unsigned from = form_byte(f, tp__spec_byte(p->from, a)),
             to = form_byte(f, tp__spec_byte(p->to, a));
    uint64_t key = (uint64_t)p->mesh.axes[a].size << 16 | from << 8 | to;
    int at = a;
    for (; at > 0 && keys[at - 1] > key; at--) {
      keys[at] = keys[at - 1];
      f->axes[at] = f->axes[at - 1];
    }
    keys[at] = key;
    f->axes[at] = a;
  }
  for (int i = 0; i < n; i++) {
    f->problem.mesh.axes[i] = p->mesh.axes[f->axes[i]];
    tp__spec_set_byte(&f->problem.from, i, (unsigned)(keys[i] >> 8) & 0xff);
    tp__spec_set_byte(&f->problem.to, i, (unsigned)keys[i] & 0xff);
  }
}

static form make_form(const tp__fewest *p) {
  form f = {.problem = {.from = tp_spec_replicated(),
                        .to = tp_spec_replicated(),
                        .partial = p->partial,
                        .combiner = p->partial ? TP__PARTIAL_BIT | TP_SUM : 0,
                        .may_mask = p->may_mask}};
  int64_t devices = 1;
  for (int a = 0; a < p->mesh.n_axes; a++)
    devices *= p->mesh.axes[a].size;
  place_dims(p, devices, &f);
  place_axes(p, &f);
  return f;
}

/* Converts a layout of the form to one of the problem. */
static tp_spec restore(const tp__fewest *p, const form *f, tp_spec spec) {
  tp_spec restored = tp_spec_replicated();
  for (int i = 0; i < f->problem.mesh.n_axes; i++) {
    unsigned byte = tp__spec_byte(spec, i);
    int d = tp__byte_dim(byte);
    if (d >= 0)
      byte = (byte & 0x70) | (unsigned)(f->dims[d] + 1);
    else if (byte)
      byte = p->combiner;
    tp__spec_set_byte(&restored, f->axes[i], byte);
  }
  return restored;
}

/* ---- results ---- */

/* What is known of a form. */
typedef struct result {
  int64_t bound; /* every path sends at least this many elements */
  int64_t sent;  /* by the path; without a path: no path sends fewer */
  int n;         /* the number of its steps; 0: no path */
  uint8_t kinds[TP_MAX_STEPS];
  tp_spec after[TP_MAX_STEPS];
} result;

/* Writes what a search knows of a problem except for its two layouts. */
static size_t write_tensor(const tp__fewest *p, int64_t *key) {
  size_t n = 0;
  key[n++] = p->rank << 16 | p->n_dims << 8 | p->mesh.n_axes << 2 | p->partial << 1 | p->may_mask;
  for (int d = 0; d < p->rank; d++)
    key[n++] = p->shape[d];
  for (int a = 0; a < p->mesh.n_axes; a++)
    key[n++] = p->mesh.axes[a].size;
  return n;
}

/* Finds the bounds of a goal; NULL if memory runs out. */
static const tp__bounds *find_bounds(tp__fewest_memo *memo, const tp__fewest *problem) {
  int64_t key[1 + TP_MAX_RANK + TP_MAX_AXES + TP__MAX_PLACES];
  size_t n = write_tensor(problem, key);
  tp__counts goal = tp__counts_of(problem, problem->to);
  for (int i = 0; i < TP__MAX_PLACES; i++)
    key[n++] = goal.n[i];
  void **slot = tp__memo(&memo->bounds, &memo->arena, key, n);
  if (slot && !*slot)
    *slot = tp__bounds_create(problem, &memo->arena);
  return slot ? *slot : NULL;
}

/* Searches for a path that sends fewer than `limit` elements. */
static tp_status search(tp__fewest_memo *memo, const tp__fewest *problem, int64_t limit,
                        result *r) {
  const tp__bounds *bounds = find_bounds(memo, problem);
  tp_step_kind kinds[TP_MAX_STEPS];
  if (!bounds)
    return TP_NO_MEMORY;
  TP_TRY(tp__fewest_path(problem, bounds, &limit, kinds, r->after, &r->n));
  r->sent = limit;
  for (int i = 0; i < r->n; i++)
    r->kinds[i] = (uint8_t)kinds[i];
  return TP_OK;
}

static void forget(tp__fewest_memo *memo) {
  tp__memo_destroy(&memo->results);
  tp__memo_destroy(&memo->bounds);
  tp__arena_destroy(&memo->arena);
}

static tp_status create(tp__fewest_memo *memo, const tp__fewest *problem, void **slot) {
  const tp__bounds *bounds = find_bounds(memo, problem);
  result *r = tp__arena_alloc(&memo->arena, sizeof *r);
  if (!r || !bounds)
    return TP_NO_MEMORY;
  tp__counts from = tp__counts_of(problem, problem->from);
  r->bound = r->sent = tp__bound(bounds, &from);
  *slot = r;
  return TP_OK;
}

static tp_status find(tp__fewest_memo *memo, const tp__fewest *problem, result **found) {
  int64_t key[3 + TP_MAX_RANK + TP_MAX_AXES];
  size_t n = write_tensor(problem, key);
  key[n++] = (int64_t)problem->from.bits;
  key[n++] = (int64_t)problem->to.bits;
  if (memo->results.count >= MAX_RESULTS)
    forget(memo);
  void **slot = tp__memo(&memo->results, &memo->arena, key, n);
  if (!slot)
    return TP_NO_MEMORY;
  if (!*slot)
    TP_TRY(create(memo, problem, slot));
  *found = *slot;
  return TP_OK;
}

tp_status tp__fewest_bound(tp__fewest_memo *memo, const tp__fewest *problem, int64_t *bound) {
  form f = make_form(problem);
  result *found;
  TP_TRY(find(memo, &f.problem, &found));
  *bound = tp__multiply(found->bound, f.times);
  return TP_OK;
}

/* Finds what is known of a form, after a search for a path that sends fewer than *limit elements,
 * of the problem, where one is needed. *limit becomes that of the form. */
static tp_status find_below(tp__fewest_memo *memo, const form *f, int64_t *limit, result **found) {
  *limit = f->times ? *limit / f->times + (*limit % f->times != 0) : 0;
  TP_TRY(find(memo, &f->problem, found));
  return (*found)->n == 0 && *limit > (*found)->sent ? search(memo, &f->problem, *limit, *found)
                                                     : TP_OK;
}

tp_status tp__fewest_below(tp__fewest_memo *memo, const tp__fewest *problem, int64_t limit,
                           bool *below) {
  form f = make_form(problem);
  result *found;
  TP_TRY(find_below(memo, &f, &limit, &found));
  *below = found->n > 0 && found->sent < limit;
  return TP_OK;
}

tp_status tp__fewest_find(tp__fewest_memo *memo, const tp__fewest *problem, int64_t *limit,
                          tp_step_kind *kinds, tp_spec *after, int *n) {
  form f = make_form(problem);
  int64_t form_limit = *limit;
  result *found;
  *n = 0;
  TP_TRY(find_below(memo, &f, &form_limit, &found));
  if (found->n == 0 || found->sent >= form_limit)
    return TP_OK;
  *limit = tp__multiply(found->sent, f.times);
  *n = found->n;
  for (int i = 0; i < found->n; i++) {
    kinds[i] = (tp_step_kind)found->kinds[i];
    after[i] = restore(problem, &f, found->after[i]);
  }
  return TP_OK;
}

void tp__fewest_memo_destroy(tp__fewest_memo *memo) { forget(memo); }
