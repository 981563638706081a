/* Reads fused sites: checks their operands against a table of kinds, then reads the words of the
 * kind. */
#include "program/table.h"

#include <string.h>

#define BIT(operand) (UINT64_C(1) << (operand))

/* One row per kind: required and allowed operands as bits, the length of the extra data in words,
 * and the function that reads the extra data. */
static const struct {
  const char *name;
  uint64_t required, allowed;
  int64_t n_extra;
  tprt_status (*read)(const tprt__program *program, tprt__site *site);
} kinds[] = {
    [TPRT_SITE_FUSED_REDUCE] = {"fused reduction", 0,
                                BIT(TPRT_IN_TENSOR) | BIT(TPRT_IN_A) | BIT(TPRT_IN_B) |
                                    BIT(TPRT_IN_RESIDUAL) | BIT(TPRT_IN_BIAS) | BIT(TPRT_IN_GAMMA) |
                                    BIT(TPRT_IN_BETA) | BIT(TPRT_IN_STATIC_SCALE) |
                                    BIT(TPRT_OUT_TENSOR) | BIT(TPRT_OUT_RESIDUAL) |
                                    BIT(TPRT_OUT_QUANTIZED) | BIT(TPRT_OUT_SCALE),
                                sizeof(tprt_abi_fused_reduce) / sizeof(int64_t),
                                tprt__read_fused_reduce},
    [TPRT_SITE_FUSED_GATHER] = {"fused all-gather",
                                BIT(TPRT_IN_TENSOR) | BIT(TPRT_IN_B) | BIT(TPRT_OUT_TENSOR),
                                BIT(TPRT_OUT_GATHERED),
                                sizeof(tprt_abi_fused_gather) / sizeof(int64_t),
                                tprt__read_fused_gather},
    [TPRT_SITE_FUSED_SOFTMAX] = {"fused softmax", BIT(TPRT_IN_TENSOR),
                                 BIT(TPRT_IN_TARGET) | BIT(TPRT_OUT_MAX) | BIT(TPRT_OUT_SUM) |
                                     BIT(TPRT_OUT_PICKED),
                                 sizeof(tprt_abi_fused_softmax) / sizeof(int64_t),
                                 tprt__read_fused_softmax},
    [TPRT_SITE_FUSED_MATMUL] = {"fused matmul",
                                BIT(TPRT_IN_A) | BIT(TPRT_IN_B) | BIT(TPRT_OUT_TENSOR),
                                BIT(TPRT_IN_BIAS), sizeof(tprt_abi_fused_matmul) / sizeof(int64_t),
                                tprt__read_fused_matmul},
    [TPRT_SITE_FUSED_ATTENTION] = {"fused attention",
                                   BIT(TPRT_IN_QUERIES) | BIT(TPRT_IN_KEYS) | BIT(TPRT_IN_VALUES) |
                                       BIT(TPRT_OUT_TENSOR),
                                   BIT(TPRT_IN_MASK) | BIT(TPRT_IN_DROPOUT) |
                                       BIT(TPRT_IN_POSITION) | BIT(TPRT_OUT_MAX) |
                                       BIT(TPRT_OUT_SUM),
                                   sizeof(tprt_abi_fused_attention) / sizeof(int64_t),
                                   tprt__read_fused_attention},
    [TPRT_SITE_FUSED_ATTENTION_GRADIENT] =
        {"fused gradient of attention",
         BIT(TPRT_IN_QUERIES) | BIT(TPRT_IN_KEYS) | BIT(TPRT_IN_VALUES) | BIT(TPRT_IN_ATTENDED) |
             BIT(TPRT_IN_MAX) | BIT(TPRT_IN_SUM) | BIT(TPRT_IN_GRADIENT) |
             BIT(TPRT_OUT_GRADIENT_QUERIES) | BIT(TPRT_OUT_GRADIENT_KEYS) |
             BIT(TPRT_OUT_GRADIENT_VALUES) | BIT(TPRT_OUT_WORKSPACE),
         BIT(TPRT_IN_MASK) | BIT(TPRT_IN_DROPOUT) | BIT(TPRT_IN_POSITION),
         sizeof(tprt_abi_fused_attention) / sizeof(int64_t), tprt__read_fused_attention},
    [TPRT_SITE_ROUTE] = {"route",
                         BIT(TPRT_IN_TENSOR) | BIT(TPRT_IN_POSITION) | BIT(TPRT_IN_STARTS) |
                             BIT(TPRT_IN_ENDS) | BIT(TPRT_OUT_TENSOR),
                         BIT(TPRT_IN_INIT), sizeof(tprt_abi_route) / sizeof(int64_t),
                         tprt__read_route},
    [TPRT_SITE_FUSED_CONTRACTIONS] = {"fused contractions",
                                      BIT(TPRT_IN_A) | BIT(TPRT_IN_B) | BIT(TPRT_OUT_TENSOR),
                                      BIT(TPRT_IN_BIAS),
                                      sizeof(tprt_abi_fused_contractions) / sizeof(int64_t),
                                      tprt__read_fused_contractions},
};

int tprt__site_operand(const tprt__site *site, tprt_operand which, int nth) {
  const tprt_abi_operands *all = &site->operands;
  bool is_input = which < TPRT_OUT_TENSOR;
  const int64_t *list = is_input ? all->inputs : all->outputs;
  int n = (int)(is_input ? all->n_inputs : all->n_outputs);
  for (int i = 0; i < n; i++) {
    if (list[i] == which && nth-- == 0)
      return i;
  }
  return -1;
}

/* Reads one list of operands and adds them to `seen` as bits. */
static tprt_status read_list(tprt_site_kind kind, const char *what, int64_t n, const int64_t *list,
                             int64_t low, int64_t high, uint64_t *seen) {
  tprt_status status = tprt__check_range(what, n, 0, TPRT_MAX_INPUTS);
  for (int i = 0; i < TPRT_MAX_INPUTS && !status; i++) {
    bool is_listed = i < n;
    status = tprt__check_range(what, list[i], is_listed ? low : 0, is_listed ? high : 0);
    if (status || !is_listed)
      continue;
    bool may_repeat =
        kind == TPRT_SITE_FUSED_CONTRACTIONS ||
        (kind == TPRT_SITE_FUSED_GATHER && (list[i] == TPRT_IN_B || list[i] == TPRT_OUT_TENSOR));
    if (*seen & BIT(list[i]) && !may_repeat)
      return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: %lld is listed twice", what,
                        (long long)list[i]);
    *seen |= BIT(list[i]);
  }
  return status;
}

static tprt_status read_operands(tprt__site *site) {
  tprt_abi_operands *operands = &site->operands;
  uint64_t seen = 0;
  memcpy(operands, site->extra, sizeof *operands);
  tprt_status status = read_list(site->kind, "inputs", operands->n_inputs, operands->inputs,
                                 TPRT_IN_TENSOR, TPRT_OUT_TENSOR - 1, &seen);
  if (!status)
    status = read_list(site->kind, "outputs", operands->n_outputs, operands->outputs,
                       TPRT_OUT_TENSOR, TPRT_N_OPERANDS - 1, &seen);
  uint64_t required = kinds[site->kind].required;
  if (!status && ((seen & required) != required || seen & ~(required | kinds[site->kind].allowed)))
    status = tprt__fail(
        TPRT_INVALID_ARGUMENT, "%s: operands 0x%llx; it needs 0x%llx and may have 0x%llx",
        kinds[site->kind].name, (unsigned long long)seen, (unsigned long long)required,
        (unsigned long long)kinds[site->kind].allowed);
  return status;
}

tprt_status tprt__read_fused(const tprt__program *program, tprt__site *site) {
  if (program->target != TPRT_TARGET_CUDA && site->kind != TPRT_SITE_ROUTE)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: fused sites are supported in GPU programs only",
                      kinds[site->kind].name);
  if (site->n_extra != kinds[site->kind].n_extra)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: has %lld words of extra data, expected %lld",
                      kinds[site->kind].name, (long long)site->n_extra,
                      (long long)kinds[site->kind].n_extra);
  tprt_status status = read_operands(site);
  return status ? status : kinds[site->kind].read(program, site);
}

tprt_status tprt__check_group(const tprt__program *program, const tprt__site *site) {
  tprt__plan plan;
  return tprt__plan_shape(&site->op, (int)tprt__site_group_size(program, site), 0, &plan);
}

tprt_status tprt__count_rows(const tprt_op *op, const char *name, int64_t *rows) {
  *rows = 1;
  for (int d = 0; d + 1 < op->n_dims; d++) {
    if (op->shape[d] < 0)
      return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: dimension %d has size %lld", name, d,
                        (long long)op->shape[d]);
    if (__builtin_mul_overflow(*rows, op->shape[d], rows))
      return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: there are more than 2^63 rows", name);
  }
  return TPRT_OK;
}

void tprt__matmul_loops(int64_t m, int64_t n, int64_t k, bool transpose_b,
                        tprt_abi_loop loops[TPRT__MATMUL_LOOPS]) {
  loops[0] = (tprt_abi_loop){m, {k, 0, n}};
  loops[1] = (tprt_abi_loop){n, {0, transpose_b ? k : 1, 1}};
  loops[2] = (tprt_abi_loop){k, {1, transpose_b ? 1 : n, 0}};
}

tprt_status tprt__matmul_plan(tprt_dtype dtype, const tprt_abi_loop loops[TPRT__MATMUL_LOOPS],
                              tprt__contraction *plan) {
  bool has_rows = loops[0].size > 0;
  return tprt__contraction_plan(dtype, TPRT__MATMUL_LOOPS, loops, has_rows, plan);
}

tprt_status tprt__plan_site_matmul(tprt__site *site,
                                   const tprt_abi_loop loops[TPRT__MATMUL_LOOPS]) {
  site->contraction = tprt__alloc(sizeof *site->contraction);
  if (!site->contraction)
    return tprt__fail_memory(sizeof *site->contraction);
  return tprt__matmul_plan(site->op.dtype, loops, site->contraction);
}
