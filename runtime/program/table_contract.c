/* Reads TPRT_SITE_CONTRACT and TPRT_SITE_FUSED_CONTRACTIONS. */
#include "program/table.h"

#include "tprt/cuda_gemm.h"

#include <string.h>

static bool is_f8(tprt_dtype dtype) { return dtype == TPRT_F8E4M3 || dtype == TPRT_F8E5M2; }

/* Reads the types of A and B. */
static tprt_status read_factors(const tprt__program *program, int64_t type_a, int64_t type_b,
                                int64_t type_c, tprt__site *site) {
  tprt_status status = tprt__check_range("type of A", type_a, 0, TPRT_N_DTYPES - 1);
  if (!status)
    status = tprt__check_range("type of B", type_b, 0, TPRT_N_DTYPES - 1);
  tprt_dtype a = (tprt_dtype)type_a, b = (tprt_dtype)type_b;
  if (status || (!a && !b))
    return status;
  bool equal = a == b && (a == TPRT_F16 || a == TPRT_BF16);
  if (program->target != TPRT_TARGET_CUDA || type_c != TPRT_F32 ||
      (!equal && (!is_f8(a) || !is_f8(b))))
    return tprt__fail(
        TPRT_INVALID_ARGUMENT,
        "contraction: A is of type %lld, B of %lld, C of %lld; a program for GPUs may "
        "multiply f16, bf16 or f8 into f32, others one type",
        (long long)a, (long long)b, (long long)type_c);
  site->factors[0] = a;
  site->factors[1] = b;
  return TPRT_OK;
}

/* Plans the products, which site->products describes. */
static tprt_status plan(tprt__site *site, tprt_dtype dtype, bool overwrite) {
  size_t bytes = (size_t)site->n_products * sizeof *site->contraction;
  tprt_status status = TPRT_OK;
  site->contraction = tprt__alloc(bytes);
  if (!site->contraction)
    return tprt__fail_memory(bytes);
  for (int i = 0; i < site->n_products && !status; i++)
    status = tprt__contraction_plan(dtype, site->products[i].n_loops, site->products[i].loops,
                                    overwrite, &site->contraction[i]);
  return status;
}

tprt_status tprt__read_contraction(const tprt__program *program, const tprt_abi_site *words,
                                   tprt__site *site) {
  tprt_status status = tprt__check_unused("contraction", &words->reduction, 1);
  if (!status)
    status = tprt__check_unused("contraction", &words->rank, 1);
  if (!status)
    status = tprt__check_unused("contraction", words->shape, TPRT_MAX_RANK);
  if (!status)
    status = tprt__check_range("dim of a contraction", words->dim, 0, 1);
  if (!status)
    status = read_factors(program, words->split_dim, words->root, words->dtype, site);
  if (status)
    return status;
  int64_t n_loops = site->n_extra > 0 ? site->extra[TPRT_CONTRACT_N_LOOPS] : -1;
  if (n_loops < 0 || n_loops > TPRT__MAX_CONTRACT_DIMS ||
      site->n_extra != TPRT_CONTRACT_LOOPS + n_loops * TPRT_LOOP_WORDS) {
    return tprt__fail(
        TPRT_INVALID_ARGUMENT,
        "contraction: %lld words of extra data do not match the number of loops, at most %d",
        (long long)site->n_extra, TPRT__MAX_CONTRACT_DIMS);
  }
  status = tprt__check_range("dtype", words->dtype, 1, TPRT_N_DTYPES - 1);
  if (status)
    return status;
  site->n_products = 1;
  site->products[0] = (tprt__product){.loops = (const void *)(site->extra + TPRT_CONTRACT_LOOPS),
                                      .n_loops = n_loops};
  return plan(site, (tprt_dtype)words->dtype, words->dim);
}

/* Inputs are A, B and the bias, if there is one, of each product in turn; outputs are C of each. */
static tprt_status check_operands(const tprt__site *site,
                                  const tprt_abi_fused_contractions *words) {
  const tprt_abi_operands *operands = &site->operands;
  int64_t at = 0;
  bool right = operands->n_outputs == words->n;
  for (int64_t i = 0; i < words->n; i++)
    for (int role = TPRT_IN_A; role <= TPRT_IN_BIAS; role++) {
      bool has = role == TPRT_IN_BIAS ? words->biases >> i & 1 : role != TPRT_IN_RESIDUAL;
      right &= !has || (at < operands->n_inputs && operands->inputs[at] == role);
      at += has;
    }
  return right && at == operands->n_inputs
             ? TPRT_OK
             : tprt__fail(TPRT_INVALID_ARGUMENT,
                          "fused contractions: there are %lld products, and other operands and "
                          "results than theirs",
                          (long long)words->n);
}

/* Checks the epilogue of product i. Its loops must be those of a dense matmul of one type. */
static tprt_status check_epilogue(const tprt__site *site, const tprt_abi_fused_contractions *words,
                                  int64_t i) {
  tprt_status status = tprt__check_range("function of a matmul", words->functions[i],
                                         TPRT_CUDA_NOTHING, i < words->n ? TPRT_CUDA_GELU : 0);
  tprt_dtype dtype = site->op.dtype;
  bool has = words->functions[i] || words->biases >> i & 1, fits = words->n_loops[i] == 3;
  if (status || !has)
    return status;
  const tprt_abi_loop *loops = words->loops[i];
  bool matches = false;
  for (int transposed = 0; transposed < 2 && fits; transposed++) {
    tprt_abi_loop dense[TPRT__MATMUL_LOOPS];
    tprt__matmul_loops(loops[0].size, loops[1].size, loops[2].size, transposed, dense);
    matches |= memcmp(dense, loops, sizeof dense) == 0;
  }
  return matches && !site->factors[0] &&
                 (dtype == TPRT_F32 || dtype == TPRT_F16 || dtype == TPRT_BF16)
             ? TPRT_OK
             : tprt__fail(TPRT_INVALID_ARGUMENT,
                          "fused contractions: product %lld has an epilogue, and is no matmul of "
                          "dense matrices of f32, f16 or bf16",
                          (long long)i);
}

/* Checks the loops of product i, of which only the first n are used. */
static tprt_status check_loops(const tprt_abi_fused_contractions *words, int64_t i, int64_t n) {
  const tprt_abi_loop *loops = words->loops[i];
  tprt_status status = tprt__check_unused("fused contractions", (const void *)(loops + n),
                                          (TPRT_PRODUCT_LOOPS - n) * TPRT_LOOP_WORDS);
  for (int64_t l = 0; l < n && !status; l++)
    status = tprt__check_range("size of a loop", loops[l].size, 1, INT64_MAX);
  return status;
}

tprt_status tprt__read_fused_contractions(const tprt__program *program, tprt__site *site) {
  const tprt_abi_fused_contractions *words = (const void *)site->extra;
  tprt_status status = tprt__check_unused(
      "fused contractions", (const int64_t[]){site->op.reduction, site->op.n_dims}, 2);
  if (!status)
    status = tprt__check_range("number of products", words->n, 1, TPRT_MAX_MATMULS);
  if (!status)
    status = tprt__check_range("biases", words->biases, 0, (INT64_C(1) << words->n) - 1);
  if (!status)
    status = check_operands(site, words);
  if (!status)
    status = read_factors(program, words->factors[0], words->factors[1], site->op.dtype, site);
  for (int64_t i = 0; i < TPRT_MAX_MATMULS && !status; i++) {
    int64_t n_loops = words->n_loops[i];
    status =
        tprt__check_range("number of loops", n_loops, 0, i < words->n ? TPRT_PRODUCT_LOOPS : 0);
    if (!status)
      status = check_loops(words, i, n_loops);
    if (!status)
      status = check_epilogue(site, words, i);
    site->products[i] = (tprt__product){.loops = words->loops[i],
                                        .n_loops = n_loops,
                                        .has_bias = words->biases >> i & 1,
                                        .function = words->functions[i]};
  }
  site->n_products = status ? 0 : (int)words->n;
  return status ? status : plan(site, site->op.dtype, true);
}
