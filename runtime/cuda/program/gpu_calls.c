/* Implements the calls that only programs for GPUs and their launchers make: kernels, memory,
 * streams. */
#include "cuda/program/gpu_executor.h"

static tprt_status check_gpu(const tprt_context *context) {
  return tprt__gpu_of(context) ? TPRT_OK
                               : tprt__fail(TPRT_INVALID_ARGUMENT,
                                            "the context was created for the host, it has no GPU");
}

/* Ends a call by a program: an error fails the context. */
static int32_t end_call(tprt_context *context, tprt_status status) {
  return status ? tprt__context_fail(context, status, NULL) : TPRT_OK;
}

static tprt_status check_bytes(int64_t bytes) {
  return bytes >= 0 ? TPRT_OK
                    : tprt__fail(TPRT_INVALID_ARGUMENT, "invalid size of a copy: %lld bytes",
                                 (long long)bytes);
}

static tprt_status check_comm(const tprt_comm *comm) {
  tprt__fault fault = comm->transport->backend->fault(comm->transport);
  return fault.status ? tprt__fault_fail(&fault) : TPRT_OK;
}

/* Reports errors of enqueued work. Such an error stops neither the host nor the stream, so each
 * function that has waited for the stream calls this. `waited` is the status of that wait. */
static tprt_status check_errors(const tprt_context *context, tprt_status waited) {
  tprt_status status = waited ? waited : check_comm(context->world);
  for (const tprt__bound *at = context->programs; at && !status; at = at->next)
    for (int i = 0; i < at->program.n_sites && !status; i++)
      status = at->sites[i].comm ? check_comm(at->sites[i].comm) : TPRT_OK;
  return status ? status : tprt__rows_check(context);
}

/* ---- Kernels and memory ---- */

static tprt_status check_program(const tprt_context *context) {
  tprt_status status = check_gpu(context);
  return status || context->current
             ? status
             : tprt__fail(TPRT_INVALID_ARGUMENT, "no program is bound to the context");
}

int32_t tprt_abi_kernels(tprt_context *context, const char *ptx) {
  if (context->status)
    return (int32_t)context->status;
  tprt_status status = check_program(context);
  tprt__gpu_program *program = status ? NULL : context->current->own;
  if (!status && program->ptx != ptx) {
    tprt__gpu_kernels *kernels;
    status = tprt__gpu_kernels_load(tprt__gpu_of(context)->gpu, ptx, &kernels);
    if (!status) {
      tprt__gpu_kernels_free(tprt__gpu_of(context)->gpu, program->kernels);
      program->kernels = kernels;
      program->ptx = ptx;
    }
  }
  return end_call(context, status);
}

int32_t tprt_abi_launch(tprt_context *context, int32_t kernel, int64_t n_blocks, int32_t n_threads,
                        const uint64_t *arguments, int32_t n_arguments) {
  if (context->status)
    return (int32_t)context->status;
  tprt_status status = check_program(context);
  const tprt__gpu_program *program = status ? NULL : context->current->own;
  if (!status && !program->kernels)
    status = tprt__fail(TPRT_INVALID_ARGUMENT,
                        "kernel %d is launched before the program registered its kernels", kernel);
  if (!status)
    status = tprt__gpu_launch(tprt__gpu_of(context)->gpu, program->kernels, kernel, n_blocks,
                              n_threads, arguments, n_arguments);
  return end_call(context, status);
}

int32_t tprt_abi_copy(tprt_context *context, const void *from, void *to, int64_t bytes) {
  if (context->status)
    return (int32_t)context->status;
  tprt_status status = check_gpu(context);
  if (!status)
    status = check_bytes(bytes);
  return end_call(context,
                  status ? status
                         : tprt__gpu_copy(tprt__gpu_of(context)->gpu, to, from, (size_t)bytes));
}

int32_t tprt_abi_read(tprt_context *context, const void *device, void *host, int64_t bytes) {
  if (context->status)
    return (int32_t)context->status;
  tprt_status status = check_gpu(context);
  if (!status)
    status = check_bytes(bytes);
  tprt__graph_refuse(
      context,
      "its host code reads values that the GPU computes, such as loop conditions or offsets");
  if (context->status)
    return (int32_t)context->status;
  return end_call(context,
                  status ? status
                         : check_errors(context, tprt__gpu_download(tprt__gpu_of(context)->gpu,
                                                                    host, device, (size_t)bytes)));
}

int32_t tprt_abi_write(tprt_context *context, void *device, const void *host, int64_t bytes) {
  if (context->status)
    return (int32_t)context->status;
  tprt_status status = check_gpu(context);
  if (!status)
    status = check_bytes(bytes);
  tprt__graph_refuse(context, "its host code writes to GPU memory");
  if (context->status)
    return (int32_t)context->status;
  return end_call(
      context,
      status ? status : tprt__gpu_upload(tprt__gpu_of(context)->gpu, device, host, (size_t)bytes));
}

void *tprt_abi_constant(tprt_context *context, const void *host, int64_t bytes) {
  void *memory = NULL;
  if (context->status)
    return NULL;
  tprt_status status = check_gpu(context);
  if (!status)
    status = check_bytes(bytes);
  if (!status)
    status = tprt__gpu_constant(tprt__gpu_of(context)->gpu, host, (size_t)bytes, &memory);
  return end_call(context, status) ? NULL : memory;
}

/* ---- Assertions ---- */

void *tprt_abi_assert_word(tprt_context *context) {
  static const int32_t none = 0;
  void *made = NULL;
  if (context->status)
    return NULL;
  tprt_status status = check_gpu(context);
  if (!status && tprt__gpu_of(context)->assert_word)
    return tprt__gpu_of(context)->assert_word;
  if (!status)
    status = tprt__gpu_alloc(tprt__gpu_of(context)->gpu, sizeof none, &made);
  if (!status)
    status = tprt__gpu_upload(tprt__gpu_of(context)->gpu, made, &none, sizeof none);
  if (status)
    tprt__gpu_free(tprt__gpu_of(context)->gpu, made);
  else
    tprt__gpu_of(context)->assert_word = made;
  return end_call(context, status) ? NULL : made;
}

int32_t tprt_abi_asserted(tprt_context *context) {
  int32_t number = 0;
  tprt__graph_refuse(context, "its host code checks assertions");
  const void *word = tprt_abi_assert_word(context);
  if (!word ||
      end_call(context, check_errors(context, tprt__gpu_download(tprt__gpu_of(context)->gpu,
                                                                 &number, word, sizeof number))))
    return 0;
  return number;
}

/* ---- Functions for launchers ---- */

tprt_status tprt_context_alloc(tprt_context *context, size_t bytes, void **memory) {
  TPRT__NEED(context);
  TPRT__NEED(memory);
  tprt_status status = check_gpu(context);
  return status ? status : tprt__gpu_alloc(tprt__gpu_of(context)->gpu, bytes, memory);
}

void tprt_context_free(tprt_context *context, void *memory) {
  if (context && tprt__gpu_of(context))
    tprt__gpu_free(tprt__gpu_of(context)->gpu, memory);
}

tprt_status tprt_context_upload(tprt_context *context, void *to, const void *from, size_t bytes) {
  TPRT__NEED(context);
  tprt_status status = check_gpu(context);
  if (status)
    return status;
  if (bytes) {
    TPRT__NEED(to);
    TPRT__NEED(from);
  }
  return tprt__gpu_upload(tprt__gpu_of(context)->gpu, to, from, bytes);
}

tprt_status tprt_context_download(tprt_context *context, void *to, const void *from, size_t bytes) {
  TPRT__NEED(context);
  tprt_status status = check_gpu(context);
  if (status)
    return status;
  if (bytes) {
    TPRT__NEED(to);
    TPRT__NEED(from);
  }
  return check_errors(context, tprt__gpu_download(tprt__gpu_of(context)->gpu, to, from, bytes));
}

tprt_status tprt_context_synchronize(tprt_context *context) {
  TPRT__NEED(context);
  tprt_status status = check_gpu(context);
  return status ? status : check_errors(context, tprt__gpu_synchronize(tprt__gpu_of(context)->gpu));
}

tprt_status tprt_context_stream(tprt_context *context, void **stream) {
  TPRT__NEED(context);
  TPRT__NEED(stream);
  tprt_status status = check_gpu(context);
  if (!status)
    *stream = tprt__gpu_stream(tprt__gpu_of(context)->gpu);
  return status;
}

static tprt_status gather(tprt_context *context, tprt_comm *comm, tprt_together_fn *fn,
                          const void *mine, bool alone) {
  const tprt_op op = {.size = sizeof op, .kind = TPRT_OP_BARRIER};
  tprt__plan plan;
  tprt_status status = tprt__plan_shape(&op, tprt_comm_size(comm), tprt_comm_rank(comm), &plan);
  plan.gpu = tprt__gpu_of(context)->gpu;
  plan.stream = tprt__gpu_stream(tprt__gpu_of(context)->gpu);
  plan.together = fn;
  plan.alone = alone;
  plan.send = mine;
  return status ? status
                : tprt__comm_launch(comm, &plan, 1, tprt__deadline(tprt__comm_timeout(comm)), NULL);
}

tprt_status tprt__gpu_gather(tprt_context *context, tprt_comm *comm, tprt_together_fn *fn,
                             const void *mine) {
  return gather(context, comm, fn, mine, true);
}

tprt_status tprt_context_together(tprt_context *context, tprt_comm *comm, tprt_together_fn *fn,
                                  const void *mine) {
  TPRT__NEED(context);
  TPRT__NEED(comm);
  TPRT__NEED(fn);
  tprt_status status = check_gpu(context);
  if (status)
    return status;
  if (tprt_comm_size(comm) == 1)
    return tprt__gpu_together(tprt__gpu_queue_of(context), fn, &mine, 1);
  if (comm->transport->backend != &tprt__backend_loopback)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "backend %s does not support virtual ranks of one GPU; use loopback",
                      tprt_comm_backend(comm));
  return gather(context, comm, fn, mine, false);
}
