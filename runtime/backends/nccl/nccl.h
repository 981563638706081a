/* Backend "nccl": each rank has a GPU, and NCCL moves the data, which is in device memory.
 *
 * NCCL has no deadlines and does not report which rank is late. Ranks that disagree about an
 * operation hang, or read memory of others. So every communicator has a companion on host memory
 * (`base.host`): loopback for threads, shm for processes of one host, tcp for processes of several
 * hosts. Through the companion the ranks exchange NCCL ids, learn of failures and of ranks that
 * end, compare operations if requested, and find the survivors of a failure. Data never uses it.
 *
 * The NCCL communicators are non-blocking: a call returns at once, and this library polls. A wait
 * ends at its deadline, by a fault that another rank recorded, by a rank that has ended, or by an
 * error of NCCL. Then the communicator is aborted, once, because only an abort ends NCCL's
 * kernels. */
#ifndef TPRT_RUNTIME_NCCL_H
#define TPRT_RUNTIME_NCCL_H

#include "backends/nccl/nccl_library.h"
#include "comm/backend.h"
#include "cuda/gpu/gpu_context.h"

#include <pthread.h>

/* Device scratch memory, in which operations pack and unpack tensors. */
typedef struct nccl_scratch {
  struct nccl_scratch *next; /* smaller blocks, which may be in use until the communicator ends */
  cuda_address at;
  size_t bytes;
} nccl_scratch;

typedef struct nccl_registration {
  struct nccl_registration *next;
  const void *memory;
  void *handle;       /* NCCL's registration handle */
  nccl_window window; /* used instead of `handle`; NCCL writes it when all ranks have registered */
  bool is_window;
} nccl_registration;

/* An operation that was enqueued into a stream of a caller and has not ended. */
typedef struct nccl_pending {
  struct nccl_pending *next;
  cuda_event event; /* NULL: a guard, see tprt__nccl_guard */
  _Atomic bool released;
  bool removed; /* a guard that is not in the list any more */
  tprt_op_kind kind;
  uint32_t sequence;
  int64_t deadline;
  tprt__done_fn *done; /* NULL: no callback */
  void *user;
} nccl_pending;

/* The thread that polls the pending operations. It starts with the first of them. */
typedef struct nccl_watch {
  pthread_mutex_t lock; /* guards all fields */
  pthread_cond_t changed;
  pthread_t thread;
  bool runs, stopping;
  int n_pending; /* includes operations whose `done` has not returned yet */
  nccl_pending *first, **last;
} nccl_watch;

/* The end of a communicator; see nccl_ending.c. */
typedef struct nccl_ending nccl_ending;

typedef struct nccl_transport {
  tprt__transport base;
  const nccl_library *library;
  const cuda_device_calls *device;
  int ordinal;
  cuda_uuid uuid;
  cuda_context context; /* NULL: not retained */
  int *world_ranks;
  tprt__comm_settings settings;
  bool check, relaxed;
  cuda_stream stream; /* of operations that name no stream */
  cuda_event reached; /* recorded in `stream` */
  cuda_address word;  /* the operand of a barrier */
  nccl_scratch *scratch;
  tprt__gpu *gpu;                                /* for kernels; NULL: not needed yet */
  bool loaded[TPRT_N_DTYPES][TPRT_N_REDUCTIONS]; /* the kernel of a reduction */
  pthread_mutex_t kernels_lock;                  /* guards `gpu` and `loaded` */
  cuda_event scratch_used; /* recorded after the last operation that used the scratch memory */
  bool scratch_taken;      /* by the operation that is being enqueued */
  nccl_watch watch;
  uint32_t host_sequence;
  pthread_mutex_t lock;
  nccl_comm comm; /* guarded by `lock`, like all calls on it; NULL: its end has begun */
  nccl_ending *ending;
  _Atomic bool captured; /* an operation was captured in a graph */
} nccl_transport;

/* The operation for which a rank waits. */
typedef struct nccl_wait {
  tprt_op_kind kind; /* 0: no operation */
  uint32_t sequence;
  int64_t deadline;
  int rounds;
  int64_t dead_since; /* when a rank was first seen gone; 0: none */
} nccl_wait;

/* ---- nccl_wait.c ---- */
/* Makes the device's context current in this thread; tprt__nccl_leave_device reverts it. */
tprt_status tprt__nccl_enter_device(const nccl_transport *nccl);
void tprt__nccl_leave_device(const nccl_transport *nccl);
/* Records a fault for all ranks unless there is one already, and aborts NCCL's communicator. Fails
 * with the status and text of the first fault. */
tprt_status tprt__nccl_record_fault(nccl_transport *nccl, const tprt__fault *fault);
/* Reports a failure that this rank detected to the peers. Keeps the thread's error text and returns
 * `status`. */
tprt_status tprt__nccl_fail(nccl_transport *nccl, tprt_status status, const nccl_wait *wait);
/* Fails because NCCL's communicator has been aborted. */
tprt_status tprt__nccl_fail_ended(void);
/* Returns a failure if there is a reason not to begin, or to stop waiting. */
tprt_status tprt__nccl_check_fault(nccl_transport *nccl, nccl_wait *wait);
/* Waits until NCCL has completed a call that it left in progress. */
tprt_status tprt__nccl_ready(nccl_transport *nccl, nccl_wait *wait);
/* Returns NCCL's current state: TPRT_OK, TPRT_IN_PROGRESS, or a failure. */
tprt_status tprt__nccl_poll(nccl_transport *nccl, nccl_wait *wait);
/* Waits until the device has reached an event. */
tprt_status tprt__nccl_wait_event(nccl_transport *nccl, cuda_event event, nccl_wait *wait);
/* Begins work in this endpoint's own stream, which comes after all operations that were launched
 * into streams of the caller. Enters the device, unless it fails. */
tprt_status tprt__nccl_begin(nccl_transport *nccl, nccl_wait *wait);
/* Completes work that was enqueued in this endpoint's own stream with status `put`: waits for it if
 * `put` is TPRT_OK. Leaves the device. */
tprt_status tprt__nccl_finish(nccl_transport *nccl, tprt_status put, nccl_wait *wait);

static inline int64_t tprt__nccl_timeout(const nccl_transport *nccl) {
  return nccl->settings.hints[TPRT__HINT_TIMEOUT];
}

/* ---- nccl_ending.c ---- */
/* A rank may have done its part before it ended; that data arrives within this time. */
enum { NCCL_GONE_NS = 1000000000 };
nccl_ending *tprt__nccl_ending_make(void);
/* Called once by the endpoint. What NCCL may still access lives on. NULL is allowed. */
void tprt__nccl_ending_release(nccl_ending *ending);
/* Where NCCL writes the child while it splits the communicator; guarded by the endpoint's lock. */
nccl_comm *tprt__nccl_child(nccl_transport *nccl);
/* The registered memory; guarded by the endpoint's lock. */
nccl_registration **tprt__nccl_registrations(nccl_transport *nccl);
/* Aborts NCCL's communicator, and a split that is in progress, unless its end has begun. Waits for
 * the end, but not for graphs that hold its operations. Any thread. */
void tprt__nccl_abort_comm(nccl_transport *nccl);
/* Ends NCCL's communicator. If there is no fault, what this rank has sent arrives first, within the
 * timeout. */
void tprt__nccl_end_comm(nccl_transport *nccl);

/* ---- nccl_end.c ---- */
/* Creates one rank's endpoint around its companion on the host, and takes ownership of the
 * companion, also on failure. `members` are ranks of the world. `before` is a failure that prevents
 * this rank from participating, with the thread's error text. If this fails with *made not NULL,
 * the other ranks must still be told, with tprt__nccl_init_comm. *made is NULL if memory is
 * exhausted. */
tprt_status tprt__nccl_make_endpoint(tprt__transport *host, int ordinal, const int *members,
                                     const tprt__comm_settings *settings, tprt_status before,
                                     nccl_transport **made);
/* Creates the endpoint's NCCL communicator, with an id from the first member. Waits for the other
 * ranks; if `before` is a failure, they fail too. */
tprt_status tprt__nccl_init_comm(nccl_transport *nccl, tprt_status before, nccl_wait *wait);
/* Destroys the endpoint and notifies the ranks that wait for this one in NCCL. Returns `status`. */
tprt_status tprt__nccl_give_up(nccl_transport *nccl, tprt_status status, const nccl_wait *wait);
/* Returns the endpoint as a transport, or destroys it if `status` means that no rank has the
 * communicator. */
tprt_status tprt__nccl_keep(nccl_transport *nccl, tprt_status status, const nccl_wait *wait,
                            tprt__transport **transport);
/* tprt__nccl_make_endpoint, tprt__nccl_init_comm and tprt__nccl_keep in turn. */
tprt_status tprt__nccl_open_endpoint(tprt__transport *host, int ordinal, const int *members,
                                     const tprt__comm_settings *settings, tprt_status before,
                                     tprt__transport **transport);
void tprt__nccl_close_endpoint(nccl_transport *nccl);
/* All-gathers `bytes` bytes of every rank through the companion on the host. */
tprt_status tprt__nccl_host_all_gather(nccl_transport *nccl, const void *mine, void *all,
                                       size_t bytes, int64_t deadline);

/* ---- nccl_split.c ---- */
tprt_status tprt__nccl_reserve(tprt__transport *parent, int n_users, const int *users,
                               tprt__token *token);
tprt_status tprt__nccl_join(tprt__transport *transport, const tprt__token *token, int n_members,
                            const int *members, int index, const tprt__comm_settings *settings,
                            tprt__transport **child);

/* ---- nccl_types.c ---- */
typedef struct nccl_mapping {
  bool
      is_ours; /* NCCL lacks it, or its results differ: see nccl_reduce.c; then the rest is unset */
  bool divides; /* the result is to be divided by the number of ranks */
  nccl_type type;
  int units; /* elements of NCCL's type per element of ours */
  nccl_reduction reduction;
} nccl_mapping;
/* Determines how the reduction of a plan is performed. */
nccl_mapping tprt__nccl_map_reduction(const nccl_transport *nccl, const tprt__plan *plan);

/* ---- nccl_reduce.c: reductions by kernels of this library ---- */
/* Loads the kernels that a reduction needs, before anything is enqueued: loading may wait for the
 * device. */
tprt_status tprt__nccl_load_kernels(nccl_transport *nccl, const tprt__plan *plan);
/* Enqueues a reduction that is ours. */
tprt_status tprt__nccl_reduce(nccl_transport *nccl, const tprt__plan *plan, cuda_stream stream,
                              nccl_wait *wait);
/* Divides a sum by the number of ranks. */
tprt_status tprt__nccl_divide(nccl_transport *nccl, const tprt__plan *plan, void *sum,
                              int64_t bytes, cuda_stream stream);

/* ---- nccl_group.c: groups of NCCL calls; none stays open ---- */
typedef struct nccl_group {
  nccl_transport *nccl;
  cuda_stream stream;
  tprt_status status; /* of the first call that failed */
} nccl_group;
/* Opens a group and takes the lock. If it fails, there is no group to end. */
tprt_status tprt__nccl_group_begin(nccl_group *group, nccl_transport *nccl, cuda_stream stream);
void tprt__nccl_group_send(nccl_group *group, const void *data, int64_t bytes, int peer);
void tprt__nccl_group_receive(nccl_group *group, void *data, int64_t bytes, int peer);
void tprt__nccl_group_add(nccl_group *group, nccl_result result, const char *what);
/* Closes the group in any case, and waits until NCCL has enqueued it in the stream. */
tprt_status tprt__nccl_group_end(nccl_group *group, nccl_wait *wait);

/* ---- nccl_memory.c ---- */
/* Provides scratch memory for an operation in this stream, after earlier uses in other streams. */
tprt_status tprt__nccl_scratch(nccl_transport *nccl, int64_t bytes, cuda_stream stream,
                               char **memory);
/* Called after the operation that used the scratch memory is enqueued; the next user waits for
 * it. */
tprt_status tprt__nccl_scratch_end(nccl_transport *nccl, cuda_stream stream);
void tprt__nccl_scratch_free(nccl_transport *nccl);
/* Checks that an operation can run: its memory belongs to the device, and NCCL has its
 * reduction. */
tprt_status tprt__nccl_accept(const tprt__transport *transport, const tprt__plan *plan, bool told);
/* Checks that memory belongs to this rank's device. `kind` and `side` identify it in the error
 * text. */
tprt_status tprt__nccl_check_memory(const nccl_transport *nccl, const char *kind, const char *side,
                                    const void *memory);
tprt_status tprt__nccl_alloc(tprt__transport *transport, size_t bytes, void **memory);
void tprt__nccl_free(tprt__transport *transport, void *memory);
tprt_status tprt__nccl_copy(nccl_transport *nccl, void *to, const void *from, int64_t bytes,
                            cuda_stream stream);
tprt_status tprt__nccl_copy_rows(nccl_transport *nccl, void *to, int64_t to_pitch, const void *from,
                                 int64_t from_pitch, int64_t width, int64_t rows,
                                 cuda_stream stream);

/* True if memory can be a window: it comes from NCCL, and is aligned as windows require. */
bool tprt__nccl_can_window(const void *memory, uint64_t bytes);

/* ---- nccl_register.c ---- */
/* Registers memory of the caller, which NCCL may then move without staging copies. */
tprt_status tprt__nccl_register_memory(tprt__transport *transport, void *memory, uint64_t bytes,
                                       uint64_t *place);
tprt_status tprt__nccl_register_memory_all(tprt__transport *transport, void *memory, uint64_t bytes,
                                           int64_t deadline);
tprt_status tprt__nccl_deregister_memory(tprt__transport *transport, void *memory);
void tprt__nccl_deregister_all(nccl_transport *nccl);

/* ---- nccl_collective.c ---- */
tprt_status tprt__nccl_submit(tprt__transport *transport, const tprt__plan *plan, uint32_t sequence,
                              int64_t deadline);
/* True if an operation packs tensors and therefore needs scratch memory. */
bool tprt__nccl_stages(const tprt__plan *plan);
/* Packs all pieces of a tensor one after the other into `packed`. */
tprt_status tprt__nccl_pack(nccl_transport *nccl, const tprt__plan *plan, char *packed,
                            cuda_stream stream);
/* True if pieces are contiguous in their tensor. */
bool tprt__nccl_in_runs(tprt__map map, int64_t piece);
/* Enqueues an operation, or transfers, into a stream. */
tprt_status tprt__nccl_enqueue(nccl_transport *nccl, const tprt__plan *plan, cuda_stream stream,
                               nccl_wait *wait);
tprt_status tprt__nccl_enqueue_transfers(nccl_transport *nccl, const tprt__plan *plans, size_t n,
                                         cuda_stream stream, nccl_wait *wait);
/* How many of the first collectives, which are independent, fit in one group; see
 * tprt__backend.joins. */
size_t tprt__nccl_joins(const tprt__transport *transport, const tprt__plan *plans, size_t n);
/* Enqueues collectives that tprt__nccl_joins put together. */
tprt_status tprt__nccl_enqueue_joined(nccl_transport *nccl, const tprt__plan *plans, size_t n,
                                      cuda_stream stream, nccl_wait *wait);
/* Any of these three. */
tprt_status tprt__nccl_enqueue_some(nccl_transport *nccl, const tprt__plan *plans, size_t n,
                                    cuda_stream stream, nccl_wait *wait);

/* ---- nccl_watch.c: streams of callers ---- */
/* Determines whether a stream is capturing a graph; captured work runs at every replay. */
tprt_status tprt__nccl_find_capture(const nccl_transport *nccl, cuda_stream stream, bool *captured);
tprt_status tprt__nccl_launch(tprt__transport *transport, const tprt__plan *plans, size_t n,
                              uint32_t sequence, int64_t deadline, tprt__done_fn *done, void *user);
tprt_status tprt__nccl_record(tprt__transport *transport, void *stream, int64_t deadline,
                              tprt__done_fn *done, void *user, tprt__stream_mark **mark);
tprt_status tprt__nccl_hold(tprt__transport *transport, void *stream,
                            const tprt__stream_mark *mark);
void tprt__nccl_settle(tprt__transport *transport);
/* Makes later work in this endpoint's own stream wait for the operations that were launched into
 * streams of the caller. */
tprt_status tprt__nccl_follow_launched(nccl_transport *nccl);
/* Begins a call that waits for the device without a limit. If a graph holds operations, which
 * nobody watches, and another rank fails, ends or is late, the watching thread aborts the
 * communicator, so that the call returns. NULL: nothing is to be watched. */
nccl_pending *tprt__nccl_guard(nccl_transport *nccl);
/* The call has returned. */
void tprt__nccl_unguard(nccl_transport *nccl, nccl_pending *guard);
void tprt__nccl_watch_start(nccl_watch *watch);
/* Called after all pending operations have ended. */
void tprt__nccl_watch_stop(nccl_watch *watch);

/* ---- nccl_transfer.c ---- */
tprt_status tprt__nccl_exchange(tprt__transport *transport, const tprt__plan *plans, size_t n,
                                uint32_t sequence, int64_t deadline);

#endif
