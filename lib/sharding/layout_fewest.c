/* A* (Hart, Nilsson, Raphael 1968) over the layouts of a tensor, by elements sent and then by
 * steps, with the bound of layout_bound.c.
 *
 * A gather, a slice, a mask and a reduce_scatter move one axis at a time, which costs no more than
 * several at once; steps that can be one are joined at the end. An all_to_all moves several axes,
 * because one at a time sends more. A permute costs the same between any two layouts with equal
 * shards, so the first of these that is reached leads to all others, and no other does. */
#include "sharding/layout_fewest.h"

#include <string.h>

/* Beyond this many layouts the search gives up. */
enum { MAX_LAYOUTS = 1 << 17, NO_LAYOUT = UINT32_MAX >> 1 };

typedef struct layout {
  tp_spec spec;
  int64_t sent; /* elements, from the start */
  uint32_t previous;
  uint8_t kind;
  uint8_t steps;
} layout;

typedef struct queued {
  int64_t total; /* sent + bound */
  int64_t sent;
  uint32_t layout;
  uint8_t steps;
} queued;

typedef struct search {
  const tp__fewest *p;
  const tp__bounds *bounds;
  int64_t limit;
  layout *layouts;
  size_t n_layouts, layout_capacity;
  uint32_t *slots, *classes; /* hash tables of layouts, + 1: all of them, one of each class */
  size_t n_slots;            /* of each table, a power of two */
  queued *heap;
  size_t n_heap, heap_capacity;
  uint32_t at;       /* the layout whose moves are enumerated */
  tp__counts counts; /* its shards */
  bool gives_up;
} search;

/* ---- queue ---- */

static bool before(const queued *a, const queued *b) {
  if (a->total != b->total)
    return a->total < b->total;
  if (a->steps != b->steps)
    return a->steps < b->steps;
  if (a->sent != b->sent)
    return a->sent > b->sent;
  return a->layout < b->layout;
}

static tp_status push(search *s, queued q) {
  void *heap = s->heap;
  if (tp__grow(&heap, &s->heap_capacity, s->n_heap + 1, sizeof *s->heap) != TP_OK)
    return TP_NO_MEMORY;
  s->heap = heap;
  size_t at = s->n_heap++;
  for (; at > 0 && before(&q, &s->heap[(at - 1) / 2]); at = (at - 1) / 2)
    s->heap[at] = s->heap[(at - 1) / 2];
  s->heap[at] = q;
  return TP_OK;
}

static queued pop(search *s) {
  queued first = s->heap[0], last = s->heap[--s->n_heap];
  size_t at = 0;
  for (;;) {
    size_t child = 2 * at + 1;
    if (child + 1 < s->n_heap && before(&s->heap[child + 1], &s->heap[child]))
      child++;
    if (child >= s->n_heap || !before(&s->heap[child], &last))
      break;
    s->heap[at] = s->heap[child];
    at = child;
  }
  s->heap[at] = last;
  return first;
}

/* ---- layouts ---- */

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 29;
}

static uint32_t *find_layout(const search *s, tp_spec spec) {
  for (size_t at = mix(0, spec.bits) >> 20;; at++) {
    uint32_t *slot = &s->slots[at & (s->n_slots - 1)];
    if (*slot == 0 || tp_spec_equal(s->layouts[*slot - 1].spec, spec))
      return slot;
  }
}

/* Doubles both tables when half of the slots are used. The classes are few; they are found
 * again. */
static tp_status reserve(search *s) {
  if (2 * (s->n_layouts + 1) <= s->n_slots)
    return TP_OK;
  size_t n_slots = s->n_slots ? 2 * s->n_slots : 256;
  uint32_t *slots = tp__calloc(n_slots, sizeof *slots);
  if (!slots)
    return TP_NO_MEMORY;
  tp__free(s->slots);
  s->slots = slots;
  s->n_slots = n_slots;
  for (size_t i = 0; i < s->n_layouts; i++)
    *find_layout(s, s->layouts[i].spec) = (uint32_t)i + 1;
  return TP_OK;
}

/* Records a way to a layout with these shards, unless it sends too much or a better one is
 * known. */
static tp_status reach_counts(search *s, tp_step_kind kind, tp_spec spec, const tp__counts *counts,
                              int64_t sent) {
  int64_t total = tp_cost_add(sent, tp__bound(s->bounds, counts));
  uint8_t steps = s->at == NO_LAYOUT ? 0 : (uint8_t)(s->layouts[s->at].steps + 1);
  if (total >= s->limit)
    return TP_OK;
  TP_TRY(reserve(s));
  uint32_t *slot = find_layout(s, spec);
  void *layouts = s->layouts;
  if (*slot) {
    const layout *known = &s->layouts[*slot - 1];
    if (known->sent < sent || (known->sent == sent && known->steps <= steps))
      return TP_OK;
  } else if (s->n_layouts == MAX_LAYOUTS) {
    s->gives_up = true;
    return TP_OK;
  } else if (tp__grow(&layouts, &s->layout_capacity, s->n_layouts + 1, sizeof *s->layouts) !=
             TP_OK) {
    return TP_NO_MEMORY;
  } else {
    s->layouts = layouts;
    *slot = (uint32_t)++s->n_layouts;
  }
  s->layouts[*slot - 1] = (layout){spec, sent, s->at, (uint8_t)kind, steps};
  return push(s, (queued){total, sent, *slot - 1, steps});
}

static tp_status reach(search *s, tp_step_kind kind, tp_spec spec, int64_t sent) {
  tp__counts counts = tp__counts_of(s->p, spec);
  return reach_counts(s, kind, spec, &counts, sent);
}

/* ---- moves of one axis ---- */

static int64_t elements_of(const search *s, tp_spec spec) {
  tp__counts counts = tp__counts_of(s->p, spec);
  return tp__counts_elements(s->p, &counts);
}

static tp_status gather(search *s, tp_spec spec, int64_t sent, int64_t elements) {
  for (int i = 0; i < s->p->n_dims; i++) {
    int axes[TP_MAX_AXES], n = tp_spec_dim_axes(&s->p->mesh, spec, s->p->dims[i], axes);
    tp_spec to = spec;
    if (n == 0)
      continue;
    tp_spec_clear(&to, axes[n - 1]);
    int64_t size = s->p->mesh.axes[axes[n - 1]].size;
    TP_TRY(reach(s, TP_STEP_ALL_GATHER, to, tp_cost_add(sent, tp__multiply(size - 1, elements))));
  }
  return TP_OK;
}

/* Splits a dimension by an axis that is replicated or partial. */
static tp_status split(search *s, tp_spec spec, int axis, int64_t sent) {
  bool partial = tp__spec_byte(spec, axis) != 0;
  int64_t others = s->p->mesh.axes[axis].size - 1;
  tp_spec_clear(&spec, axis);
  for (int i = 0; i < s->p->n_dims; i++) {
    tp_spec to = spec;
    TP_TRY(tp_spec_append(&to, axis, s->p->dims[i]));
    int64_t cost = partial ? tp__multiply(others, elements_of(s, to)) : 0;
    TP_TRY(reach(s, partial ? TP_STEP_REDUCE_SCATTER : TP_STEP_SLICE, to, tp_cost_add(sent, cost)));
  }
  return TP_OK;
}

static tp_status split_all(search *s, tp_spec spec, int64_t sent) {
  for (int a = 0; a < s->p->mesh.n_axes; a++) {
    unsigned byte = tp__spec_byte(spec, a);
    tp_spec to = spec;
    if (s->p->mesh.axes[a].size == 1 || tp__byte_dim(byte) >= 0)
      continue;
    TP_TRY(split(s, spec, a, sent));
    if (byte || !s->p->partial || !s->p->may_mask)
      continue;
    tp__spec_set_byte(&to, a, s->p->combiner);
    TP_TRY(reach(s, TP_STEP_MASK, to, sent));
  }
  return TP_OK;
}

/* ---- moves of several axes ---- */

static tp_status reduce(search *s, tp_spec spec, int64_t sent, int64_t elements) {
  unsigned partial = 0;
  for (int a = 0; a < s->p->mesh.n_axes; a++)
    partial |= tp__spec_byte(spec, a) & TP__PARTIAL_BIT ? 1u << a : 0;
  for (unsigned set = partial; set; set = (set - 1) & partial) {
    int64_t cost = tp__move_bytes(&s->p->mesh, TP_STEP_ALL_REDUCE, set, elements, 1);
    tp_spec to = spec;
    for (int a = 0; a < s->p->mesh.n_axes; a++)
      if (set >> a & 1)
        tp_spec_clear(&to, a);
    TP_TRY(reach(s, TP_STEP_ALL_REDUCE, to, tp_cost_add(sent, cost)));
  }
  return TP_OK;
}

/* Receives an exchange between dimensions. */
static tp_status reach_exchange(void *context, tp_step_kind kind, unsigned axes, tp_spec to) {
  search *s = context;
  const layout *at = &s->layouts[s->at];
  (void)axes;
  if (kind != TP_STEP_ALL_TO_ALL)
    return TP_OK;
  tp__counts counts = tp__counts_of(s->p, to);
  bool several;
  if (tp_cost_add(at->sent, tp__bound(s->bounds, &counts)) >= s->limit)
    return TP_OK;
  int64_t cost = tp__exchange_elements(s->p, &s->counts, &counts, &several);
  return cost < 0 ? TP_OK : reach_counts(s, kind, to, &counts, tp_cost_add(at->sent, cost));
}

/* Moves every tail of the axes of a dimension to another one. */
static tp_status move_tails(search *s, tp_spec spec, int dim) {
  int axes[TP_MAX_AXES], n = tp_spec_dim_axes(&s->p->mesh, spec, dim, axes);
  tp_spec rest = spec;
  for (int first = n - 1; first >= 0; first--) {
    tp_spec_clear(&rest, axes[first]);
    for (int i = 0; i < s->p->n_dims; i++) {
      tp_spec to = rest;
      if (s->p->dims[i] == dim)
        continue;
      for (int k = first; k < n; k++)
        TP_TRY(tp_spec_append(&to, axes[k], s->p->dims[i]));
      TP_TRY(reach_exchange(s, TP_STEP_ALL_TO_ALL, 0, to));
    }
  }
  return TP_OK;
}

/* ---- permutes ---- */

/* The sizes of the axes of a dimension, as one number. Equal shards need equal sizes in the same
 * order if they are uneven, but only an equal product if they are even. */
static uint64_t shards_of(const tp__fewest *p, tp_spec spec, int dim) {
  int axes[TP_MAX_AXES], n = tp_spec_dim_axes(&p->mesh, spec, dim, axes);
  uint64_t order = 0;
  int64_t shards = 1;
  for (int i = 0; i < n; i++) {
    order = mix(order, (uint64_t)p->mesh.axes[axes[i]].size);
    shards *= p->mesh.axes[axes[i]].size;
  }
  return p->shape[dim] % shards == 0 ? (uint64_t)shards : order | UINT64_C(1) << 63;
}

static bool same_class(const tp__fewest *p, tp_spec a, tp_spec b) {
  tp__counts x = tp__counts_of(p, a), y = tp__counts_of(p, b);
  if (memcmp(&x, &y, sizeof x) != 0)
    return false;
  for (int i = 0; i < p->n_dims; i++)
    if (shards_of(p, a, p->dims[i]) != shards_of(p, b, p->dims[i]))
      return false;
  return true;
}

/* Reaches all layouts that have the counts `left` in the places from `place` on and equal `spec`
 * before. */
static tp_status reach_class(search *s, int place, int32_t left, tp_spec spec,
                             const tp__counts *counts, int64_t sent) {
  const tp__fewest *p = s->p;
  tp_spec of = s->layouts[s->at].spec;
  if (left == 1) {
    if (place < p->n_dims && shards_of(p, spec, p->dims[place]) != shards_of(p, of, p->dims[place]))
      return TP_OK;
    if (place == p->n_dims)
      return reach_counts(s, TP_STEP_PERMUTE, spec, &s->counts, sent);
    return reach_class(s, place + 1, counts->n[place + 1], spec, counts, sent);
  }
  for (int a = 0; a < p->mesh.n_axes; a++) {
    tp_spec to = spec;
    int64_t size = p->mesh.axes[a].size;
    if (size == 1 || left % size != 0 || tp__spec_byte(spec, a))
      continue;
    if (place < p->n_dims)
      TP_TRY(tp_spec_append(&to, a, p->dims[place]));
    else
      tp__spec_set_byte(&to, a, p->combiner);
    TP_TRY(reach_class(s, place, left / (int32_t)size, to, counts, sent));
  }
  return TP_OK;
}

static uint64_t class_hash(const tp__fewest *p, tp_spec spec) {
  tp__counts counts = tp__counts_of(p, spec);
  uint64_t hash = 0;
  for (int i = 0; i < TP__MAX_PLACES; i++)
    hash = mix(hash, (uint64_t)counts.n[i]);
  return hash;
}

enum { CLASS_SLOTS = 4096 };

/* Permutes the layout to all others of its class, unless another one did. Beyond CLASS_SLOTS / 2
 * classes they are no longer noted, which costs only time. */
static tp_status permute(search *s, tp_spec spec, int64_t sent, int64_t elements) {
  sent = tp_cost_add(sent, elements);
  if (tp_cost_add(sent, tp__bound(s->bounds, &s->counts)) >= s->limit)
    return TP_OK;
  size_t at = class_hash(s->p, spec) >> 20;
  for (int tries = 0; tries < 16; tries++, at++) {
    uint32_t *slot = &s->classes[at % CLASS_SLOTS];
    if (*slot == 0) {
      *slot = s->at + 1;
      break;
    }
    if (same_class(s->p, s->layouts[*slot - 1].spec, spec))
      return TP_OK;
  }
  return reach_class(s, 0, s->counts.n[0], tp_spec_replicated(), &s->counts, sent);
}

/* ---- search ---- */

static tp_status expand(search *s) {
  const layout at = s->layouts[s->at];
  s->counts = tp__counts_of(s->p, at.spec);
  int64_t elements = tp__counts_elements(s->p, &s->counts);
  if (at.steps == UINT8_MAX)
    return TP_OK;
  TP_TRY(split_all(s, at.spec, at.sent));
  TP_TRY(gather(s, at.spec, at.sent, elements));
  TP_TRY(reduce(s, at.spec, at.sent, elements));
  for (int i = 0; i < s->p->n_dims; i++)
    TP_TRY(move_tails(s, at.spec, s->p->dims[i]));
  TP_TRY(tp__exchange_moves(&s->p->mesh, s->p->rank, at.spec, reach_exchange, s));
  return permute(s, at.spec, at.sent, elements);
}

static tp_status run(search *s, uint32_t *goal) {
  *goal = NO_LAYOUT;
  s->at = NO_LAYOUT;
  TP_TRY(reach(s, TP_STEP_SLICE, s->p->from, 0));
  while (s->n_heap > 0 && !s->gives_up) {
    queued q = pop(s);
    const layout *at = &s->layouts[q.layout];
    if (at->sent != q.sent || at->steps != q.steps)
      continue; /* a better way was found since */
    if (tp_spec_equal(at->spec, s->p->to)) {
      *goal = q.layout;
      return TP_OK;
    }
    s->at = q.layout;
    TP_TRY(expand(s));
  }
  return TP_OK;
}

/* ---- the path ---- */

typedef struct path {
  const tp__fewest *p;
  int n;
  tp_step_kind kinds[UINT8_MAX + 1];
  tp_spec after[UINT8_MAX + 1];
} path;

static tp_spec layout_before(const path *t, int i) { return i ? t->after[i - 1] : t->p->from; }

/* Returns the elements that a step sends. */
static int64_t sent_by(const path *t, tp_step_kind kind, tp_spec from, tp_spec to) {
  const tp_mesh *mesh = &t->p->mesh;
  tp_step step;
  unsigned axes = 0;
  tp__step_describe(mesh, kind, from, to, &step);
  for (int i = 0; i < step.n_axes; i++)
    axes |= 1u << step.axes[i];
  return tp__move_bytes(mesh, kind, axes,
                        tp__move_elements(mesh, kind, from, to, t->p->rank, t->p->shape), 1);
}

/* Returns the elements that steps i and i + 1 send if they are of this kind and meet in
 * `between`. */
static int64_t sent_by_two(const path *t, int i, tp_step_kind kind, tp_spec between) {
  return sent_by(t, kind, layout_before(t, i), between) +
         sent_by(t, kind, between, t->after[i + 1]);
}

/* True if steps i and i + 1 of one kind can be one step, which sends no more: padding may. */
static bool is_one_step(const path *t, int i) {
  tp_step first, second, both;
  tp_step_kind kind = t->kinds[i];
  bool by_dim =
      kind == TP_STEP_ALL_GATHER || kind == TP_STEP_SLICE || kind == TP_STEP_REDUCE_SCATTER;
  if (kind != t->kinds[i + 1] || (!by_dim && kind != TP_STEP_MASK))
    return false;
  tp_spec from = layout_before(t, i), to = t->after[i + 1];
  tp__step_describe(&t->p->mesh, kind, from, t->after[i], &first);
  tp__step_describe(&t->p->mesh, kind, t->after[i], to, &second);
  tp__step_describe(&t->p->mesh, kind, from, to, &both);
  return first.dim == second.dim && both.n_axes == first.n_axes + second.n_axes &&
         tp__move_keeps_prefix(&t->p->mesh, kind, from, to, t->p->rank, t->p->shape) &&
         sent_by(t, kind, from, to) <= sent_by_two(t, i, kind, t->after[i]);
}

static void join_steps(path *t) {
  int n = 0;
  for (int i = 0; i < t->n; i++) {
    t->kinds[n] = t->kinds[i];
    t->after[n] = t->after[i];
    if (n > 0 && is_one_step(t, n - 1)) {
      t->after[n - 1] = t->after[n];
      continue;
    }
    n++;
  }
  t->n = n;
}

/* Slices of different dimensions commute, and so do gathers if they then send no more: sorts them
 * by dimension. */
static void sort_steps(path *t) {
  for (int end = t->n; end > 1; end--)
    for (int i = 0; i + 1 < end; i++) {
      tp_step first, second;
      tp_step_kind kind = t->kinds[i];
      if (kind != t->kinds[i + 1] || (kind != TP_STEP_SLICE && kind != TP_STEP_ALL_GATHER))
        continue;
      tp_spec from = layout_before(t, i), between = from;
      tp__step_describe(&t->p->mesh, kind, from, t->after[i], &first);
      tp__step_describe(&t->p->mesh, kind, t->after[i], t->after[i + 1], &second);
      if (first.dim <= second.dim)
        continue;
      if (kind == TP_STEP_ALL_GATHER)
        tp_spec_clear(&between, second.axes[0]);
      else if (tp_spec_append(&between, second.axes[0], second.dim) != TP_OK)
        continue;
      if (sent_by_two(t, i, kind, between) <= sent_by_two(t, i, kind, t->after[i]))
        t->after[i] = between;
    }
}

static void trace(const search *s, uint32_t goal, path *t) {
  t->p = s->p;
  t->n = s->layouts[goal].steps;
  for (int i = t->n - 1; i >= 0; i--) {
    t->kinds[i] = (tp_step_kind)s->layouts[goal].kind;
    t->after[i] = s->layouts[goal].spec;
    goal = s->layouts[goal].previous;
  }
  sort_steps(t);
  join_steps(t);
}

tp_status tp__fewest_path(const tp__fewest *problem, const tp__bounds *bounds, int64_t *limit,
                          tp_step_kind *kinds, tp_spec *after, int *n) {
  search s = {.p = problem, .bounds = bounds, .limit = *limit};
  path *t = tp__calloc(1, sizeof *t);
  uint32_t goal = NO_LAYOUT;
  s.classes = tp__calloc(CLASS_SLOTS, sizeof *s.classes);
  tp_status status = t && s.classes ? run(&s, &goal) : TP_NO_MEMORY;
  *n = 0;
  if (status == TP_OK && goal != NO_LAYOUT) {
    trace(&s, goal, t);
    *n = t->n <= TP_MAX_STEPS ? t->n : 0;
    *limit = *n > 0 ? s.layouts[goal].sent : *limit;
    memcpy(kinds, t->kinds, (size_t)*n * sizeof *kinds);
    memcpy(after, t->after, (size_t)*n * sizeof *after);
  }
  tp__free(s.heap);
  tp__free(s.slots);
  tp__free(s.layouts);
  tp__free(s.classes);
  tp__free(t);
  return status;
}
