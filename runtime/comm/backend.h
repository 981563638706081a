/* The interface of a backend. A backend is one constant tprt__backend without empty slots:
 * functions for missing features return TPRT_UNSUPPORTED. The front end (comm.c) validates, orders
 * and times operations; a backend only moves data. */
#ifndef TPRT_RUNTIME_BACKEND_H
#define TPRT_RUNTIME_BACKEND_H

#include "base/env.h"
#include "base/hints.h"
#include "comm/op.h"
#include "tprt/observe.h"

#include <stdatomic.h>

enum { TPRT__BACKEND_ABI = 1, TPRT__N_CAPABILITIES = 15 };

/* Designators and entries for tprt__backend.lacks. */
#define TPRT__LACK(capability) [__builtin_ctz(capability)]
#define TPRT__LACKS_GPU_PROGRAMS                                                                   \
  TPRT__LACK(TPRT_CAP_GPU_PROGRAMS) = "it can access host memory only"
#define TPRT__LACKS_STREAMS                                                                        \
  TPRT__LACK(TPRT_CAP_STREAMS) = "operations use host memory, and run when they are called"

/* Cost of an operation in the model of a backend; see tprt_estimate. */
typedef struct tprt__cost {
  const char *algorithm;
  int64_t n_steps, bytes;
} tprt__cost;

enum { TPRT__NO_RANK = 0xffff }; /* unknown rank; worlds have at most 0xffff ranks */

/* The reason why a communicator failed; small enough for one atomic word. Ranks are ranks of the
 * world. */
typedef struct tprt__fault {
  tprt_status status; /* TPRT_OK: no fault */
  tprt_op_kind kind;  /* of the operation; 0: no operation */
  int rank;           /* the rank at fault: dead, late, aborting or failing */
  uint32_t sequence;
} tprt__fault;

/* Data that the members of a new group need to join it; copied between ranks as bytes. */
typedef struct tprt__token {
  unsigned char bytes[128];
} tprt__token;

/* One rank's endpoint of a communicator. Backends embed it as their first member. */
typedef struct tprt__transport {
  const struct tprt__backend *backend;
  int rank, n_ranks; /* in this communicator */
  int host_ranks;    /* number of ranks of the world on this host */
  int device;        /* CUDA device of its operations, counted from 1; 0: none */
  /* Endpoint for the library's own operations, which use host memory; NULL: this one. If it is not
   * NULL, operations of users use device memory, which only the backend may access. */
  struct tprt__transport *host;
} tprt__transport;

/* Completion callback, called from a thread of the backend. That thread must hold no lock of the
 * front end. */
typedef void tprt__done_fn(void *user, tprt_status status);

/* A mark in a stream, embedded by backends with streams. It may outlive its communicator. */
typedef struct tprt__stream_mark {
  void (*forget)(struct tprt__stream_mark *mark);
} tprt__stream_mark;

typedef struct tprt__backend {
  size_t size;
  uint32_t abi;
  uint32_t capabilities; /* tprt_capability */
  /* hints that it obeys, of those that not all backends obey: bits of tprt__hint; and those that a
   * child may have differently from its parent */
  uint32_t hints, child_hints;
  bool needs_store; /* launched ranks rendezvous through settings->store */
  const char *name;
  const char *summary;
  const char *lacks[TPRT__N_CAPABILITIES]; /* by bit: why a capability is missing */
  /* Whether the backend can work on this machine. */
  tprt_status (*probe)(void);
  /* Creates one rank of a world. Waits for the other ranks. */
  tprt_status (*create)(int n_ranks, int rank, const tprt__settings *settings,
                        tprt__transport **transport);
  /* Creates all ranks of a world inside this process; only with TPRT_CAP_THREADS. */
  tprt_status (*create_threads)(int n_ranks, const tprt__settings *settings,
                                tprt__transport **transports);
  /* Reserves a new group. One rank calls it and sends the token to the others. Each of the n_users
   * ranks of the parent in `users` (NULL: all ranks) then calls join once with the token. A rank
   * that destroys the parent without having joined gives up its use of the token. */
  tprt_status (*reserve)(tprt__transport *parent, int n_users, const int *users,
                         tprt__token *token);
  /* Creates this rank's endpoint of a new group. The members (ranks of the parent) may call it at
   * different times. This rank is member `index`; with index -1 the call only gives up its use of
   * the token and *child is NULL. */
  tprt_status (*join)(tprt__transport *parent, const tprt__token *token, int n_members,
                      const int *members, int index, const tprt__comm_settings *settings,
                      tprt__transport **child);
  /* Starts the operation that the next submit runs, with the same plan and sequence: does the part
   * that needs no peer and tells the peers that this rank has arrived. Never waits. May do
   * nothing. */
  void (*begin)(tprt__transport *transport, const tprt__plan *plan, uint32_t sequence);
  /* After a failure, waits until no peer accesses the buffers of an operation that this rank began
   * or submitted. The fault is known to the peers, so they begin no access any more. */
  void (*quiesce)(tprt__transport *transport);
  /* Checks that a validated operation can run here. `told`: the caller gets a handle that reports
   * its end. A failure does not affect the communicator. */
  tprt_status (*accept)(const tprt__transport *transport, const tprt__plan *plan, bool told);
  /* Runs an operation to its end. `deadline` is a time of tprt__now. */
  tprt_status (*submit)(tprt__transport *transport, const tprt__plan *plan, uint32_t sequence,
                        int64_t deadline);
  /* Runs n sends and recvs concurrently, or n collectives that `joins` put together. The backend
   * handles transfers of this rank with itself only if it has a `host`. */
  tprt_status (*exchange)(tprt__transport *transport, const tprt__plan *plans, size_t n,
                          uint32_t sequence, int64_t deadline);
  /* Tells how many collectives, beginning with the first, run as one exchange or launch, because
   * they have the hint independent; at least 1, and the same on all ranks. NULL: only one. Asked of
   * backends with a `host`; on host memory such collectives are packed, see comm/coalesce.h. */
  size_t (*joins)(const tprt__transport *transport, const tprt__plan *plans, size_t n);
  /* Enqueues one operation, n collectives that `joins` put together, or n sends and recvs, in the
   * stream of the plans, and returns when it is enqueued. Unless `done` is NULL or this call fails,
   * `done` is called once when the operation has ended, with the thread's error text; for an
   * operation that is captured in a graph, before this call returns. */
  tprt_status (*launch)(tprt__transport *transport, const tprt__plan *plans, size_t n,
                        uint32_t sequence, int64_t deadline, tprt__done_fn *done, void *user);
  /* Waits until all launched operations have ended; each has its own deadline. */
  void (*settle)(tprt__transport *transport);
  /* Records the current position of a stream, so that other streams can wait for it. Calls `done`,
   * if it is not NULL, when the stream reaches it, unless this call fails. */
  tprt_status (*record)(tprt__transport *transport, void *stream, int64_t deadline,
                        tprt__done_fn *done, void *user, tprt__stream_mark **mark);
  /* Makes later work of the stream wait for a mark. */
  tprt_status (*hold)(tprt__transport *transport, void *stream, const tprt__stream_mark *mark);
  /* Fails the operations of all ranks. Callable from any thread. The communicator keeps its first
   * fault. */
  void (*abort)(tprt__transport *transport, const tprt__fault *fault);
  tprt__fault (*fault)(const tprt__transport *transport);
  /* True if a rank is known to have ended or left. */
  bool (*peer_dead)(const tprt__transport *transport, int rank);
  tprt_status (*alloc)(tprt__transport *transport, size_t bytes, void **memory);
  void (*free)(tprt__transport *transport, void *memory);
  /* Offset of memory from alloc, such that equal allocations of two ranks have equal offsets. */
  uint64_t (*offset)(const tprt__transport *transport, const void *memory);
  /* Registers memory of this rank, so that peers can access it, until it is deregistered as often.
   * *place identifies the memory for peers. */
  tprt_status (*register_memory)(tprt__transport *transport, void *memory, uint64_t bytes,
                                 uint64_t *place);
  tprt_status (*deregister_memory)(tprt__transport *transport, void *memory);
  /* Like expose, by all ranks together, in the order of their operations, with equal sizes. A
   * failure for which others would wait fails the communicator. */
  tprt_status (*register_memory_all)(tprt__transport *transport, void *memory, uint64_t bytes,
                                     int64_t deadline);
  /* Address in this process of registered memory of another rank. */
  tprt_status (*reach)(const tprt__transport *transport, int rank, uint64_t place, uint64_t bytes,
                       void **memory);
  /* Copies to and from registered memory of another rank, from any thread. The data of a put has
   * arrived when the call returns. */
  tprt_status (*put)(tprt__transport *transport, int rank, uint64_t place, const void *from,
                     uint64_t bytes, int64_t deadline);
  tprt_status (*get)(tprt__transport *transport, int rank, uint64_t place, void *to, uint64_t bytes,
                     int64_t deadline);
  /* Adds 1 to a counter in registered memory of a rank, which may be this one. */
  tprt_status (*signal)(tprt__transport *transport, int rank, uint64_t place);
  /* Waits until signals of `rank` have raised a counter of this rank to `value`. */
  tprt_status (*await)(tprt__transport *transport, const _Atomic uint64_t *counter, uint64_t value,
                       int rank, int64_t deadline);
  /* Recovers from a failure: determines which ranks continue, namely those that call this by the
   * deadline, and returns a token for them to join. A rank that calls later, or twice, gets
   * TPRT_INVALID_STATE. `members` has capacity for all ranks. */
  tprt_status (*recover)(tprt__transport *transport, int64_t deadline, tprt__token *token,
                         int *members, int *n_members);
  /* Built-in constants of the cost model, and the cost of an operation. */
  void (*constants)(const tprt__transport *transport, int64_t *alpha_ps, int64_t *beta_ps_per_kb);
  void (*cost)(const tprt__transport *transport, const tprt__plan *plan, tprt__cost *cost);
  /* Tells the peers that this rank takes part in nothing any more. */
  void (*leave)(tprt__transport *transport);
  void (*destroy)(tprt__transport *transport);
} tprt__backend;

extern const tprt__backend tprt__backend_fabric;
extern const tprt__backend tprt__backend_loopback;
extern const tprt__backend tprt__backend_mpi;
extern const tprt__backend tprt__backend_nccl;
extern const tprt__backend tprt__backend_self;
extern const tprt__backend tprt__backend_shm;
extern const tprt__backend tprt__backend_tcp;

/* Slots for backends on host memory, which have no streams. */
tprt_status tprt__accept_host(const tprt__transport *transport, const tprt__plan *plan, bool told);
tprt_status tprt__no_launch(tprt__transport *transport, const tprt__plan *plans, size_t n,
                            uint32_t sequence, int64_t deadline, tprt__done_fn *done, void *user);
void tprt__settle_noop(tprt__transport *transport);
tprt_status tprt__no_record(tprt__transport *transport, void *stream, int64_t deadline,
                            tprt__done_fn *done, void *user, tprt__stream_mark **mark);
tprt_status tprt__no_hold(tprt__transport *transport, void *stream, const tprt__stream_mark *mark);
#define TPRT__NO_STREAMS                                                                           \
  .accept = tprt__accept_host, .launch = tprt__no_launch, .settle = tprt__settle_noop,             \
  .record = tprt__no_record, .hold = tprt__no_hold

/* alloc, free and offset for backends whose memory is ordinary memory of the process. The offset is
 * always 0: nothing is addressed by offset. */
tprt_status tprt__heap_alloc(tprt__transport *transport, size_t bytes, void **memory);
void tprt__heap_free(tprt__transport *transport, void *memory);
uint64_t tprt__no_offset(const tprt__transport *transport, const void *memory);

/* Finds a backend by its name, ignoring case, or a plug-in by its absolute path. The error for an
 * unknown name lists the known names. Returns TPRT_UNSUPPORTED if threads are wanted and the
 * backend lacks them; else the result of its probe. */
tprt_status tprt__backend_find(const char *name, uint32_t capabilities,
                               const tprt__backend **backend);

/* Checks that a backend obeys the hints and the stream that a configuration gives for a world, or
 * for a child. */
tprt_status tprt__backend_obeys(const tprt__backend *backend, const tprt__comm_settings *settings,
                                bool is_child);

/* other_libraries.c: refuses names of libraries that some backend stands for, with that backend.
 * TPRT_OK for other names. */
tprt_status tprt__refuse_library(const char *name);

/* plugin.c: returns the backend of a plug-in, which is loaded once. */
tprt_status tprt__plugin_find(const char *path, const tprt__backend **backend);

/* `begin` for backends that do all work in submit. */
void tprt__begin_noop(tprt__transport *transport, const tprt__plan *plan, uint32_t sequence);
/* `quiesce` for backends that access buffers of peers only while these take part. */
void tprt__quiesce_noop(tprt__transport *transport);

/* window.c: expose_all for backends that need no collective registration. */
tprt_status tprt__register_memory_each(tprt__transport *transport, void *memory, uint64_t bytes,
                                       int64_t deadline);
/* window.c: put and get for backends whose ranks can address each other's memory. */
tprt_status tprt__mapped_put(tprt__transport *transport, int rank, uint64_t place, const void *from,
                             uint64_t bytes, int64_t deadline);
tprt_status tprt__mapped_get(tprt__transport *transport, int rank, uint64_t place, void *to,
                             uint64_t bytes, int64_t deadline);

/* Returns the status, and sets the error text, with which an operation fails because of a fault. */
tprt_status tprt__fault_fail(const tprt__fault *fault);

#endif
