/* Models the time of ops on buffers. */
#include "passes/bufferize/assign.h"
#include "passes/bufferize/schedule/schedule.h"

#include "ir/work.h"

#include <mlir-c/BuiltinTypes.h>

static const struct {
  int64_t bytes;
  tp_peak peak;
} dtypes[TPRT_N_DTYPES] = {
    [TPRT_F32] = {4, TP_PEAK_F32},   [TPRT_F64] = {8, TP_PEAK_F64},
    [TPRT_F16] = {2, TP_PEAK_F16},   [TPRT_BF16] = {2, TP_PEAK_F16},
    [TPRT_BOOL] = {1, TP_PEAK_F32},  [TPRT_I8] = {1, TP_PEAK_I8},
    [TPRT_I16] = {2, TP_PEAK_F32},   [TPRT_I32] = {4, TP_PEAK_F32},
    [TPRT_I64] = {8, TP_PEAK_F32},   [TPRT_U8] = {1, TP_PEAK_I8},
    [TPRT_U16] = {2, TP_PEAK_F32},   [TPRT_U32] = {4, TP_PEAK_F32},
    [TPRT_U64] = {8, TP_PEAK_F32},   [TPRT_C64] = {8, TP_PEAK_F32},
    [TPRT_C128] = {16, TP_PEAK_F64}, [TPRT_F8E4M3] = {1, TP_PEAK_F8},
    [TPRT_F8E5M2] = {1, TP_PEAK_F8},
};

/* The words of a call's site; NULL where the function has none of that number. */
static const tprt_abi_site *site_of(const tp__op_pricing *p, MlirOperation call) {
  int64_t number;
  if (!tp__call_site(call, &number) || number < 0 ||
      (size_t)number >= p->sites->n / TPRT_SITE_WORDS)
    return NULL;
  const tprt_abi_site *sites = (const void *)p->sites->items, *site = &sites[number];
  return site->dtype > 0 && site->dtype < TPRT_N_DTYPES ? site : NULL;
}

static tp_cost price_collective(const tp__op_pricing *p, const tprt_abi_site *site) {
  static const tp_collective kinds[] = {[TPRT_SITE_ALL_REDUCE] = TP_ALL_REDUCE,
                                        [TPRT_SITE_ALL_GATHER] = TP_ALL_GATHER,
                                        [TPRT_SITE_REDUCE_SCATTER] = TP_REDUCE_SCATTER,
                                        [TPRT_SITE_ALL_TO_ALL] = TP_ALL_TO_ALL,
                                        [TPRT_SITE_PERMUTE] = TP_PERMUTE,
                                        [TPRT_SITE_BROADCAST] = TP_BROADCAST};
  if (site->kind < TPRT_SITE_ALL_REDUCE || site->kind > TPRT_SITE_BROADCAST ||
      site->n_axes > p->mesh->n_axes || site->rank > TP_MAX_RANK)
    return 0;
  int axes[TP_MAX_AXES], n = (int)site->n_axes;
  /* a permute over the whole mesh names no axes */
  bool whole = site->kind == TPRT_SITE_PERMUTE && n == 0;
  n = whole ? p->mesh->n_axes : n;
  int64_t elements = 1, devices = 1;
  for (int i = 0; i < n; i++) {
    axes[i] = whole ? i : (int)site->axes[i];
    if (axes[i] < 0 || axes[i] >= p->mesh->n_axes)
      return 0;
    devices *= p->mesh->axes[axes[i]].size;
  }
  for (int64_t d = 0; d < site->rank; d++)
    elements *= site->shape[d];
  if (site->kind == TPRT_SITE_ALL_GATHER)
    elements *= devices;
  return tp_cost_flat(p->topology, p->mesh, kinds[site->kind], n, axes, elements,
                      dtypes[site->dtype].bytes);
}

enum { MAX_LOOPS = 32 };

/* Prices a product with these loops, of A, B and C of these types. */
static tp_cost price_loops(const tp__op_pricing *p, const int64_t types[3], int n_loops,
                           const tprt_abi_loop *loops) {
  int64_t sizes[MAX_LOOPS];
  tp_work work = {.peak = dtypes[types[0]].peak, .contraction_flops = 2, .launch = true};
  uint32_t used[3] = {0};
  double elements[3] = {1, 1, 1};
  for (int i = 0; i < n_loops; i++) {
    sizes[i] = loops[i].size;
    work.contraction_flops *= (double)sizes[i];
    for (int k = 0; k < 3; k++) {
      used[k] |= loops[i].stride[k] ? UINT32_C(1) << i : 0;
      elements[k] *= loops[i].stride[k] ? (double)sizes[i] : 1;
    }
  }
  work.gemm_dim = tp__gemm_dim(n_loops, sizes, used[0], used[1], used[2]);
  for (int k = 0; k < 3; k++)
    work.memory_bytes += elements[k] * (double)dtypes[types[k]].bytes;
  return tp_cost_compute(p->topology, &work);
}

/* The types of A, B and C; 0 stands for that of C. False if the runtime lacks one. */
static bool read_types(int64_t a, int64_t b, int64_t c, int64_t types[3]) {
  const int64_t given[3] = {a ? a : c, b ? b : c, c};
  bool known = true;
  for (int k = 0; k < 3; k++) {
    known &= given[k] >= 0 && given[k] < TPRT_N_DTYPES;
    types[k] = given[k];
  }
  return known;
}

static tp_cost price_contraction(const tp__op_pricing *p, const tprt_abi_site *site) {
  int64_t begin = site->extra, n = site->n_extra, types[3];
  if (!read_types(site->split_dim, site->root, site->dtype, types) || begin < 0 || n < 1 ||
      begin + n > (int64_t)p->extra->n ||
      p->extra->items[begin + TPRT_CONTRACT_N_LOOPS] > MAX_LOOPS ||
      n != TPRT_CONTRACT_LOOPS + TPRT_LOOP_WORDS * p->extra->items[begin + TPRT_CONTRACT_N_LOOPS])
    return 0;
  return price_loops(p, types, (int)p->extra->items[begin + TPRT_CONTRACT_N_LOOPS],
                     (const void *)(p->extra->items + begin + TPRT_CONTRACT_LOOPS));
}

/* Products that run side by side take as long as one after the other, at most. */
static tp_cost price_contractions(const tp__op_pricing *p, const tprt_abi_site *site) {
  enum { N_WORDS = sizeof(tprt_abi_fused_contractions) / sizeof(int64_t) };
  int64_t begin = site->extra, types[3];
  tp_cost sum = 0;
  if (begin < 0 || site->n_extra != N_WORDS || begin + N_WORDS > (int64_t)p->extra->n)
    return 0;
  const tprt_abi_fused_contractions *words = (const void *)(p->extra->items + begin);
  if (!read_types(words->factors[0], words->factors[1], site->dtype, types) || words->n < 0 ||
      words->n > TPRT_MAX_MATMULS)
    return 0;
  for (int64_t i = 0; i < words->n; i++)
    if (words->n_loops[i] >= 0 && words->n_loops[i] <= TPRT_PRODUCT_LOOPS)
      sum = tp_cost_add(sum, price_loops(p, types, (int)words->n_loops[i], words->loops[i]));
  return sum;
}

/* The epilogue adds nothing to the matmul. */
static tp_cost price_matmul(const tp__op_pricing *p, const tprt_abi_site *site) {
  int64_t begin = site->extra, rank = site->rank, m = 1;
  enum { N_WORDS = sizeof(tprt_abi_fused_matmul) / sizeof(int64_t) };
  if (begin < 0 || site->n_extra != N_WORDS || begin + N_WORDS > (int64_t)p->extra->n || rank < 1 ||
      rank > TP_MAX_RANK)
    return 0;
  const tprt_abi_fused_matmul *words = (const void *)(p->extra->items + begin);
  int64_t n = site->shape[rank - 1], k = words->k;
  for (int64_t d = 0; d + 1 < rank; d++)
    m *= site->shape[d];
  const int64_t sizes[3] = {m, n, k};
  double elements = (double)m * (double)k + (double)k * (double)n + (double)m * (double)n;
  tp_work work = {.peak = dtypes[site->dtype].peak,
                  .contraction_flops = 2 * (double)m * (double)n * (double)k,
                  .memory_bytes = elements * (double)dtypes[site->dtype].bytes,
                  .gemm_dim = tp__gemm_dim(3, sizes, 5, 6, 3),
                  .launch = true};
  return tp_cost_compute(p->topology, &work);
}

/* Two products of all scores, of which a causal mask hides half; in the kernels of the gradient
 * three and four. Scores stay on chip. */
static tp_cost price_attention(const tp__op_pricing *p, const tprt_abi_site *site) {
  enum { N_WORDS = sizeof(tprt_abi_fused_attention) / sizeof(int64_t) };
  int64_t begin = site->extra;
  if (begin < 0 || site->n_extra != N_WORDS || begin + N_WORDS > (int64_t)p->extra->n)
    return 0;
  const tprt_abi_fused_attention *w = (const void *)(p->extra->items + begin);
  double rows = (double)w->row.size * (double)w->group.size, columns = (double)w->column.size,
         features = (double)(w->feature.size + w->value.size), outer = 1;
  for (int i = 0; i < TPRT_ATTENTION_OUTER; i++)
    outer *= (double)w->outer[i].size;
  const int64_t sizes[3] = {w->row.size * w->group.size, w->column.size, w->feature.size};
  double products = site->kind == TPRT_SITE_FUSED_ATTENTION_GRADIENT ? 3.5 : 1;
  tp_work work = {
      .peak = dtypes[site->dtype].peak,
      .contraction_flops = products * 2 * outer * rows * columns * features * (w->causal ? 0.5 : 1),
      .memory_bytes = outer * (rows + columns) * features * (double)dtypes[site->dtype].bytes,
      .gemm_dim = tp__gemm_dim(3, sizes, 5, 6, 3),
      .launch = true};
  return tp_cost_compute(p->topology, &work);
}

static tp_status add_work(MlirOperation op, void *data) {
  tp_work *sum = data, work;
  if (tp__op_has_dialect(op, "linalg") && tp__op_work(op, &work)) {
    sum->contraction_flops += work.contraction_flops;
    sum->scalar_ops += work.scalar_ops;
  }
  return TP_OK;
}

/* Prices a kernel. Its nests read and write each argument once; intermediate results stay on
 * chip. */
static tp_cost price_kernel(const tp__op_pricing *p, MlirOperation kernel) {
  tp_work work = {.peak = TP_PEAK_F32, .launch = true};
  MlirType type = tp__func_type(kernel);
  (void)tp__walk(kernel, add_work, &work); /* the visitor does not fail */
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(type); i++)
    if (mlirTypeIsAMemRef(mlirFunctionTypeGetInput(type, i)))
      work.memory_bytes += (double)tp__memref_bytes(mlirFunctionTypeGetInput(type, i));
  return tp_cost_compute(p->topology, &work);
}

static tp_cost price_call(const tp__op_pricing *p, MlirOperation op) {
  tp__call call = tp__runtime_call(op);
  MlirOperation kernel = call == TP_CALL_NONE ? tp__callee(p->module, op) : (MlirOperation){NULL};
  if (!mlirOperationIsNull(kernel))
    return price_kernel(p, kernel);
  const tprt_abi_site *site =
      call == TP_CALL_COLLECTIVE || call == TP_CALL_CONTRACT || call == TP_CALL_FUSED
          ? site_of(p, op)
          : NULL;
  if (site && site->kind == TPRT_SITE_FUSED_MATMUL)
    return price_matmul(p, site);
  if (site && site->kind == TPRT_SITE_FUSED_CONTRACTIONS)
    return price_contractions(p, site);
  if (site &&
      (site->kind == TPRT_SITE_FUSED_ATTENTION || site->kind == TPRT_SITE_FUSED_ATTENTION_GRADIENT))
    return price_attention(p, site);
  if (!site || call == TP_CALL_FUSED)
    return 0;
  return call == TP_CALL_COLLECTIVE ? price_collective(p, site) : price_contraction(p, site);
}

static tp_cost price_copy(const tp__op_pricing *p, MlirOperation op) {
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0));
  tp_work work = {.launch = true};
  work.memory_bytes =
      2 * (double)tp__n_elements(type) * (double)tp__element_size(tp__element_type(type));
  return tp_cost_compute(p->topology, &work);
}

static tp_cost times(tp_cost cost, double trips) {
  double product = (double)cost * (trips > 1 ? trips : 1);
  return product < (double)TP_COST_FORBIDDEN ? (tp_cost)product : TP_COST_FORBIDDEN;
}

tp_cost tp__price_op(const tp__op_pricing *prices, MlirOperation op) {
  tp_work work;
  double trips;
  if (tp__op_is(op, "func.call"))
    return price_call(prices, op);
  if (tp__op_is(op, "memref.copy"))
    return price_copy(prices, op);
  if (tp__op_has_dialect(op, "linalg"))
    return tp__op_work(op, &work) ? tp_cost_compute(prices->topology, &work) : 0;
  tp_cost sum = 0;
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    for (; !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      for (MlirOperation o = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(o);
           o = mlirOperationGetNextInBlock(o))
        sum = tp_cost_add(sum, tp__price_op(prices, o));
  }
  return tp__loop_trips(op, &trips) ? times(sum, trips) : sum;
}
