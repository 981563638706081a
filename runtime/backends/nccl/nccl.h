/* Backend "nccl": ranks with a GPU each; NCCL moves the data, which lies in memory of the devices.
 *
 * NCCL knows neither deadlines nor which rank is late, and ranks that disagree about an operation
 * hang or read what is not theirs. So every communicator has a second one beside it, on host memory
 * (`base.host`: loopback for threads, shm for processes of one host, tcp for those of several):
 * through it the ranks hand each other NCCL's ids, learn of failures and of ranks that end, compare
 * operations where that is asked for, and find those that go on after a failure. Data never takes
 * that way.
 *
 * Communicators do not block: a call returns at once, and this library polls. A wait ends by its
 * deadline, by a fault that another rank recorded, by a rank that has gone, or by NCCL's own error;
 * then the communicator is aborted, once, which is the only thing that makes NCCL's kernels end. */
#ifndef TPRT_RUNTIME_NCCL_H
#define TPRT_RUNTIME_NCCL_H

#include "backends/nccl/nccl_library.h"
#include "comm/backend.h"

#include <pthread.h>

/* Memory of the device that operations take apart and put together in. */
typedef struct nccl_scratch {
  struct nccl_scratch *next; /* smaller ones, which may be in use until the communicator ends */
  cuda_address at;
  size_t bytes;
} nccl_scratch;

typedef struct nccl_registration {
  struct nccl_registration *next;
  const void *memory;
  void *handle;       /* of NCCL */
  nccl_window window; /* instead; NCCL writes it when all have registered theirs */
  bool is_window;
} nccl_registration;

/* What was put into a stream of a caller's, until it has ended. */
typedef struct nccl_pending {
  struct nccl_pending *next;
  cuda_event event;
  tprt_op_kind kind;
  uint32_t sequence;
  int64_t deadline;
  tprt__done_fn *done; /* NULL: nobody is told */
  void *user;
} nccl_pending;

/* The thread that looks after them; it starts with the first. */
typedef struct nccl_watch {
  pthread_mutex_t lock; /* of all here */
  pthread_cond_t changed;
  pthread_t thread;
  bool runs, stopping;
  int n_pending; /* those that `done` was not called for yet included */
  nccl_pending *first, **last;
} nccl_watch;

typedef struct nccl_transport {
  tprt__transport base;
  const nccl_library *library;
  const cuda_device_calls *device;
  int ordinal;
  cuda_uuid uuid;
  cuda_context context; /* NULL: not retained */
  int *world_ranks;
  int64_t timeout_ns;
  bool check, relaxed;
  cuda_stream stream; /* of operations that name none */
  cuda_event reached; /* in that stream */
  cuda_address word;  /* what a barrier adds up */
  nccl_scratch *scratch;
  cuda_event scratch_used;          /* behind the last operation that needed it */
  bool scratch_taken;               /* by the one that is being put into a stream */
  nccl_registration *registrations; /* with the lock */
  nccl_watch watch;
  uint32_t host_sequence;
  pthread_mutex_t lock;
  nccl_comm comm;  /* with the lock, as every call on it; NULL: aborted */
  nccl_comm child; /* with the lock: NCCL puts it here while it splits `comm` */
} nccl_transport;

/* What a wait belongs to. */
typedef struct nccl_wait {
  tprt_op_kind kind; /* 0: none */
  uint32_t sequence;
  int64_t deadline;
  int rounds;
  int64_t gone_since; /* when a rank was first seen gone; 0: none */
} nccl_wait;

/* ---- nccl_wait.c ---- */
/* The device's context becomes this thread's; tprt__nccl_leave_device undoes it. */
tprt_status tprt__nccl_enter_device(const nccl_transport *nccl);
void tprt__nccl_leave_device(const nccl_transport *nccl);
/* Aborts NCCL's communicator if nobody did, and what it is being split into. */
void tprt__nccl_drop(nccl_transport *nccl);
/* Records a fault for all ranks, unless there is one, drops the communicator, and gives the status
 * and text of the first. */
tprt_status tprt__nccl_blame(nccl_transport *nccl, const tprt__fault *fault);
/* A failure that this rank found, with the thread's error text, which stays: the peers learn of it.
 * Returns the status. */
tprt_status tprt__nccl_fail(nccl_transport *nccl, tprt_status status, const nccl_wait *wait);
/* Why not to begin, or to wait any longer. */
tprt_status tprt__nccl_look(nccl_transport *nccl, nccl_wait *wait);
/* Waits until NCCL has done what a call left in progress. */
tprt_status tprt__nccl_ready(nccl_transport *nccl, nccl_wait *wait);
/* NCCL's state now: OK, IN_PROGRESS, or a failure. */
tprt_status tprt__nccl_ask(nccl_transport *nccl, nccl_wait *wait);
/* Waits until the device has got to an event. */
tprt_status tprt__nccl_reach(nccl_transport *nccl, cuda_event event, nccl_wait *wait);
/* Ends what was put into this end's own stream with status `put`: waits for it if that went well,
 * and leaves the device. */
tprt_status tprt__nccl_finish(nccl_transport *nccl, tprt_status put, nccl_wait *wait);

/* ---- nccl_end.c ---- */
/* One rank's end around that of the host, which it takes over in any case. `members` are ranks of
 * the world; `before`: why this rank cannot take part, with the thread's error text. Where this
 * fails with an end, the others are to learn why; it is NULL without memory. */
tprt_status tprt__nccl_make_end(tprt__transport *host, int ordinal, const int *members,
                                int64_t timeout_ns, tprt_status before, nccl_transport **made);
/* Its communicator of NCCL, by an id of the first member's; waits for the others, which learn what
 * making the end came to. */
tprt_status tprt__nccl_meet(nccl_transport *nccl, tprt_status before, nccl_wait *wait);
/* Ends it; those that wait for this rank in NCCL learn of it. Returns the status. */
tprt_status tprt__nccl_give_up(nccl_transport *nccl, tprt_status status, const nccl_wait *wait);
/* The end as a transport, or, where this status says that it has no communicator, none. */
tprt_status tprt__nccl_keep(nccl_transport *nccl, tprt_status status, const nccl_wait *wait,
                            tprt__transport **transport);
/* The three in turn. */
tprt_status tprt__nccl_open_end(tprt__transport *host, int ordinal, const int *members,
                                int64_t timeout_ns, tprt_status before,
                                tprt__transport **transport);
void tprt__nccl_close_end(nccl_transport *nccl);
/* All ranks tell all, through the host's communicator. */
tprt_status tprt__nccl_tell(nccl_transport *nccl, const void *mine, void *all, size_t bytes,
                            int64_t deadline);

/* ---- nccl_split.c ---- */
tprt_status tprt__nccl_reserve(tprt__transport *parent, int n_users, const int *users,
                               tprt__token *token);
tprt_status tprt__nccl_join(tprt__transport *transport, const tprt__token *token, int n_members,
                            const int *members, int index, tprt__transport **child);

/* ---- nccl_types.c ---- */
typedef struct nccl_way {
  nccl_type type;
  int units; /* elements of NCCL's type that make one of ours */
  nccl_reduction reduction;
} nccl_way;
/* How NCCL does the reduction of a plan; TPRT_UNSUPPORTED with the reason if it cannot. */
tprt_status tprt__nccl_way(const nccl_transport *nccl, const tprt__plan *plan, nccl_way *way);

/* ---- nccl_group.c: calls of NCCL that belong together; none is left open ---- */
typedef struct nccl_group {
  nccl_transport *nccl;
  cuda_stream stream;
  tprt_status status; /* of the first call that failed */
} nccl_group;
/* Takes the lock; nothing to end if it fails. */
tprt_status tprt__nccl_group_begin(nccl_group *group, nccl_transport *nccl, cuda_stream stream);
void tprt__nccl_group_send(nccl_group *group, const void *data, int64_t bytes, int peer);
void tprt__nccl_group_receive(nccl_group *group, void *data, int64_t bytes, int peer);
void tprt__nccl_group_add(nccl_group *group, nccl_result result, const char *what);
/* Closes it in any case, and waits until NCCL has it in the stream. */
tprt_status tprt__nccl_group_end(nccl_group *group, nccl_wait *wait);

/* ---- nccl_memory.c ---- */
/* For an operation in this stream, behind those in others that have it. */
tprt_status tprt__nccl_scratch(nccl_transport *nccl, int64_t bytes, cuda_stream stream,
                               char **memory);
/* After what needed it: the next waits for that. */
tprt_status tprt__nccl_scratch_end(nccl_transport *nccl, cuda_stream stream);
void tprt__nccl_scratch_free(nccl_transport *nccl);
/* Whether an operation can be run: its memory is that of the device, its reduction one of
 * NCCL's. */
tprt_status tprt__nccl_accept(const tprt__transport *transport, const tprt__plan *plan, bool told);
/* That memory is of this rank's device; `side` of an operation of this kind. */
tprt_status tprt__nccl_check_memory(const nccl_transport *nccl, const char *kind, const char *side,
                                    const void *memory);
tprt_status tprt__nccl_alloc(tprt__transport *transport, size_t bytes, void **memory);
void tprt__nccl_free(tprt__transport *transport, void *memory);
tprt_status tprt__nccl_copy(nccl_transport *nccl, void *to, const void *from, int64_t bytes,
                            cuda_stream stream);
tprt_status tprt__nccl_copy_rows(nccl_transport *nccl, void *to, int64_t to_pitch, const void *from,
                                 int64_t from_pitch, int64_t width, int64_t rows,
                                 cuda_stream stream);

/* Whether memory can be a window: it came from NCCL, and begins where windows may. */
bool tprt__nccl_can_window(const void *memory, uint64_t bytes);

/* ---- nccl_register.c ---- */
/* Memory of the caller's, which NCCL may then move without staging copies. */
tprt_status tprt__nccl_expose(tprt__transport *transport, void *memory, uint64_t bytes,
                              uint64_t *place);
tprt_status tprt__nccl_expose_all(tprt__transport *transport, void *memory, uint64_t bytes,
                                  int64_t deadline);
tprt_status tprt__nccl_withdraw(tprt__transport *transport, void *memory);

/* ---- nccl_collective.c ---- */
tprt_status tprt__nccl_submit(tprt__transport *transport, const tprt__plan *plan, uint32_t sequence,
                              int64_t deadline);
/* Whether an operation takes tensors apart, for which it needs scratch memory. */
bool tprt__nccl_stages(const tprt__plan *plan);
/* Puts an operation, or transfers, into a stream. */
tprt_status tprt__nccl_put(nccl_transport *nccl, const tprt__plan *plan, cuda_stream stream,
                           nccl_wait *wait);
tprt_status tprt__nccl_put_transfers(nccl_transport *nccl, const tprt__plan *plans, size_t n,
                                     cuda_stream stream, nccl_wait *wait);

/* ---- nccl_watch.c: streams of callers ---- */
/* Whether a stream captures a graph: what is put there runs whenever that is replayed. */
tprt_status tprt__nccl_find_capture(const nccl_transport *nccl, cuda_stream stream, bool *captured);
tprt_status tprt__nccl_launch(tprt__transport *transport, const tprt__plan *plans, size_t n,
                              uint32_t sequence, int64_t deadline, tprt__done_fn *done, void *user);
tprt_status tprt__nccl_record(tprt__transport *transport, void *stream, int64_t deadline,
                              tprt__done_fn *done, void *user, tprt__stream_mark **mark);
tprt_status tprt__nccl_hold(tprt__transport *transport, void *stream,
                            const tprt__stream_mark *mark);
void tprt__nccl_settle(tprt__transport *transport);
void tprt__nccl_watch_start(nccl_watch *watch);
/* After all has ended. */
void tprt__nccl_watch_stop(nccl_watch *watch);

/* ---- nccl_transfer.c ---- */
tprt_status tprt__nccl_exchange(tprt__transport *transport, const tprt__plan *plans, size_t n,
                                uint32_t sequence, int64_t deadline);

#endif
