/* The moves between layouts: their effect on a spec, their cost, and the conditions for uneven
 * sizes. */
#include "sharding/cut.h"
#include "sharding/layout.h"

static unsigned partial_axes(const tp_mesh *mesh, tp_spec spec) {
  unsigned set = 0;
  for (int a = 0; a < mesh->n_axes; a++)
    set |= tp__spec_byte(spec, a) & TP__PARTIAL_BIT ? 1u << a : 0;
  return set;
}

static unsigned replicated_axes(const tp_mesh *mesh, tp_spec spec) {
  unsigned set = 0;
  for (int a = 0; a < mesh->n_axes; a++)
    set |= tp__spec_byte(spec, a) == 0 ? 1u << a : 0;
  return set;
}

static unsigned axis_set(int n, const int *axes) {
  unsigned set = 0;
  for (int i = 0; i < n; i++)
    set |= 1u << axes[i];
  return set;
}

/* ---- enumeration ---- */

typedef struct walk {
  const tp_mesh *mesh;
  tp__move_fn *emit;
  void *context;
  tp_step_kind kind;
  int dim;
} walk;

/* Appends every sequence of axes of `pool` to the dimension: a slice if they were replicated, a
 * reduce_scatter if they were partial. */
static tp_status append_sequences(const walk *w, unsigned pool, unsigned moved, tp_spec spec) {
  for (int a = 0; a < w->mesh->n_axes; a++) {
    if (!(pool >> a & 1))
      continue;
    tp_spec to = spec;
    unsigned now = moved | 1u << a;
    tp_spec_clear(&to, a);
    TP_TRY(tp_spec_append(&to, a, w->dim));
    TP_TRY(w->emit(w->context, w->kind, now, to));
    TP_TRY(append_sequences(w, pool & ~(1u << a), now, to));
  }
  return TP_OK;
}

/* Gathers every tail of the axes of dimension w->dim, or moves it to another dimension. */
static tp_status take_minor_axes(const walk *w, int n_dims, tp_spec from) {
  int axes[TP_MAX_AXES];
  int n = tp_spec_dim_axes(w->mesh, from, w->dim, axes);
  tp_spec gathered = from;
  for (int first = n - 1; first >= 0; first--) {
    unsigned moved = axis_set(n - first, axes + first);
    tp_spec_clear(&gathered, axes[first]);
    TP_TRY(w->emit(w->context, TP_STEP_ALL_GATHER, moved, gathered));
    for (int d = 0; d < n_dims; d++) {
      if (d == w->dim)
        continue;
      tp_spec to = gathered;
      for (int i = first; i < n; i++)
        TP_TRY(tp_spec_append(&to, axes[i], d));
      TP_TRY(w->emit(w->context, TP_STEP_ALL_TO_ALL, moved, to));
    }
  }
  return TP_OK;
}

/* Sets `byte` for every non-empty subset of `pool`. */
static tp_status mark_subsets(const walk *w, unsigned pool, unsigned byte, tp_spec from) {
  for (unsigned set = pool; set; set = (set - 1) & pool) {
    tp_spec to = from;
    for (int a = 0; a < w->mesh->n_axes; a++) {
      if (set >> a & 1)
        tp__spec_set_byte(&to, a, byte);
    }
    TP_TRY(w->emit(w->context, w->kind, set, to));
  }
  return TP_OK;
}

tp_status tp__layout_moves(const tp_mesh *mesh, unsigned axes, int n_dims, bool partial,
                           tp_spec from, tp__move_fn *emit, void *context) {
  unsigned partials = partial_axes(mesh, from) & axes;
  unsigned replicated = replicated_axes(mesh, from) & axes;
  walk w = {mesh, emit, context, TP_STEP_SLICE, 0};
  tp_status status = TP_OK;
  for (; w.dim < n_dims && status == TP_OK; w.dim++) {
    status = take_minor_axes(&w, n_dims, from);
    w.kind = TP_STEP_SLICE;
    if (status == TP_OK)
      status = append_sequences(&w, replicated, 0, from);
    w.kind = TP_STEP_REDUCE_SCATTER;
    if (status == TP_OK)
      status = append_sequences(&w, partials, 0, from);
  }
  if (status == TP_OK)
    status = tp__exchange_moves(mesh, n_dims, from, emit, context);
  w.kind = TP_STEP_ALL_REDUCE;
  if (status == TP_OK)
    status = mark_subsets(&w, partials, 0, from);
  w.kind = TP_STEP_MASK;
  if (status == TP_OK && partial)
    status = mark_subsets(&w, replicated, TP__PARTIAL_BIT | TP_SUM, from);
  return status;
}

/* ---- description ---- */

/* Lists the changed axes in mesh order. */
static void describe_changed(const tp_mesh *mesh, unsigned set, tp_step *step) {
  for (int a = 0; a < mesh->n_axes; a++) {
    if (set >> a & 1)
      step->axes[step->n_axes++] = a;
  }
}

/* Lists the minor axes of `dim` in `longer` beyond its axes in `shorter`. */
static void describe_tail(const tp_mesh *mesh, tp_spec shorter, tp_spec longer, int dim,
                          tp_step *step) {
  int axes[TP_MAX_AXES];
  int kept = tp_spec_dim_axes(mesh, shorter, dim, axes);
  int n = tp_spec_dim_axes(mesh, longer, dim, axes);
  for (int i = kept; i < n; i++)
    step->axes[step->n_axes++] = axes[i];
}

void tp__step_describe(const tp_mesh *mesh, tp_step_kind kind, tp_spec from, tp_spec to,
                       tp_step *step) {
  unsigned changed = 0, losers = 0, winners = 0;
  int lost = -1, won = -1;
  *step = (tp_step){.kind = kind, .dim = -1, .to_dim = -1, .from = from, .to = to};
  for (int a = 0; a < mesh->n_axes; a++) {
    unsigned before = tp__spec_byte(from, a), after = tp__spec_byte(to, a);
    if (before == after)
      continue;
    changed |= 1u << a;
    lost = tp__byte_dim(before);
    won = tp__byte_dim(after);
    losers |= lost < 0 ? 0 : 1u << lost;
    winners |= won < 0 ? 0 : 1u << won;
    if (before & TP__PARTIAL_BIT)
      step->combiner = tp_spec_place(from, a).combiner;
    else if (after & TP__PARTIAL_BIT)
      step->combiner = tp_spec_place(to, a).combiner;
  }
  switch (kind) {
  case TP_STEP_ALL_GATHER:
    step->dim = lost;
    describe_tail(mesh, to, from, lost, step);
    break;
  case TP_STEP_ALL_TO_ALL:
    step->dim = losers & (losers - 1) ? -1 : lost;
    step->to_dim = winners & (winners - 1) ? -1 : won;
    if (step->dim >= 0)
      describe_tail(mesh, to, from, lost, step);
    else
      describe_tail(mesh, from, to, won, step);
    break;
  case TP_STEP_SLICE:
  case TP_STEP_REDUCE_SCATTER:
    step->dim = won;
    describe_tail(mesh, from, to, won, step);
    break;
  case TP_STEP_PERMUTE:
    step->combiner = TP_SUM;
    describe_changed(mesh, tp__permute_axes(mesh, from, to), step);
    break;
  case TP_STEP_ALL_REDUCE:
  case TP_STEP_MASK:
    describe_changed(mesh, changed, step);
    break;
  }
}

const char *tp_step_kind_name(tp_step_kind kind) {
  static const char *const names[] = {
      [TP_STEP_ALL_GATHER] = "all_gather",
      [TP_STEP_REDUCE_SCATTER] = "reduce_scatter",
      [TP_STEP_ALL_REDUCE] = "all_reduce",
      [TP_STEP_ALL_TO_ALL] = "all_to_all",
      [TP_STEP_PERMUTE] = "permute",
      [TP_STEP_SLICE] = "slice",
      [TP_STEP_MASK] = "mask",
  };
  return (size_t)kind < TP__COUNT(names) ? names[kind] : "unknown";
}

int64_t tp_step_group_size(const tp_mesh *mesh, const tp_step *step) {
  int64_t n = 1;
  for (int i = 0; i < step->n_axes; i++)
    n *= mesh->axes[step->axes[i]].size;
  return n;
}

/* ---- cost ---- */

/* By tp_step_kind: the collective of a step; -1 for local steps. */
static const int collectives[] = {
    [TP_STEP_ALL_GATHER] = TP_ALL_GATHER,
    [TP_STEP_REDUCE_SCATTER] = TP_REDUCE_SCATTER,
    [TP_STEP_ALL_REDUCE] = TP_ALL_REDUCE,
    [TP_STEP_ALL_TO_ALL] = TP_ALL_TO_ALL,
    [TP_STEP_PERMUTE] = TP_PERMUTE,
    [TP_STEP_SLICE] = -1,
    [TP_STEP_MASK] = -1,
};

/* Returns the elements as tp_cost_bytes defines them. They differ from the local buffer only for
 * all_gather. */
static int64_t group_elements(tp_step_kind kind, int64_t n, int64_t elements) {
  return kind == TP_STEP_ALL_GATHER ? tp__multiply(elements, n) : elements;
}

int64_t tp__move_bytes(const tp_mesh *mesh, tp_step_kind kind, unsigned axes, int64_t elements,
                       int64_t element_size) {
  int64_t n = tp__axes_size(mesh, axes);
  if (collectives[kind] < 0)
    return 0;
  return tp_cost_bytes((tp_collective)collectives[kind], n, group_elements(kind, n, elements),
                       element_size);
}

tp_cost tp__move_cost(const tp_mesh *mesh, const tp_topology *topology, tp_step_kind kind,
                      unsigned axes, int64_t elements, int64_t element_size) {
  int64_t n = tp__axes_size(mesh, axes);
  tp_cost cost;
  if (collectives[kind] < 0) {
    int64_t result = kind == TP_STEP_SLICE ? elements / n + (elements % n != 0) : elements;
    /* read and write */
    tp_work copy = {.memory_bytes = 2.0 * (double)result * (double)element_size};
    cost = tp_cost_compute(topology, &copy);
  } else {
    int list[TP_MAX_AXES], n_list = 0;
    for (int a = 0; a < mesh->n_axes; a++) {
      if (axes >> a & 1)
        list[n_list++] = a;
    }
    cost = tp_cost_collective(topology, mesh, (tp_collective)collectives[kind], n_list, list,
                              group_elements(kind, n, elements), element_size);
  }
  /* every step has a positive cost; otherwise paths would not be unique */
  return cost > 0 ? cost : 1;
}

tp_cost tp_step_cost(const tp_mesh *mesh, const tp_topology *topology, const tp_reshard *reshard,
                     int number, int rank, const int64_t *shape, int64_t element_size) {
  const tp_step *step = &reshard->steps[number];
  tp_topology cut = tp__topology_cut(topology, mesh, &reshard->mesh);
  int64_t elements =
      tp__move_elements(&reshard->mesh, step->kind, step->from, step->to, rank, shape);
  return tp__move_cost(&reshard->mesh, &cut, step->kind, axis_set(step->n_axes, step->axes),
                       elements, element_size);
}

/* ---- uneven sizes ---- */

static bool tail_keeps_prefix(const tp_mesh *mesh, tp_spec shorter, tp_spec longer, int dim,
                              int64_t size) {
  int axes[TP_MAX_AXES];
  int kept = tp_spec_dim_axes(mesh, shorter, dim, axes);
  int n = tp_spec_dim_axes(mesh, longer, dim, axes);
  size = tp__buffer_size(mesh, kept, axes, size);
  if (size <= 1)
    return true; /* the first device has all elements */
  for (int i = kept; i < n; i++) {
    if (i > kept && size % mesh->axes[axes[i]].size != 0)
      return false;
    size = tp__buffer_size(mesh, 1, &axes[i], size);
  }
  return true;
}

static bool same_on_dim(const tp_mesh *mesh, tp_spec a, tp_spec b, int dim) {
  for (int i = 0; i < mesh->n_axes; i++) {
    unsigned x = tp__spec_byte(a, i), y = tp__spec_byte(b, i);
    if (x != y && (tp__byte_dim(x) == dim || tp__byte_dim(y) == dim))
      return false;
  }
  return true;
}

/* True if only minor axes of dimension `dim` differ, and each buffer is a prefix of the
 * concatenated shards of the other. */
static bool ends_keep_prefix(const tp_mesh *mesh, tp_spec from, tp_spec to, int dim, int64_t size) {
  int64_t before = tp_spec_dim_shards(mesh, from, dim), after = tp_spec_dim_shards(mesh, to, dim);
  return before > after ? tail_keeps_prefix(mesh, to, from, dim, size)
                        : before < after && tail_keeps_prefix(mesh, from, to, dim, size);
}

bool tp__move_keeps_prefix(const tp_mesh *mesh, tp_step_kind kind, tp_spec from, tp_spec to,
                           int n_dims, const int64_t *sizes) {
  int n_changed = 0, n_uneven = 0;
  for (int d = 0; d < n_dims; d++) {
    bool exact = sizes[d] % tp_spec_dim_shards(mesh, from, d) == 0 &&
                 sizes[d] % tp_spec_dim_shards(mesh, to, d) == 0;
    if (same_on_dim(mesh, from, to, d))
      continue;
    n_changed++;
    if (exact)
      continue;
    n_uneven++;
    if (kind == TP_STEP_PERMUTE || !ends_keep_prefix(mesh, from, to, d, sizes[d]))
      return false;
  }
  /* an exchange between several dimensions cuts into equal slices */
  return n_uneven == 0 || n_changed <= 2;
}

int64_t tp__move_elements(const tp_mesh *mesh, tp_step_kind kind, tp_spec from, tp_spec to,
                          int n_dims, const int64_t *sizes) {
  bool splits = kind == TP_STEP_REDUCE_SCATTER || kind == TP_STEP_ALL_TO_ALL;
  int64_t before[TP_MAX_RANK], after[TP_MAX_RANK], elements = 1;
  tp_spec_local_shape(mesh, from, n_dims, sizes, before);
  tp_spec_local_shape(mesh, to, n_dims, sizes, after);
  for (int d = 0; d < n_dims; d++) {
    int64_t parts = tp_spec_dim_shards(mesh, to, d) / tp_spec_dim_shards(mesh, from, d);
    elements =
        tp__multiply(elements, splits && parts > 1 ? tp__multiply(parts, after[d]) : before[d]);
  }
  return elements;
}
