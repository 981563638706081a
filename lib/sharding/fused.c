/* Costs of fused kernels: all-reduce or reduce-scatter with fused row epilogues, sliced GEMM with
 * communication, and softmax. Chooses the algorithm. */
#include "tp/cost.h"

#include "sharding/sharding.h"

const char *tp_fused_name(tp_fused_algorithm algorithm) {
  static const char *const names[TP_N_FUSED] = {[TP_FUSED_NONE] = "none",
                                                [TP_FUSED_PUSH] = "push",
                                                [TP_FUSED_PULL] = "pull",
                                                [TP_FUSED_SLICES] = "slices"};
  return (unsigned)algorithm < TP_N_FUSED ? names[algorithm] : "unknown";
}

/* Returns the kernels that reach all devices of the group, and the group's size. NULL if there are
 * none. */
static const tp_kernels *find_kernels(const tp_topology *topology, const tp_mesh *mesh, int n_axes,
                                      const int *axes, int64_t *n) {
  int level = -1;
  *n = 1;
  for (int i = 0; i < n_axes; i++) {
    int a = axes[i];
    if (mesh->axes[a].size == 1)
      continue;
    if (level >= 0 && topology->links[a].level != level)
      return NULL;
    level = topology->links[a].level;
    *n = tp__multiply(*n, mesh->axes[a].size);
  }
  const tp_kernels *kernels =
      level >= 0 && level < TP_MAX_LEVELS ? &topology->kernels[level] : NULL;
  return kernels && kernels->n_pulls > 0 && *n <= kernels->pulls[kernels->n_pulls - 1].n ? kernels
                                                                                         : NULL;
}

/* Chooses the algorithm. Scattered results and GEMMs are always done in slices. */
static tp_fused_algorithm choose(const tp_kernels *kernels, const tp_fused_rows *rows, int64_t n,
                                 int64_t bytes) {
  if (rows->scattered || rows->k)
    return TP_FUSED_SLICES;
  if (bytes <= kernels->push_bytes / n)
    return TP_FUSED_PUSH;
  if (rows->tokens < n)
    return TP_FUSED_PULL;
  for (int i = 0; i < kernels->n_pulls; i++)
    if (n <= kernels->pulls[i].n)
      return bytes <= kernels->pulls[i].bytes ? TP_FUSED_PULL : TP_FUSED_SLICES;
  return TP_FUSED_SLICES;
}

/* Bytes of a device's memory read or written, and bytes between it and the others in the busier
 * direction. */
typedef struct traffic {
  double memory, link;
} traffic;

/* Returns the bytes stored per row: by the device that owns the row, or, with `everywhere`, only
 * those that all devices get. */
static double bytes_of_row(const tp_fused_rows *rows, bool everywhere) {
  double row = (double)rows->hidden * (double)rows->element_size,
         quantized = rows->quantized
                         ? (double)rows->hidden + (double)rows->n_scales * (double)sizeof(float)
                         : 0;
  if (everywhere && rows->scattered)
    return rows->n_gathered * row + (rows->quantized_gathered ? quantized : 0);
  return rows->n_results * row + quantized;
}

static traffic traffic_of(const tp_fused_rows *rows, tp_fused_algorithm algorithm, double n,
                          double bytes) {
  double slice = bytes / n, others = n - 1, tokens = (double)rows->tokens;
  double stored = tokens * bytes_of_row(rows, false),
         everywhere = tokens * bytes_of_row(rows, true);
  if (algorithm == TP_FUSED_PUSH) /* written to all devices, read from staging */
    return (traffic){bytes + (2 * n + rows->n_operands) * bytes + stored, others * bytes};
  if (algorithm == TP_FUSED_PULL) /* all devices read this device's input */
    return (traffic){(n + rows->n_operands) * bytes + stored, others * bytes};
  return (traffic){bytes + rows->n_operands * slice + everywhere + (stored - everywhere) / n,
                   /* the slices of a GEMM have been sent already */
                   others * ((rows->k ? 0 : slice) + everywhere / n)};
}

/* Returns the cost of the all-gathers of all stored rows. */
static tp_cost gathers_cost(const tp_topology *topology, const tp_mesh *mesh,
                            const tp_fused_rows *rows) {
  enum { N = 3 };
  int64_t elements = tp__multiply(rows->tokens, rows->hidden),
          scales = tp__multiply(rows->tokens, rows->n_scales);
  const struct {
    int n;
    int64_t elements, size;
  } results[N] = {{rows->n_gathered, elements, rows->element_size},
                  {rows->quantized_gathered, elements, 1},
                  {rows->quantized_gathered && scales, scales, sizeof(float)}};
  tp_cost cost = 0;
  for (int i = 0; i < N; i++)
    for (int k = 0; k < results[i].n; k++)
      cost =
          tp_cost_add(cost, tp_cost_collective(topology, mesh, TP_ALL_GATHER, rows->n_axes,
                                               rows->axes, results[i].elements, results[i].size));
  return cost;
}

static tp_cost kernels_cost(const tp_topology *topology, const tp_fused_rows *rows,
                            double local_tokens) {
  int n_read = rows->n_operands + rows->n_kernels, n_stored = rows->n_passed;
  double row = (double)rows->hidden * (double)rows->element_size;
  tp_work work = {.memory_bytes =
                      local_tokens * ((n_read + n_stored) * row + bytes_of_row(rows, false)),
                  .launch = true};
  tp_cost launch = tp_cost_compute(topology, &(tp_work){.launch = true}), cost = 0;
  for (int i = 0; i < rows->n_kernels; i++)
    cost = tp_cost_add(cost, i ? launch : tp_cost_compute(topology, &work));
  return cost;
}

static tp_cost unfused_rows_cost(const tp_topology *topology, const tp_mesh *mesh,
                                 const tp_fused_rows *rows, int64_t n) {
  int64_t elements = tp__multiply(rows->tokens, rows->hidden);
  tp_collective first = rows->scattered ? TP_REDUCE_SCATTER : TP_ALL_REDUCE;
  tp_cost cost = tp_cost_collective(topology, mesh, first, rows->n_axes, rows->axes, elements,
                                    rows->element_size);
  cost = tp_cost_add(cost, gathers_cost(topology, mesh, rows));
  return tp_cost_add(
      cost, kernels_cost(topology, rows, (double)rows->tokens / (rows->scattered ? (double)n : 1)));
}

/* ---- GEMMs ---- */

/* Returns the cost of a GEMM of this many rows. */
static tp_cost gemm_cost(const tp_topology *topology, const tp_fused_rows *rows, int64_t tokens) {
  double m = (double)tokens, n = (double)rows->hidden, k = (double)rows->k;
  int64_t least = rows->hidden < rows->k ? rows->hidden : rows->k;
  tp_work work = {.peak = rows->peak,
                  .contraction_flops = 2 * m * n * k,
                  .gemm_dim = tokens < least ? tokens : least,
                  .memory_bytes = (m * k + k * n + m * n) * (double)rows->element_size,
                  .launch = true};
  return tp_cost_compute(topology, &work);
}

/* Returns the cost of all slices: those of the other devices, each sent while the next one is
 * computed, and the device's own. */
static tp_cost slices_cost(const tp_topology *topology, const tp_fused_rows *rows, int64_t n,
                           tp_cost send) {
  tp_cost slice = gemm_cost(topology, rows, (rows->tokens + n - 1) / n), cost = slice,
          step = slice > send ? slice : send;
  for (int64_t i = 1; i < n; i++)
    cost = tp_cost_add(cost, step);
  return cost;
}

/* Returns why the model is unreliable, or NULL. On 8 H100, sliced GEMMs were slower below these
 * sizes, and when sending takes much less or much more time than computing. */
static const char *find_unmeasured(const tp_fused_rows *rows, int64_t n, tp_cost send,
                                   tp_cost product) {
  enum { MIN_TOKENS = 4096, MIN_SLICE = 512, MIN_PART = 20, MAX_TIMES = 2 };
  double sent = (double)send * (double)(n - 1), computed = (double)product;
  if (rows->tokens < MIN_TOKENS || rows->tokens / n < MIN_SLICE)
    return "fewer than 4096 rows, or fewer than 512 rows per device";
  if (sent * MIN_PART < computed || sent > MAX_TIMES * computed)
    return "a communication time below 1/20 or above 2 times the matmul time";
  return NULL;
}

/* Returns the cost of separate calls for the GEMM and for its rows, with the rows fused or
 * unfused. */
static tp_cost unfused_gemm_cost(const tp_topology *topology, const tp_mesh *mesh,
                                 const tp_fused_rows *rows) {
  tp_fused_rows given = *rows;
  given.k = 0;
  tp_fused_price price = tp_cost_fused_rows(topology, mesh, &given);
  return tp_cost_add(gemm_cost(topology, rows, rows->tokens),
                     price.fused < price.separate ? price.fused : price.separate);
}

/* ---- fused and unfused costs ---- */

tp_fused_price tp_cost_fused_rows(const tp_topology *topology, const tp_mesh *mesh,
                                  const tp_fused_rows *rows) {
  int64_t n;
  const tp_kernels *kernels = find_kernels(topology, mesh, rows->n_axes, rows->axes, &n);
  tp_fused_price price = {.fused = TP_COST_FORBIDDEN,
                          .separate = rows->k ? unfused_gemm_cost(topology, mesh, rows)
                                              : unfused_rows_cost(topology, mesh, rows, n)};
  if (!kernels)
    return price;
  int64_t bytes = tp__multiply(tp__multiply(rows->tokens, rows->hidden), rows->element_size);
  price.algorithm = choose(kernels, rows, n, bytes);
  traffic t = traffic_of(rows, price.algorithm, (double)n, (double)bytes);
  tp_cost memory = tp_cost_compute(topology, &(tp_work){.memory_bytes = t.memory, .launch = true});
  tp_cost link = tp_cost_compute(topology, &(tp_work){.launch = true});
  double wire_us = t.link / (kernels->gbytes_per_s * 1e3),
         signals_us = kernels->signal_us * (price.algorithm == TP_FUSED_PUSH ? 1 : 2);
  link = tp_cost_add(link, tp__from_us(wire_us));
  price.fused = tp_cost_add(memory > link ? memory : link, tp__from_us(signals_us));
  if (!rows->k)
    return price;
  tp_cost send = tp__from_us((double)bytes / (double)n / (kernels->gbytes_per_s * 1e3));
  price.fused = tp_cost_add(price.fused, slices_cost(topology, rows, n, send));
  price.unmeasured = find_unmeasured(rows, n, send, gemm_cost(topology, rows, rows->tokens));
  return price;
}

/* ---- all-gather and GEMM ---- */

static tp_cost gemms_cost(const tp_topology *topology, const tp_gathered_rows *rows,
                          int64_t tokens) {
  tp_cost cost = 0;
  for (int i = 0; i < rows->n; i++) {
    const tp_fused_rows product = {.hidden = rows->columns[i],
                                   .k = rows->width,
                                   .element_size = rows->element_size,
                                   .peak = rows->peak};
    cost = tp_cost_add(cost, gemm_cost(topology, &product, tokens));
  }
  return cost;
}

tp_fused_price tp_cost_gathered_rows(const tp_topology *topology, const tp_mesh *mesh,
                                     const tp_gathered_rows *rows) {
  int64_t n, elements = tp__multiply(rows->tokens, rows->width);
  const tp_fused_rows all = {.n_axes = rows->n_axes, .axes = rows->axes, .tokens = rows->tokens};
  const tp_kernels *kernels = find_kernels(topology, mesh, all.n_axes, all.axes, &n);
  tp_cost whole = gemms_cost(topology, rows, rows->tokens);
  tp_fused_price price = {.fused = TP_COST_FORBIDDEN};
  price.separate =
      tp_cost_add(whole, tp_cost_collective(topology, mesh, TP_ALL_GATHER, rows->n_axes, rows->axes,
                                            elements, rows->element_size));
  if (!kernels)
    return price;
  tp_cost send = tp__from_us((double)elements * (double)rows->element_size / (double)n /
                             (kernels->gbytes_per_s * 1e3));
  tp_cost slice = gemms_cost(topology, rows, (rows->tokens + n - 1) / n),
          step = slice > send ? slice : send;
  price.algorithm = TP_FUSED_SLICES;
  /* the last slice starts after its copy and after all slices before */
  price.fused = tp_cost_add(slice, tp__from_us(2 * kernels->signal_us));
  for (int64_t i = 1; i < n; i++)
    price.fused = tp_cost_add(price.fused, step);
  price.unmeasured = find_unmeasured(&all, n, send, whole);
  return price;
}

/* ---- softmax ---- */

bool tp_cost_fused_softmax(const tp_topology *topology, const tp_mesh *mesh,
                           const tp_fused_softmax *softmax, tp_cost *fused, tp_cost *separate) {
  int64_t n, local = tp__multiply(softmax->tokens, softmax->columns);
  bool has_kernels = find_kernels(topology, mesh, softmax->n_axes, softmax->axes, &n) != NULL;
  const tp_work rows = {.memory_bytes = (double)local * (double)softmax->element_size,
                        .launch = true},
                parts = {.memory_bytes = 16.0 * (double)softmax->tokens * (double)n,
                         .launch = true};
  tp_cost read = tp_cost_compute(topology, &rows);
  tp_cost gather = tp_cost_collective(topology, mesh, TP_ALL_GATHER, softmax->n_axes, softmax->axes,
                                      tp__multiply(tp__multiply(softmax->tokens, n), 4), 4);
  tp_cost reduce = tp_cost_collective(topology, mesh, TP_ALL_REDUCE, softmax->n_axes, softmax->axes,
                                      softmax->tokens, sizeof(float));
  *fused = tp_cost_add(tp_cost_add(read, gather), tp_cost_compute(topology, &parts));
  *separate = tp_cost_add(read, read);
  for (int i = 0; i < softmax->n_collectives; i++)
    *separate = tp_cost_add(*separate, reduce);
  return has_kernels;
}
