/* Memory on each rank that all ranks of a communicator can access: by peer access within a process,
 * and by CUDA IPC between processes. */
#include "cuda/fused/symmetric.h"

#include "bootstrap/rendezvous.h"
#include "comm/comm.h"
#include "cuda/driver/device.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REACH_CALLS(X)                                                                             \
  X(can_reach, "cuDeviceCanAccessPeer", (int *reaches, int device, int peer))                      \
  X(reach, "cuCtxEnablePeerAccess", (cuda_context peer, unsigned flags))                           \
  X(handle_of, "cuIpcGetMemHandle", (cuda_ipc_handle * handle, cuda_address memory))               \
  X(open, "cuIpcOpenMemHandle_v2",                                                                 \
    (cuda_address * memory, cuda_ipc_handle handle, unsigned flags))                               \
  X(close, "cuIpcCloseMemHandle", (cuda_address memory))                                           \
  X(stream_synchronize, "cuStreamSynchronize", (cuda_stream stream))

static struct {
  const tprt__cuda *driver;
  const cuda_device_calls *device;
#define MEMBER(member, symbol, parameters) cuda_result(*member) parameters;
  REACH_CALLS(MEMBER)
#undef MEMBER
} cuda;

/* A smaller allocation would share a block of the driver with other allocations, and so expose
 * these to the peers. */
enum { BLOCK_BYTES = 2 << 20, TEXT_BYTES = 200 };

/* Description of a rank's memory that is sent to all ranks. */
typedef struct rank_record {
  int32_t status; /* why it has no memory; `text` explains it */
  char text[TEXT_BYTES];
  tprt__host host;
  int32_t process, device, exported; /* exported: the driver's result of exporting the memory */
  cuda_uuid uuid;
  uint64_t context, address, bytes; /* valid in its process */
  cuda_ipc_handle handle;
} rank_record;

struct tprt_cuda_symmetric {
  tprt_comm *comm;
  int n_ranks, rank;
  cuda_context context;
  cuda_address own;
  void *addresses[TPRT_CUDA_MAX_RANKS];
  bool opened[TPRT_CUDA_MAX_RANKS];
  rank_record cards[TPRT_CUDA_MAX_RANKS];
};

static tprt_status load(void) {
  static const tprt__symbol symbols[] = {
#define ROW(member, symbol, parameters) {symbol, &cuda.member},
      REACH_CALLS(ROW)
#undef ROW
          {NULL, NULL}};
  tprt_status status = tprt__device_load(&cuda.device);
  return status ? status : tprt__cuda_find(&cuda.driver, symbols);
}

static tprt_status check(cuda_result result, const char *what) {
  return tprt__device_check(cuda.device, result, what);
}

/* ---- agreement ---- */

typedef struct vote {
  int32_t status;
  char text[TEXT_BYTES];
} vote;

/* Reports the failure of a rank on this rank. */
static tprt_status fail_as(const tprt_comm *comm, int rank, tprt_status status, const char *text) {
  return rank == tprt_comm_rank(comm)
             ? tprt__fail(status, "%s", text)
             : tprt__fail(status, "rank %d: %s", tprt_comm_world_rank(comm, rank), text);
}

static tprt_status gather(tprt_comm *comm, const void *mine, void *all, size_t bytes) {
  tprt_op op = tprt_op_flat(TPRT_OP_ALL_GATHER, mine, all, (int64_t)bytes, TPRT_U8, NULL);
  return tprt__comm_run_internal(comm, &op);
}

tprt_status tprt__cuda_agree(tprt_comm *comm, tprt_status mine) {
  vote own = {.status = (int32_t)mine}, all[TPRT_CUDA_MAX_RANKS];
  if (mine)
    snprintf(own.text, sizeof own.text, "%s", tprt_last_error());
  tprt_status status = gather(comm, &own, all, sizeof own);
  if (status)
    return status;
  for (int r = 0; r < tprt_comm_size(comm); r++)
    if (all[r].status)
      return fail_as(comm, r, (tprt_status)all[r].status, all[r].text);
  return TPRT_OK;
}

/* ---- a rank's own memory ---- */

static tprt_status allocate(tprt_cuda_symmetric *memory, size_t bytes) {
  tprt_status status = check(tprt__device_enter(cuda.device, memory->context), "its context");
  if (status)
    return status;
  status = check(cuda.device->memory_alloc(&memory->own, bytes), "symmetric memory");
  if (!status)
    status =
        check(cuda.device->memory_set(memory->own, 0, bytes, NULL), "clearing symmetric memory");
  if (!status)
    status = check(cuda.stream_synchronize(NULL), "clearing symmetric memory");
  tprt__device_leave(cuda.device);
  return status;
}

/* Allocates memory in the current context and describes it. After a failure the caller frees what
 * was allocated. */
static tprt_status take(tprt_cuda_symmetric *memory, size_t bytes, rank_record *mine) {
  static tprt__once once = TPRT__ONCE;
  size_t whole = (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
  tprt_status status = tprt__load_once(&once, load);
  if (!status)
    status = check(cuda.device->context_current(&memory->context), "the current context");
  if (!status && !memory->context)
    return tprt__fail(TPRT_INVALID_STATE,
                      "CUDA: the thread has no current context, which symmetric memory needs");
  if (!status && (bytes == 0 || whole < bytes))
    return tprt__fail(TPRT_INVALID_ARGUMENT, "invalid size of symmetric memory: %zu bytes", bytes);
  if (!status)
    status = check(cuda.device->context_device(&mine->device), "device of the context");
  if (!status)
    status = check(cuda.device->device_uuid(&mine->uuid, mine->device), "identity of the device");
  if (!status)
    status = allocate(memory, whole);
  if (status)
    return status;
  mine->exported = cuda.handle_of(&mine->handle, memory->own); /* only other processes need it */
  mine->context = (uint64_t)(uintptr_t)memory->context;
  mine->address = memory->own;
  return TPRT_OK;
}

/* ---- memory of the peers ---- */

static bool is_mine(const tprt_cuda_symmetric *memory, const rank_record *other) {
  const rank_record *mine = &memory->cards[memory->rank];
  return mine->process == other->process && tprt__host_is(&mine->host, &other->host);
}

static bool same_device(const rank_record *a, const rank_record *b) {
  return tprt__host_is(&a->host, &b->host) && memcmp(&a->uuid, &b->uuid, sizeof a->uuid) == 0;
}

/* Enables access to memory of another context of this process. */
static tprt_status reach_context(const tprt_cuda_symmetric *memory, const rank_record *other) {
  const rank_record *mine = &memory->cards[memory->rank];
  int reaches = 1;
  if (mine->context == other->context)
    return TPRT_OK;
  if (!same_device(mine, other)) {
    tprt_status status =
        check(cuda.can_reach(&reaches, mine->device, other->device), "whether devices are peers");
    if (status)
      return status;
  }
  if (!reaches)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "GPU %d cannot access the memory of GPU %d: they are not peers", mine->device,
                      other->device);
  cuda_result result = cuda.reach((cuda_context)(uintptr_t)other->context, 0);
  return check(result == CUDA_RESULT_PEER_ACCESS_ALREADY_ENABLED ? CUDA_RESULT_SUCCESS : result,
               "access to a peer");
}

/* Opens memory of another process. The driver checks whether the devices are peers, because the
 * other device need not be visible here. */
static tprt_status open_handle(const tprt_cuda_symmetric *memory, int rank, cuda_address *at) {
  const rank_record *other = &memory->cards[rank];
  if (other->exported)
    return check((cuda_result)other->exported, "exporting memory to another process");
  return check(cuda.open(at, other->handle, CUDA_IPC_ENABLE_PEERS),
               "opening memory of another process, whose GPU must be a peer");
}

static tprt_status reach_rank(tprt_cuda_symmetric *memory, int rank) {
  const rank_record *other = &memory->cards[rank];
  cuda_address at = other->address;
  tprt_status status = TPRT_OK;
  if (is_mine(memory, other)) {
    status = rank == memory->rank ? TPRT_OK : reach_context(memory, other);
  } else if (!tprt__host_is(&memory->cards[memory->rank].host, &other->host)) {
    status = tprt__fail(
        TPRT_UNSUPPORTED,
        "rank %d is on another host (%s), or in another container: its memory cannot be accessed",
        tprt_comm_world_rank(memory->comm, rank), other->host.name);
  } else {
    status = open_handle(memory, rank, &at);
    memory->opened[rank] = !status;
  }
  memory->addresses[rank] = status ? NULL : (void *)(uintptr_t)at;
  return status;
}

/* ---- creation ---- */

/* Exchanges the ranks' descriptions. If one rank failed, all ranks fail, before any memory is
 * opened. */
static tprt_status exchange(tprt_cuda_symmetric *memory, const rank_record *mine) {
  tprt_status status = gather(memory->comm, mine, memory->cards, sizeof *mine);
  for (int r = 0; r < memory->n_ranks && !status; r++) {
    const rank_record *other = &memory->cards[r];
    if (other->status)
      status = fail_as(memory->comm, r, (tprt_status)other->status, other->text);
    else if (other->bytes != memory->cards[0].bytes && !memory->cards[0].status)
      status = tprt__fail(
          TPRT_MISMATCH, "symmetric memory: rank %d requests %llu bytes, but rank %d requests %llu",
          tprt_comm_world_rank(memory->comm, r), (unsigned long long)other->bytes,
          tprt_comm_world_rank(memory->comm, 0), (unsigned long long)memory->cards[0].bytes);
  }
  return status;
}

static void free_own(tprt_cuda_symmetric *memory) {
  if (memory->own)
    cuda.device->memory_free(memory->own);
  tprt__free(memory);
}

/* Called in its context. Closes the memory that was opened. Frees the own memory after all other
 * ranks have closed it, which cannot be known if the communicator has failed. */
static tprt_status leave(tprt_cuda_symmetric *memory) {
  for (int r = 0; r < memory->n_ranks; r++)
    if (memory->opened[r])
      cuda.close((cuda_address)(uintptr_t)memory->addresses[r]);
  tprt_op barrier = tprt_op_flat(TPRT_OP_BARRIER, NULL, NULL, 0, (tprt_dtype)0, NULL);
  tprt_status status = tprt__comm_run_internal(memory->comm, &barrier);
  if (status)
    memory->own = 0; /* the memory remains allocated in the process */
  free_own(memory);
  return status;
}

void tprt__cuda_symmetric_give_up(tprt_cuda_symmetric *memory, tprt_status status) {
  char text[512];
  snprintf(text, sizeof text, "%s", tprt_last_error());
  (void)tprt_cuda_symmetric_destroy(memory);
  (void)tprt__fail(status, "%s", text);
}

tprt_status tprt__cuda_symmetric_make(tprt_comm *comm, size_t bytes, tprt_status so_far,
                                      tprt_cuda_symmetric **result) {
  int n_ranks = tprt_comm_size(comm);
  if (n_ranks > TPRT_CUDA_MAX_RANKS)
    return tprt__fail(TPRT_UNSUPPORTED, "symmetric memory of %d ranks; at most %d are supported",
                      n_ranks, TPRT_CUDA_MAX_RANKS);
  tprt_cuda_symmetric *memory = tprt__alloc(sizeof *memory);
  if (!memory) /* not only local: the others are about to wait */
    return tprt__comm_fail(comm, tprt__fail_memory(sizeof *memory), TPRT_OP_ALL_GATHER);
  *memory = (tprt_cuda_symmetric){.comm = comm, .n_ranks = n_ranks, .rank = tprt_comm_rank(comm)};
  rank_record mine;
  memset(&mine, 0, sizeof mine);
  mine.process = (int32_t)getpid();
  mine.bytes = bytes;
  tprt_status status = so_far ? so_far : tprt__host_describe(&mine.host);
  if (!status)
    status = take(memory, bytes, &mine);
  if (status) {
    mine.status = (int32_t)status;
    snprintf(mine.text, sizeof mine.text, "%s", tprt_last_error());
  }
  status = exchange(memory, &mine);
  if (status) {
    free_own(memory);
    return status;
  }
  for (int r = 0; r < n_ranks && !status; r++)
    status = reach_rank(memory, r);
  status = tprt__cuda_agree(comm, status);
  if (status) {
    tprt__cuda_symmetric_give_up(memory, status);
    return status;
  }
  *result = memory;
  return TPRT_OK;
}

tprt_status tprt_cuda_symmetric_create(tprt_comm *comm, size_t bytes,
                                       tprt_cuda_symmetric **memory) {
  TPRT__NEED(comm);
  TPRT__NEED(memory);
  return tprt__cuda_symmetric_make(comm, bytes, TPRT_OK, memory);
}

tprt_status tprt_cuda_symmetric_destroy(tprt_cuda_symmetric *memory) {
  if (!memory)
    return TPRT_OK;
  /* if not, freeing may still succeed */
  bool entered = !tprt__device_enter(cuda.device, memory->context);
  tprt_status status = leave(memory);
  if (entered)
    tprt__device_leave(cuda.device);
  return status;
}

void *const *tprt_cuda_symmetric_addresses(const tprt_cuda_symmetric *memory) {
  TPRT__NEED_OR(memory, NULL);
  return memory->addresses;
}

bool tprt__cuda_symmetric_same_device(const tprt_cuda_symmetric *memory, int *a, int *b) {
  for (*b = 1; *b < memory->n_ranks; ++*b)
    for (*a = 0; *a < *b; ++*a)
      if (same_device(&memory->cards[*a], &memory->cards[*b]))
        return true;
  return false;
}
