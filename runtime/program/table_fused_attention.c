/* Reads TPRT_SITE_FUSED_ATTENTION and TPRT_SITE_FUSED_ATTENTION_GRADIENT: attention in one kernel,
 * and its gradient in two. */
#include "program/table.h"

#include "base/float_bits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Limits that keep offsets of elements far from overflow. */
enum { MAX_COLUMNS = INT32_MAX - 128 };
static const int64_t max_size = INT64_C(1) << 31, max_stride = INT64_C(1) << 44;

static tprt_status check_loop(const tprt_abi_attention_loop *loop, const char *what, int64_t low,
                              int64_t high) {
  tprt_status status = tprt__check_range(what, loop->size, low, high);
  for (int x = 0; x < TPRT_ATTENTION_TENSORS && !status; x++)
    status = tprt__check_range("stride of an attention", loop->stride[x], 0, max_stride);
  return status;
}

/* A gradient without rows would have to clear those of keys and values. */
static tprt_status check_loops(const tprt_abi_fused_attention *words, int64_t least) {
  tprt_status status = TPRT_OK;
  for (int i = 0; i < TPRT_ATTENTION_OUTER && !status; i++)
    status = check_loop(&words->outer[i], "size of an outer loop of an attention", 0, max_size);
  if (!status)
    status = check_loop(&words->group, "group of an attention", least, max_size);
  if (!status)
    status = check_loop(&words->row, "rows of an attention", least, max_size);
  if (!status)
    status = check_loop(&words->column, "columns of an attention", 1, MAX_COLUMNS);
  if (!status)
    status = check_loop(&words->feature, "features of an attention", 1, TPRT_ATTENTION_FEATURES);
  return status ? status
                : check_loop(&words->value, "features of the values of an attention", 1,
                             TPRT_ATTENTION_FEATURES);
}

/* Checks the kind and the type of an operand that a site may have: bools, or numbers of f32 or of
 * the type of the queries. `by_number`: the kinds whose elements are numbers. */
static tprt_status check_option(const tprt__site *site, tprt_operand operand, const char *name,
                                int64_t kind, int64_t n_kinds, bool by_number, int64_t dtype) {
  char what[48];
  bool has = tprt__site_has(site, operand);
  snprintf(what, sizeof what, "%s of an attention", name);
  tprt_status status = tprt__check_range(what, kind, has, has ? n_kinds - 1 : 0);
  if (status)
    return status;
  bool fits = !has        ? dtype == 0
              : by_number ? dtype == TPRT_F32 || dtype == (int64_t)site->op.dtype
                          : dtype == TPRT_BOOL;
  return fits ? TPRT_OK
              : tprt__fail(TPRT_INVALID_ARGUMENT,
                           "fused attention: type %lld of the %s; it must be %s", (long long)dtype,
                           name,
                           !has        ? "0: there is none"
                           : by_number ? "f32 or that of the queries"
                                       : "bool");
}

static tprt_status check_mask(const tprt__site *site, const tprt_abi_fused_attention *words) {
  return check_option(site, TPRT_IN_MASK, "mask", words->mask, TPRT_N_ATTENTION_MASKS,
                      words->mask == TPRT_ATTENTION_ADD, words->mask_dtype);
}

static tprt_status check_dropout(const tprt__site *site, const tprt_abi_fused_attention *words) {
  tprt_status status =
      check_option(site, TPRT_IN_DROPOUT, "dropout", words->dropout, TPRT_N_ATTENTION_DROPOUTS,
                   words->dropout == TPRT_ATTENTION_MULTIPLY, words->dropout_dtype);
  float scale = float_of((uint32_t)words->dropout_scale);
  bool drops =
      words->dropout == TPRT_ATTENTION_KEEP_WEIGHT || words->dropout == TPRT_ATTENTION_DROP_WEIGHT;
  if (!status)
    status = tprt__check_range("whether dropped weights are 0", words->zeroes_dropped, 0, drops);
  if (status)
    return status;
  return isfinite(scale) && (words->dropout ? scale > 0 : words->dropout_scale == 0)
             ? TPRT_OK
             : tprt__fail(TPRT_INVALID_ARGUMENT,
                          "fused attention: scale %g of the dropout; it must be positive and "
                          "finite, or 0 without dropout",
                          (double)scale);
}

static tprt_status check_result(const tprt_op *op, int64_t dtype) {
  return dtype == TPRT_F32 || dtype == (int64_t)op->dtype
             ? TPRT_OK
             : tprt__fail(TPRT_INVALID_ARGUMENT,
                          "fused attention: type %lld of a result; it must be f32 or that of the "
                          "queries",
                          (long long)dtype);
}

/* Statistics of rows are complete, and what only a gradient has is 0 elsewhere. */
static tprt_status check_gradient(const tprt__site *site, const tprt_abi_fused_attention *words) {
  enum { N = sizeof words->gradient_dtypes / sizeof *words->gradient_dtypes };
  bool is_gradient = site->kind == TPRT_SITE_FUSED_ATTENTION_GRADIENT;
  tprt_status status = TPRT_OK;
  if (tprt__site_has(site, TPRT_OUT_MAX) != tprt__site_has(site, TPRT_OUT_SUM))
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "fused attention: it has one statistic of its rows; it needs max and sum, or "
                      "neither");
  for (int i = 0; i < N && !status; i++)
    status = is_gradient ? check_result(&site->op, words->gradient_dtypes[i])
                         : tprt__check_range("type of a gradient of an attention",
                                             words->gradient_dtypes[i], 0, 0);
  if (!status)
    status = tprt__check_range("whether hidden scores pass gradients", words->passes_hidden, 0,
                               is_gradient);
  return status ? status
                : tprt__check_range("whether rows of hidden scores are 0", words->zeroes_hidden, 0,
                                    !is_gradient);
}

tprt_status tprt__read_fused_attention(const tprt__program *program, tprt__site *site) {
  (void)program;
  const tprt_op *op = &site->op;
  tprt_abi_fused_attention *words = &site->attention;
  memcpy(words, site->extra, sizeof *words);
  if (op->reduction || (op->dtype != TPRT_F32 && op->dtype != TPRT_F16 && op->dtype != TPRT_BF16))
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "fused attention: reduction %s of queries of %s; it must be no reduction, of "
                      "f32, f16 or bf16",
                      tprt_reduction_name(op->reduction), tprt_dtype_name(op->dtype));
  tprt_status status = check_loops(words, site->kind == TPRT_SITE_FUSED_ATTENTION_GRADIENT);
  if (!status)
    status = check_mask(site, words);
  if (!status)
    status = check_dropout(site, words);
  if (!status)
    status = tprt__check_range("causal", words->causal, 0, 1);
  if (!status)
    status = tprt__check_range("offset of a causal mask", words->offset,
                               words->causal ? -max_size : 0, words->causal ? max_size : 0);
  if (status)
    return status;
  status = check_result(op, words->out_dtype);
  if (!status)
    status = check_gradient(site, words);
  if (status)
    return status;
  if (!isfinite(float_of((uint32_t)words->scale)) || !(float_of((uint32_t)words->hidden) < 0))
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "fused attention: scale %g and hidden score %g; they must be finite, and "
                      "negative",
                      (double)float_of((uint32_t)words->scale),
                      (double)float_of((uint32_t)words->hidden));
  float cap = float_of((uint32_t)words->cap);
  if (!isfinite(cap) || !(cap >= 0))
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "fused attention: a cap of %g; it must be finite, and not negative",
                      (double)cap);
  bool has_position = tprt__site_has(site, TPRT_IN_POSITION);
  if (has_position != (words->position_dtype != 0) || (has_position && !words->causal) ||
      (has_position && words->position_dtype != TPRT_I32 && words->position_dtype != TPRT_I64))
    return tprt__fail(
        TPRT_INVALID_ARGUMENT,
        "fused attention: type %lld of the position; it must be that of an i32 or i64 "
        "operand of a causal mask, or 0",
        (long long)words->position_dtype);
  return TPRT_OK;
}
