/* The cost model: bytes and times of collectives, times of compute. */
#include "tp/cost.h"

#include "sharding/sharding.h"

const char *tp_collective_name(tp_collective c) {
  static const char *const names[TP_N_COLLECTIVES] = {
      [TP_ALL_GATHER] = "all_gather", [TP_REDUCE_SCATTER] = "reduce_scatter",
      [TP_ALL_REDUCE] = "all_reduce", [TP_ALL_TO_ALL] = "all_to_all",
      [TP_PERMUTE] = "permute",       [TP_BROADCAST] = "broadcast",
  };
  return (unsigned)c < TP_N_COLLECTIVES ? names[c] : "unknown";
}

int64_t tp_cost_bytes(tp_collective kind, int64_t n, int64_t elements, int64_t element_size) {
  if (n <= 1)
    return 0;
  if (kind == TP_PERMUTE || kind == TP_BROADCAST)
    return tp__multiply(elements, element_size);
  int64_t chunk = elements / n + (elements % n != 0);
  int64_t sent = tp__multiply(tp__multiply(n - 1, chunk), element_size);
  return kind == TP_ALL_REDUCE ? tp__multiply(2, sent) : sent;
}

/* Linear between powers of two: exact arithmetic, so the result is the same on every machine. */
double tp__log2(int64_t n, int64_t base) {
  int doublings = 0;
  if (n <= base)
    return 0;
  for (; base <= n / 2; base *= 2)
    doublings++;
  return doublings + ((double)n / (double)base - 1);
}

tp_cost tp__from_us(double us) {
  double picoseconds = us * 1e6 + 0.5;
  return picoseconds < (double)TP_COST_FORBIDDEN ? (tp_cost)picoseconds : TP_COST_FORBIDDEN;
}

static bool line_of(const tp_link *link, tp_collective kind, bool latency, tp_line *line) {
  *line = latency ? link->latency_lines[kind] : link->lines[kind];
  return line->gbytes_per_s > 0;
}

/* Returns the link of a group within one level. NULL if the group spans several levels or has only
 * one axis. */
static const tp_link *joint_link(const tp_topology *topology, const tp_mesh *mesh, unsigned axes,
                                 int64_t n) {
  int level = -1;
  for (int a = 0; a < mesh->n_axes; a++) {
    if (!(axes >> a & 1))
      continue;
    if (level >= 0 && topology->links[a].level != level)
      return NULL;
    level = topology->links[a].level;
  }
  for (int i = 0; i < topology->n_joints && (axes & (axes - 1)); i++)
    if (topology->joints[i].level == level && topology->joints[i].n == n)
      return &topology->joints[i].link;
  return NULL;
}

/* Computes the line of a group over several levels: maximum alpha at the size of the group, minimum
 * bandwidth. False if some axis has no line. */
static bool combine_lines(const tp_topology *topology, const tp_mesh *mesh, tp_collective kind,
                          bool latency, unsigned axes, int64_t n, tp_line *line) {
  tp_line all = {0, 0};
  for (int a = 0; a < mesh->n_axes; a++) {
    if (!(axes >> a & 1))
      continue;
    const tp_link *link = &topology->links[a];
    tp_line one;
    if (!line_of(link, kind, latency, &one))
      return false;
    one.alpha_us += link->doubling_us * tp__log2(n, mesh->axes[a].size);
    if (one.alpha_us > all.alpha_us)
      all.alpha_us = one.alpha_us;
    if (all.gbytes_per_s <= 0 || one.gbytes_per_s < all.gbytes_per_s)
      all.gbytes_per_s = one.gbytes_per_s;
  }
  *line = all;
  return true;
}

/* ---- one stage ---- */

/* Returns the cost of a collective in one stage; TP_COST_FORBIDDEN if the topology has no line for
 * it. */
static tp_cost price(const tp_topology *topology, const tp_mesh *mesh, tp_collective kind,
                     unsigned axes, int64_t elements, int64_t element_size) {
  int64_t n = tp__axes_size(mesh, axes);
  double bytes = (double)tp_cost_bytes(kind, n, elements, element_size), best = -1;
  const tp_link *joint = joint_link(topology, mesh, axes, n);
  for (int latency = 0; latency < 2; latency++) {
    tp_line line;
    if (!(joint ? line_of(joint, kind, latency != 0, &line)
                : combine_lines(topology, mesh, kind, latency != 0, axes, n, &line)))
      continue;
    double us = line.alpha_us + bytes / (line.gbytes_per_s * 1e3);
    if (best < 0 || us < best)
      best = us;
  }
  return best < 0 ? TP_COST_FORBIDDEN : tp__from_us(best);
}

/* Returns the axes of size > 1, as bits. */
static unsigned axis_set(const tp_mesh *mesh, int n_axes, const int *axes) {
  unsigned set = 0;
  for (int i = 0; i < n_axes; i++)
    set |= mesh->axes[axes[i]].size > 1 ? 1u << axes[i] : 0;
  return set;
}

tp_cost tp_cost_flat(const tp_topology *topology, const tp_mesh *mesh, tp_collective kind,
                     int n_axes, const int *axes, int64_t elements, int64_t element_size) {
  unsigned set = axis_set(mesh, n_axes, axes);
  return set ? price(topology, mesh, kind, set, elements, element_size) : 0;
}

/* ---- several stages ---- */

/* The inputs shared by all forms of a collective. */
typedef struct request {
  const tp_topology *topology;
  const tp_mesh *mesh;
  int64_t element_size;
} request;

static void add_stage(const request *r, tp_collective kind, unsigned axes, int64_t elements,
                      tp_form *form) {
  tp_stage *stage = &form->stages[form->n_stages++];
  *stage = (tp_stage){.kind = kind,
                      .cost = price(r->topology, r->mesh, kind, axes, elements, r->element_size)};
  for (int a = 0; a < r->mesh->n_axes; a++)
    if (axes >> a & 1)
      stage->axes[stage->n_axes++] = a;
  form->cost = tp_cost_add(form->cost, stage->cost);
}

static void keep_cheaper(const tp_form *form, tp_form *best) {
  if (form->cost < best->cost)
    *best = *form;
}

/* Tries reduce_scatter over `inner`, all_reduce over `outer` of a piece, all_gather over
 * `inner`. */
static void try_pieces(const request *r, unsigned inner, unsigned outer, int64_t elements,
                       tp_form *best) {
  tp_form form = {0};
  int64_t n = tp__axes_size(r->mesh, inner);
  if (elements % n != 0)
    return;
  add_stage(r, TP_REDUCE_SCATTER, inner, elements, &form);
  if (outer)
    add_stage(r, TP_ALL_REDUCE, outer, elements / n, &form);
  add_stage(r, TP_ALL_GATHER, inner, elements, &form);
  keep_cheaper(&form, best);
}

/* Tries two stages. A gather moves the small tensor in its first stage, a scatter in its last; in
 * an exchange, both stages move the whole tensor. */
static void try_pair(const request *r, tp_collective kind, unsigned first, unsigned second,
                     int64_t elements, tp_form *best) {
  tp_form form = {0};
  int64_t n = tp__axes_size(r->mesh, kind == TP_ALL_GATHER ? second : first),
          part = elements / n + (elements % n != 0);
  add_stage(r, kind, first, kind == TP_ALL_GATHER ? part : elements, &form);
  add_stage(r, kind, second, kind == TP_REDUCE_SCATTER ? part : elements, &form);
  keep_cheaper(&form, best);
}

tp_form tp_cost_form(const tp_topology *topology, const tp_mesh *mesh, tp_collective kind,
                     int n_axes, const int *axes, int64_t elements, int64_t element_size) {
  const request r = {topology, mesh, element_size};
  unsigned set = axis_set(mesh, n_axes, axes), low = set & -set, high = set & ~low;
  tp_form best = {0};
  if (set == 0)
    return best;
  add_stage(&r, kind, set, elements, &best);
  if (kind == TP_ALL_REDUCE)
    for (unsigned inner = set; inner; inner = (inner - 1) & set) /* every non-empty subset */
      try_pieces(&r, inner, set & ~inner, elements, &best);
  bool is_pair = high != 0 && (high & (high - 1)) == 0;
  if (is_pair && (kind == TP_ALL_GATHER || kind == TP_REDUCE_SCATTER || kind == TP_ALL_TO_ALL)) {
    try_pair(&r, kind, low, high, elements, &best);
    try_pair(&r, kind, high, low, elements, &best);
  }
  return best;
}

tp_cost tp_cost_collective(const tp_topology *topology, const tp_mesh *mesh, tp_collective kind,
                           int n_axes, const int *axes, int64_t elements, int64_t element_size) {
  return tp_cost_form(topology, mesh, kind, n_axes, axes, elements, element_size).cost;
}

/* ---- compute ---- */

/* GEMM tiles are computed in full, so the empty part of the last tile is lost. */
static double gemm_share(const tp_topology *topology, int64_t dim) {
  return dim > 1 && dim < topology->min_gemm_dim ? (double)dim / (double)topology->min_gemm_dim : 1;
}

tp_cost tp_cost_compute(const tp_topology *topology, const tp_work *work) {
  double gflops = topology->gflops[work->peak] * gemm_share(topology, work->gemm_dim);
  double arithmetic_us = work->contraction_flops / (gflops * 1e3) +
                         work->scalar_ops / (topology->elementwise_gops * 1e3);
  double memory_rate = work->contraction_flops > 0 && topology->contraction_gbytes_per_s > 0
                           ? topology->contraction_gbytes_per_s
                           : topology->memory_gbytes_per_s;
  double memory_us = work->memory_bytes / (memory_rate * 1e3);
  if (topology->store_gbytes_per_s > 0)
    memory_us += work->store_bytes / (topology->store_gbytes_per_s * 1e3);
  bool computes = arithmetic_us > memory_us;
  double us = (computes ? arithmetic_us : memory_us) +
              topology->exposed * (computes ? memory_us : arithmetic_us);
  us /= topology->efficiency;
  return tp__from_us(us + (work->launch ? topology->launch_us : 0));
}
