/* Describes the results of fused reductions: which ones exist, how they are gathered, and how a
 * call is described to the kernels. */
#include "cuda/program/rows.h"

#include <string.h>

/* ---- Results ---- */

bool tprt__rows_has_result(const tprt__site *site, tprt__rows_result which) {
  static const tprt_operand operands[] = {[TPRT__ROWS_RESULT_OUT] = TPRT_OUT_TENSOR,
                                          [TPRT__ROWS_RESULT_QUANTIZED] = TPRT_OUT_QUANTIZED,
                                          [TPRT__ROWS_RESULT_SCALE] = TPRT_OUT_SCALE};
  return tprt__site_has(site, operands[which]);
}

void *tprt__rows_buffer(const tprt__rows_buffers *b, tprt__rows_result which) {
  void *const buffers[] = {[TPRT__ROWS_RESULT_OUT] = b->out,
                           [TPRT__ROWS_RESULT_QUANTIZED] = b->quantized,
                           [TPRT__ROWS_RESULT_SCALE] = b->scale};
  return buffers[which];
}

tprt_dtype tprt__rows_result_dtype(const tprt__site *site, tprt__rows_result which) {
  const tprt_dtype dtypes[] = {[TPRT__ROWS_RESULT_OUT] = site->op.dtype,
                               /* the bits of f8e4m3, as a type that every backend supports */
                               [TPRT__ROWS_RESULT_QUANTIZED] = TPRT_U8,
                               [TPRT__ROWS_RESULT_SCALE] = TPRT_F32};
  return dtypes[which];
}

int64_t tprt__rows_result_width(const tprt__rows *rows, tprt__rows_result which) {
  if (which != TPRT__ROWS_RESULT_SCALE)
    return rows->hidden;
  return rows->quantize == TPRT_CUDA_PER_GROUP ? rows->hidden / TPRT_CUDA_GROUP : 1;
}

static tprt_status plan_gather(const tprt_context *context, const tprt__site *site,
                               const tprt__site_state *state, tprt__rows_result which,
                               tprt__site_state *gather) {
  tprt_op op = site->op;
  int n = tprt_comm_size(state->comm);
  op.kind = TPRT_OP_ALL_GATHER;
  op.reduction = TPRT_NO_REDUCTION;
  op.dtype = tprt__rows_result_dtype(site, which);
  op.shape[op.dim] /= n;
  op.shape[op.n_dims - 1] = tprt__rows_result_width(&site->rows, which);
  gather->comm = state->comm;
  tprt_status status = tprt__plan_shape(&op, n, tprt_comm_rank(state->comm), &gather->plan);
  return status ? status : tprt__bind_to_gpu(context, gather);
}

static int64_t round_up(int64_t bytes) { return (bytes + 255) / 256 * 256; }

tprt_status tprt__rows_plan_scratch(const tprt_context *context, const tprt__site *site,
                                    tprt__site_state *state) {
  struct tprt__rows_state *rows = tprt__gpu_site_of(state)->rows;
  tprt_status status = TPRT_OK;
  rows->room = round_up(state->plan.recv_bytes);
  for (int i = 0; i < TPRT__ROWS_RESULTS && site->rows.layout == TPRT_ROWS_GATHERED && !status;
       i++) {
    if (!tprt__rows_has_result(site, i))
      continue;
    status = plan_gather(context, site, state, i, &rows->gather[i]);
    rows->slice[i] = rows->room;
    rows->room += round_up(rows->gather[i].plan.send_bytes);
  }
  return status;
}

/* ---- Calls ---- */

static float float_of(int64_t word) {
  uint32_t bits = (uint32_t)word;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

tprt_cuda_rows tprt__rows_describe(const tprt__site *site, const tprt__rows_buffers *b) {
  const tprt__rows *rows = &site->rows;
  return (tprt_cuda_rows){.size = sizeof(tprt_cuda_rows),
                          .dtype = site->op.dtype,
                          .tokens = rows->tokens,
                          .hidden = rows->hidden,
                          .norm = (tprt_cuda_norm)rows->norm,
                          .epsilon = float_of(rows->epsilon),
                          .quantize = (tprt_cuda_quantize)rows->quantize,
                          .least_largest = float_of(rows->least_largest),
                          .least_scale = float_of(rows->least_scale),
                          .divides = rows->divides,
                          .static_scale = b->static_scale,
                          .bias = b->bias,
                          .gamma = b->gamma,
                          .beta = b->beta};
}
