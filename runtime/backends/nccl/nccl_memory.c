/* Device memory: checks of operands, memory from NCCL, scratch memory, and copies in a stream. */
#include "backends/nccl/nccl.h"

#include <string.h>

/* ---- checks of operands ---- */

tprt_status tprt__nccl_check_memory(const nccl_transport *nccl, const char *kind, const char *side,
                                    const void *memory) {
  int type = 0, ordinal = -1;
  cuda_result result =
      /* managed memory counts as device memory */
      nccl->device->pointer_attribute(&type, CUDA_POINTER_MEMORY_TYPE, tprt__cuda_address(memory));
  if (result || type != CUDA_MEMORY_DEVICE)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "%s: %s is host memory; backend nccl needs memory of its device "
                      "(tprt_mem_alloc, cudaMalloc)",
                      kind, side);
  tprt_status status = tprt__device_check(
      nccl->device,
      nccl->device->pointer_attribute(&ordinal, CUDA_POINTER_ORDINAL, tprt__cuda_address(memory)),
      "the device of a pointer");
  if (!status && ordinal != nccl->ordinal)
    status =
        tprt__fail(TPRT_INVALID_ARGUMENT, "%s: %s is memory of device %d; this rank has device %d",
                   kind, side, ordinal, nccl->ordinal);
  return status;
}

static tprt_status check_side(const nccl_transport *nccl, const tprt__plan *plan, const char *side,
                              const void *whole, int64_t bytes, const tprt__part *parts) {
  const char *kind = tprt_op_kind_name(plan->kind);
  tprt_status status = TPRT_OK;
  if (!parts)
    return bytes ? tprt__nccl_check_memory(nccl, kind, side, whole) : TPRT_OK;
  for (int i = 0; i < plan->n_ranks && !status; i++)
    status = parts[i].bytes ? tprt__nccl_check_memory(nccl, kind, side, parts[i].at) : TPRT_OK;
  return status;
}

/* Refuses operations that a graph cannot capture. A replay would use the scratch memory
 * concurrently with other users. And captured work ends at every replay, so it cannot have a
 * handle. */
static tprt_status check_capture(const nccl_transport *nccl, const tprt__plan *plan, bool told) {
  const char *kind = tprt_op_kind_name(plan->kind);
  bool captured;
  tprt_status status = tprt__nccl_find_capture(nccl, plan->stream, &captured);
  if (status || !captured)
    return status;
  if (told)
    return tprt__fail(TPRT_INVALID_STATE,
                      "%s: an operation captured in a graph has no work handle; pass NULL", kind);
  if (plan->reduction && tprt__nccl_map_reduction(nccl, plan).is_ours)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "%s: NCCL does not compute %s of %s as tprt defines it; it needs memory for "
                      "pieces of all ranks, and cannot be captured in a graph",
                      kind, tprt_reduction_name(plan->reduction), plan->type->name);
  if (tprt__nccl_stages(plan))
    return tprt__fail(TPRT_UNSUPPORTED,
                      "%s: pieces that are not contiguous, or elements that are not aligned, "
                      "cannot be captured in a graph",
                      kind);
  return TPRT_OK;
}

tprt_status tprt__nccl_accept(const tprt__transport *transport, const tprt__plan *plan, bool told) {
  const nccl_transport *nccl = (const nccl_transport *)transport;
  tprt_status status = TPRT_OK;
  if (tprt__plan_is_transfer(plan) && plan->tag)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "%s: tag %d: NCCL has no tags; messages between two ranks arrive in order",
                      tprt_op_kind_name(plan->kind), plan->tag);
  if (plan->stream)
    status = check_capture(nccl, plan, told);
  if (!status && plan->reduction)
    status = tprt__nccl_load_kernels((nccl_transport *)(uintptr_t)nccl, plan);
  if (!status && tprt__plan_sends(plan))
    status = check_side(nccl, plan, "send", plan->send, plan->send_bytes, plan->sends);
  if (!status && tprt__plan_receives(plan))
    status = check_side(nccl, plan, "recv", plan->recv, plan->recv_bytes, plan->recvs);
  return status;
}

/* ---- memory from NCCL ---- */

static tprt_status zero(nccl_transport *nccl, void *memory, size_t bytes) {
  nccl_wait wait = {.deadline = tprt__deadline(tprt__nccl_timeout(nccl))};
  cuda_event done;
  tprt_status status = tprt__device_check(
      nccl->device, nccl->device->event_create(&done, CUDA_EVENT_DISABLE_TIMING), "an event");
  if (status)
    return status;
  status = tprt__device_check(
      nccl->device, nccl->device->memory_set(tprt__cuda_address(memory), 0, bytes, nccl->stream),
      "clearing memory");
  if (!status)
    status = tprt__device_check(nccl->device, nccl->device->event_record(done, nccl->stream),
                                "an event");
  if (!status)
    status = tprt__nccl_wait_event(nccl, done, &wait);
  nccl->device->event_destroy(done);
  return status;
}

/* Memory that NCCL allocated for any communicator of this process; only such memory can be a
 * window. */
typedef struct nccl_block {
  struct nccl_block *next;
  char *at;
  size_t bytes;
} nccl_block;
static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;
static nccl_block *blocks;

bool tprt__nccl_can_window(const void *memory, uint64_t bytes) {
  bool found = false;
  pthread_mutex_lock(&blocks_lock);
  for (const nccl_block *at = blocks; at && !found; at = at->next) {
    uintptr_t offset = (uintptr_t)memory - (uintptr_t)at->at;
    found =
        offset < at->bytes && bytes <= at->bytes - offset && offset % NCCL_WINDOW_ALIGNMENT == 0;
  }
  pthread_mutex_unlock(&blocks_lock);
  return found;
}

static tprt_status note_block(void *memory, size_t bytes) {
  nccl_block *made = tprt__alloc(sizeof *made);
  if (!made)
    return tprt__fail_memory(sizeof *made);
  pthread_mutex_lock(&blocks_lock);
  *made = (nccl_block){blocks, memory, bytes};
  blocks = made;
  pthread_mutex_unlock(&blocks_lock);
  return TPRT_OK;
}

static void forget_block(const void *memory) {
  pthread_mutex_lock(&blocks_lock);
  nccl_block **at = &blocks;
  while (*at && (*at)->at != memory)
    at = &(*at)->next;
  nccl_block *found = *at;
  if (found)
    *at = found->next;
  pthread_mutex_unlock(&blocks_lock);
  tprt__free(found);
}

static bool from_nccl(const nccl_transport *nccl) {
  return nccl->library->memory_alloc && nccl->library->memory_free;
}

static tprt_status take(nccl_transport *nccl, size_t bytes, void **memory) {
  if (from_nccl(nccl))
    return tprt__nccl_check(nccl->library, NULL, nccl->library->memory_alloc(memory, bytes),
                            "ncclMemAlloc");
  cuda_address at = 0;
  tprt_status status = tprt__device_check(nccl->device, nccl->device->memory_alloc(&at, bytes),
                                          "memory of the device");
  *memory = (void *)(uintptr_t)at;
  return status;
}

static void give_back(nccl_transport *nccl, void *memory) {
  if (from_nccl(nccl))
    nccl->library->memory_free(memory);
  else
    nccl->device->memory_free(tprt__cuda_address(memory));
}

tprt_status tprt__nccl_alloc(tprt__transport *transport, size_t bytes, void **memory) {
  nccl_transport *nccl = (nccl_transport *)transport;
  void *made = NULL;
  tprt_status status = tprt__nccl_enter_device(nccl);
  if (status)
    return status;
  status = take(nccl, bytes, &made);
  if (!status) {
    status = zero(nccl, made, bytes);
    if (!status && from_nccl(nccl))
      status = note_block(made, bytes);
    if (status)
      give_back(nccl, made);
  }
  tprt__nccl_leave_device(nccl);
  if (!status)
    *memory = made;
  return status;
}

void tprt__nccl_free(tprt__transport *transport, void *memory) {
  nccl_transport *nccl = (nccl_transport *)transport;
  bool entered = !tprt__nccl_enter_device(nccl); /* if not, freeing may still succeed */
  nccl_pending *guard = tprt__nccl_guard(nccl);
  forget_block(memory);
  give_back(nccl, memory);
  tprt__nccl_unguard(nccl, guard);
  if (entered)
    tprt__nccl_leave_device(nccl);
}

/* ---- scratch memory ----
 *
 * It grows. Smaller blocks are kept until the end, because freeing waits for the whole device. */

tprt_status tprt__nccl_scratch(nccl_transport *nccl, int64_t bytes, cuda_stream stream,
                               char **memory) {
  if (!nccl->scratch || nccl->scratch->bytes < (size_t)bytes) {
    size_t grown = nccl->scratch ? 2 * nccl->scratch->bytes : 1 << 16;
    nccl_scratch *made = tprt__alloc(sizeof *made);
    if (!made)
      return tprt__fail_memory(sizeof *made);
    made->bytes = grown > (size_t)bytes ? grown : (size_t)bytes;
    tprt_status status = tprt__device_check(
        nccl->device, nccl->device->memory_alloc(&made->at, made->bytes), "scratch memory");
    if (status) {
      tprt__free(made);
      return status;
    }
    made->next = nccl->scratch;
    nccl->scratch = made;
  }
  tprt_status status =
      tprt__device_check(nccl->device, nccl->device->stream_wait(stream, nccl->scratch_used, 0),
                         "waiting for scratch memory");
  nccl->scratch_taken = !status;
  *memory = (char *)(uintptr_t)nccl->scratch->at;
  return status;
}

tprt_status tprt__nccl_scratch_end(nccl_transport *nccl, cuda_stream stream) {
  if (!nccl->scratch_taken)
    return TPRT_OK;
  nccl->scratch_taken = false;
  return tprt__device_check(nccl->device, nccl->device->event_record(nccl->scratch_used, stream),
                            "an event");
}

void tprt__nccl_scratch_free(nccl_transport *nccl) {
  while (nccl->scratch) {
    nccl_scratch *last = nccl->scratch;
    nccl->scratch = last->next;
    nccl->device->memory_free(last->at);
    tprt__free(last);
  }
}

/* ---- copies ---- */

tprt_status tprt__nccl_copy(nccl_transport *nccl, void *to, const void *from, int64_t bytes,
                            cuda_stream stream) {
  if (!bytes || to == from)
    return TPRT_OK;
  return tprt__device_check(nccl->device,
                            nccl->device->memory_copy(tprt__cuda_address(to),
                                                      tprt__cuda_address(from), (size_t)bytes,
                                                      stream),
                            "a copy");
}

tprt_status tprt__nccl_copy_rows(nccl_transport *nccl, void *to, int64_t to_pitch, const void *from,
                                 int64_t from_pitch, int64_t width, int64_t rows,
                                 cuda_stream stream) {
  if (rows == 1 || (to_pitch == width && from_pitch == width))
    return tprt__nccl_copy(nccl, to, from, width * rows, stream);
  const cuda_copy_2d copy = {.source_type = CUDA_MEMORY_DEVICE,
                             .source = tprt__cuda_address(from),
                             .source_pitch = (size_t)from_pitch,
                             .target_type = CUDA_MEMORY_DEVICE,
                             .target = tprt__cuda_address(to),
                             .target_pitch = (size_t)to_pitch,
                             .width = (size_t)width,
                             .height = (size_t)rows};
  return tprt__device_check(nccl->device, nccl->device->memory_copy_2d(&copy, stream),
                            "a copy of rows");
}
