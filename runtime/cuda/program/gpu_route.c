/* Exchanges rows in programs for GPUs (TPRT_SITE_ROUTE), through host memory: the positions and the
 * bounds of the groups, which say what is sent, are needed there anyway. */
#include "cuda/program/gpu_executor.h"

enum { ROWS, POSITIONS, STARTS, ENDS, INIT, OUT, N_TENSORS };

/* Bytes of each tensor; 0 for a missing init. */
static void tensor_bytes(const tprt__site *site, size_t bytes[N_TENSORS]) {
  const tprt__route *r = &site->route;
  size_t row = (size_t)r->row_elements * tprt_dtype_size(r->element),
         blocks = (size_t)r->block * row, groups = (size_t)r->group_rows * row;
  bool counts_groups = (r->form == TPRT_ROUTE_GATHER) == r->to_groups;
  bytes[ROWS] = r->to_groups ? blocks : groups;
  bytes[OUT] = r->to_groups ? groups : blocks;
  bytes[INIT] = r->form == TPRT_ROUTE_GATHER ? 0 : bytes[OUT];
  bytes[POSITIONS] =
      (size_t)(counts_groups ? r->group_rows : r->block_rows) * tprt_dtype_size(r->positions);
  bytes[STARTS] = bytes[ENDS] = (size_t)r->n_groups * tprt_dtype_size(r->groups);
}

tprt_status tprt__gpu_route_run(tprt_context *context, const tprt__site *site,
                                const tprt__site_state *state, const void *const *inputs,
                                void *const *outputs, int64_t *traffic) {
  static const tprt_operand operands[] = {[ROWS] = TPRT_IN_TENSOR,
                                          [POSITIONS] = TPRT_IN_POSITION,
                                          [STARTS] = TPRT_IN_STARTS,
                                          [ENDS] = TPRT_IN_ENDS,
                                          [INIT] = TPRT_IN_INIT};
  tprt__gpu *gpu = tprt__gpu_of(context)->gpu;
  size_t bytes[N_TENSORS];
  void *parts[N_TENSORS];
  tprt__graph_refuse(context, "its exchanges of rows go through host memory");
  if (context->status)
    return context->status;
  tensor_bytes(site, bytes);
  tprt_status status = tprt__gpu_await_started(context);
  if (!status)
    status = tprt__gpu_stage(context, N_TENSORS, bytes, parts);
  for (int i = 0; i < OUT && !status; i++) {
    const void *input = bytes[i] > 0 ? tprt__site_input(site, inputs, operands[i], 0) : NULL;
    if (bytes[i] > 0)
      status = input ? tprt__gpu_download(gpu, parts[i], input, bytes[i])
                     : tprt__fail(TPRT_INVALID_ARGUMENT, "input %d of the exchange is NULL", i);
  }
  if (status)
    return status;
  const tprt__route_tensors tensors = {.rows = parts[ROWS],
                                       .positions = parts[POSITIONS],
                                       .starts = parts[STARTS],
                                       .ends = parts[ENDS],
                                       .init = parts[INIT],
                                       .out = parts[OUT]};
  status = tprt__route_run(state->comm, site, &tensors, &tprt__gpu_of(context)->route, traffic);
  return status ? status
                : tprt__gpu_upload(gpu, tprt__site_output(site, outputs, TPRT_OUT_TENSOR, 0),
                                   parts[OUT], bytes[OUT]);
}
