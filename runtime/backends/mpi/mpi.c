/* Backend "mpi": processes started by an MPI launcher. MPI moves the messages; message.h describes
 * the operations built from them. */
#include "backends/message/message.h"
#include "backends/mpi/mpi_library.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* The endpoint of one world. Requests are allocated, because a request handle is one pointer. */
typedef struct mpi_endpoint {
  const mpi_library *library;
  mpi_handle comm;
} mpi_endpoint;

typedef struct mpi_request {
  mpi_handle handle;
  bool sends;
} mpi_request;

/* State of the process. MPI starts and ends once per process, and is called by one thread at a
 * time, for all worlds. */
static struct {
  pthread_mutex_t lock;
  const mpi_library *library;
  /* a message is pending that no rank will receive: MPI_Finalize would wait for it */
  bool abandoned;
  bool ended;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Finalizes MPI at exit. Worlds that were not destroyed may still have attendant threads. */
static void finalize_at_exit(void) {
  int finalized = 1;
  pthread_mutex_lock(&process.lock);
  process.ended = true;
  process.library->finalized(&finalized);
  if (!finalized && !process.abandoned)
    process.library->finalize();
  pthread_mutex_unlock(&process.lock);
}

/* Acquires MPI for this thread. Fails if MPI has ended. */
static tprt_status enter(void) {
  pthread_mutex_lock(&process.lock);
  if (!process.ended)
    return TPRT_OK;
  pthread_mutex_unlock(&process.lock);
  return tprt__fail(TPRT_INVALID_STATE,
                    "backend mpi: the process is exiting, and MPI is already finalized");
}

static void leave(void) { pthread_mutex_unlock(&process.lock); }

/* Initializes MPI, or uses the initialization of the program. */
static tprt_status start(const mpi_library *library) {
  int initialized = 0, finalized = 0, level = 0;
  library->initialized(&initialized);
  library->finalized(&finalized);
  if (finalized)
    return tprt__fail(
        TPRT_INVALID_STATE,
        "backend mpi: MPI was finalized, and cannot be initialized twice in a process");
  int code = initialized ? library->functions->query_thread(&level)
                         : library->functions->initialize(&level);
  if (code)
    return tprt__mpi_fail(library, code, "MPI_Init_thread");
  process.library = library;
  if (!initialized && atexit(finalize_at_exit) != 0)
    return tprt__fail(TPRT_SYSTEM, "backend mpi: cannot register an exit handler");
  if (level < 2)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "backend mpi: the program initialized MPI with thread level %d; "
                      "MPI_THREAD_SERIALIZED (2) is needed, because work runs in the background",
                      level);
  return TPRT_OK;
}

/* Waits until all ranks have arrived, at most until the deadline. Later collective calls of MPI
 * then end soon. */
static tprt_status barrier(const mpi_library *library, int64_t deadline) {
  mpi_handle request;
  int done = 0, code = library->functions->world_barrier(&request);
  while (!code && !done) {
    code = library->functions->test(&request, &done);
    if (!done && tprt__now() >= deadline) {
      process.abandoned = true;
      return tprt__fail(TPRT_TIMEOUT, "backend mpi: not all ranks joined the world in time");
    }
    if (!done)
      sched_yield();
  }
  return code ? tprt__mpi_fail(library, code, "MPI_Ibarrier") : TPRT_OK;
}

static tprt_status check_place(const mpi_endpoint *end, int n_ranks, int rank) {
  int size = 0, own = -1;
  end->library->functions->size(end->comm, &size);
  end->library->functions->rank(end->comm, &own);
  if (size == n_ranks && own == rank)
    return TPRT_OK;
  return tprt__fail(TPRT_INVALID_ARGUMENT,
                    "rank %d of %d was requested, but %s started this process as rank %d of %d "
                    "(start all ranks with its mpirun)",
                    rank, n_ranks, end->library->functions->family, own, size);
}

/* Queries the hosts of the ranks. All ranks take part, also those that are not where their caller
 * wants them, so that none of the others waits for them. The caller owns *first. */
static tprt_status find_hosts(const mpi_endpoint *end, int rank, int **first, int *host_ranks) {
  int size = 0, code = end->library->functions->size(end->comm, &size);
  *first = tprt__alloc((size_t)size * sizeof **first);
  if (!*first)
    return tprt__fail_memory((size_t)size * sizeof **first);
  if (!code)
    code = end->library->functions->hosts(end->comm, rank, *first, host_ranks);
  return code ? tprt__mpi_fail(end->library, code, "the hosts of the ranks") : TPRT_OK;
}

/* Duplicates the world communicator, and queries its largest tag and the hosts of its ranks. */
static tprt_status duplicate(mpi_endpoint *end, int n_ranks, int rank, uint32_t *max_tag,
                             int **first, int *host_ranks) {
  const mpi_functions *call = end->library->functions;
  int tag = 0, code = call->duplicate_world(&end->comm);
  if (!code)
    code = call->return_errors(end->comm);
  if (!code)
    code = call->max_tag(end->comm, &tag);
  *max_tag = (uint32_t)tag;
  if (code)
    return tprt__mpi_fail(end->library, code, "a new communicator");
  tprt_status status = find_hosts(end, rank, first, host_ranks);
  return status ? status : check_place(end, n_ranks, rank);
}

static tprt_status open_endpoint(int n_ranks, int rank, int64_t timeout_ns, void **result,
                                 uint32_t *max_tag, int **first, int *host_ranks) {
  const mpi_library *library;
  tprt_status status = tprt__mpi_load(&library);
  mpi_endpoint *end = tprt__alloc(sizeof *end);
  if (!status && !end)
    status = tprt__fail_memory(sizeof *end);
  if (!status)
    status = enter();
  if (!status) {
    end->library = library;
    status = start(library);
    if (!status)
      status = barrier(library, tprt__deadline(timeout_ns));
    if (!status)
      status = duplicate(end, n_ranks, rank, max_tag, first, host_ranks);
    leave();
  }
  if (status)
    tprt__free(end);
  else
    *result = end;
  return status;
}

static tprt_status start_message(mpi_endpoint *end, int peer, uint32_t tag, void *data,
                                 size_t bytes, bool sends, void **result) {
  const mpi_functions *call = end->library->functions;
  mpi_request *request = tprt__alloc(sizeof *request);
  if (!request)
    return tprt__fail_memory(sizeof *request);
  tprt_status status = enter();
  if (status) {
    tprt__free(request);
    return status;
  }
  request->sends = sends;
  int code = sends ? call->send(data, (int)bytes, peer, (int)tag, end->comm, &request->handle)
                   : call->receive(data, (int)bytes, peer, (int)tag, end->comm, &request->handle);
  leave();
  if (code) {
    tprt__free(request);
    return tprt__mpi_fail(end->library, code, sends ? "MPI_Isend" : "MPI_Irecv");
  }
  *result = request;
  return TPRT_OK;
}

static tprt_status mpi_send(void *end, int peer, uint32_t tag, const void *data, size_t bytes,
                            void **request) {
  return start_message(end, peer, tag, (void *)(uintptr_t)data, bytes, true, request);
}

static tprt_status mpi_receive(void *end, int peer, uint32_t tag, void *data, size_t bytes,
                               void **request) {
  return start_message(end, peer, tag, data, bytes, false, request);
}

static tprt_status mpi_test(void *at, void *asked) {
  mpi_endpoint *end = at;
  mpi_request *request = asked;
  int done = 0, code = 0;
  tprt_status status = enter();
  if (!status) {
    code = end->library->functions->test(&request->handle, &done);
    leave();
    if (!code && !done)
      return TPRT_IN_PROGRESS;
  }
  tprt__free(request);
  if (status)
    return status;
  return code ? tprt__mpi_fail(end->library, code, "MPI_Test") : TPRT_OK;
}

/* MPI cannot cancel a message that was sent. */
static bool mpi_cancel(void *at, void *asked) {
  mpi_endpoint *end = at;
  mpi_request *request = asked;
  int done = 0;
  bool over = true;
  if (!enter()) {
    if (!request->sends)
      over = end->library->functions->cancel(&request->handle) == 0;
    else
      over = end->library->functions->test(&request->handle, &done) == 0 && done;
    process.abandoned |= !over;
    leave();
  }
  tprt__free(request);
  return over;
}

/* Always false: an MPI launcher ends the whole job when a process dies. */
static bool mpi_ended(void *end, int peer) {
  (void)end;
  (void)peer;
  return false;
}

/* Does not free the communicator, because that is collective over all ranks. */
static void mpi_close(void *end) { tprt__free(end); }

static const tprt_messenger messenger = {
    .size = sizeof messenger,
    .abi = TPRT_MESSENGER_ABI,
    .name = "mpi",
    .summary = "processes of an MPI launcher, on any number of hosts",
    .send = mpi_send,
    .receive = mpi_receive,
    .test = mpi_test,
    .cancel = mpi_cancel,
    .ended = mpi_ended,
    .close = mpi_close,
};

static tprt_status backend_probe(void) {
  const mpi_library *library;
  return tprt__mpi_load(&library);
}

static tprt_status backend_create(int n_ranks, int rank, const tprt__settings *settings,
                                  tprt__transport **transport) {
  void *end;
  uint32_t max_tag;
  int host_ranks, *first = NULL;
  tprt_status status =
      open_endpoint(n_ranks, rank, settings->timeout_ns, &end, &max_tag, &first, &host_ranks);
  if (!status)
    status = tprt__wire_open_endpoint(&messenger, &tprt__backend_mpi, end, max_tag, n_ranks, rank,
                                      host_ranks, first, transport);
  tprt__free(first);
  return status;
}

const tprt__backend tprt__backend_mpi = {
    .capabilities = WIRE_CAPABILITIES | TPRT_CAP_PROCESSES,
    .name = "mpi",
    .summary = "processes of an MPI launcher, on any number of hosts",
    .lacks = {TPRT__LACK(TPRT_CAP_THREADS) = "the ranks are processes that the MPI launcher starts",
              TPRT__LACK(TPRT_CAP_ELASTIC) =
                  "the MPI launcher starts all processes of a job; use backend tcp",
              WIRE_LACKS},
    .probe = backend_probe,
    .create = backend_create,
    WIRE_ROWS,
};
