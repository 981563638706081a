/* What a backend is. A backend is one constant tprt__backend without empty slots: what it cannot do
 * is a function that returns TPRT_UNSUPPORTED. The front (comm.c) validates, orders and times
 * operations; a backend only moves data. */
#ifndef TPRT_RUNTIME_BACKEND_H
#define TPRT_RUNTIME_BACKEND_H

#include "base/env.h"
#include "comm/op.h"
#include "tprt/observe.h"

#include <stdatomic.h>

enum { TPRT__BACKEND_ABI = 1, TPRT__N_CAPABILITIES = 14 };

/* Of a row of tprt__backend.lacks. */
#define TPRT__LACK(capability) [__builtin_ctz(capability)]
#define TPRT__LACKS_GPU_PROGRAMS                                                                   \
  TPRT__LACK(TPRT_CAP_GPU_PROGRAMS) = "it reaches memory of the host alone"
#define TPRT__LACKS_STREAMS                                                                        \
  TPRT__LACK(TPRT_CAP_STREAMS) =                                                                   \
      "operations are on memory of the host, and run when they are called"

/* What an operation takes in the model of a backend: see tprt_estimate. */
typedef struct tprt__cost {
  const char *algorithm;
  int64_t n_steps, bytes;
} tprt__cost;

enum { TPRT__NO_RANK = 0xffff }; /* the culprit is not known; worlds have at most 0xffff ranks */

/* Why a communicator failed, small enough for one atomic word. Ranks are those of the world. */
typedef struct tprt__fault {
  tprt_status status; /* TPRT_OK: none */
  tprt_op_kind kind;  /* of the operation; 0: none */
  int rank;           /* the culprit: the dead, awaited, aborting or failing rank */
  uint32_t sequence;
} tprt__fault;

/* What members of a new group are told; copied between ranks as it is. */
typedef struct tprt__token {
  unsigned char bytes[128];
} tprt__token;

/* One rank's end of a communicator. Backends embed it as their first member. */
typedef struct tprt__transport {
  const struct tprt__backend *backend;
  int rank, n_ranks; /* in this communicator */
  int host_ranks;    /* ranks of the world on this host */
  int device;        /* of CUDA, of its operations, counted from 1; 0: none of its own */
  /* Where this library's own operations go, whose memory is that of the host; NULL: here. Not NULL:
   * operations of users have memory of a device, which only the backend touches. */
  struct tprt__transport *host;
} tprt__transport;

/* From a thread of the backend's, which may hold no lock of the front's. */
typedef void tprt__done_fn(void *user, tprt_status status);

/* Of a backend with streams, which embeds it. It may outlive its communicator. */
typedef struct tprt__stream_mark {
  void (*forget)(struct tprt__stream_mark *mark);
} tprt__stream_mark;

typedef struct tprt__backend {
  size_t size;
  uint32_t abi;
  uint32_t capabilities; /* tprt_capability */
  bool needs_store;      /* ranks that a launcher started find each other through settings->store */
  const char *name;
  const char *summary;
  const char *lacks[TPRT__N_CAPABILITIES]; /* by bit: why a capability is missing */
  /* Whether it can work on this machine. */
  tprt_status (*probe)(void);
  /* One rank of a world; waits for the others. */
  tprt_status (*create)(int n_ranks, int rank, const tprt__settings *settings,
                        tprt__transport **transport);
  /* All ranks of a world inside this process; with TPRT_CAP_THREADS only. */
  tprt_status (*create_threads)(int n_ranks, const tprt__settings *settings,
                                tprt__transport **transports);
  /* For a new group: something that its members need to find each other, from one rank, for a call
   * of join by each of these ranks of the parent; NULL: by all. A rank that can no more join it
   * when it destroys the parent gives its use back then. */
  tprt_status (*reserve)(tprt__transport *parent, int n_users, const int *users,
                         tprt__token *token);
  /* A rank's end of a new group, whose members (ranks of the parent) may come at different times.
   * This rank is member `index`; index -1 only gives its use of the token back, with NULL as
   * child. */
  tprt_status (*join)(tprt__transport *parent, const tprt__token *token, int n_members,
                      const int *members, int index, tprt__transport **child);
  /* Does what needs no peer of the operation that submit runs next, with this plan and sequence,
   * and tells the peers that this rank is there. Never waits. May do nothing. */
  void (*begin)(tprt__transport *transport, const tprt__plan *plan, uint32_t sequence);
  /* Whether a validated operation can be run here; `told`: its end can be waited for. What it says
   * does no harm to the communicator. */
  tprt_status (*accept)(const tprt__transport *transport, const tprt__plan *plan, bool told);
  /* Runs an operation to its end. `deadline` is a time of tprt__now. */
  tprt_status (*submit)(tprt__transport *transport, const tprt__plan *plan, uint32_t sequence,
                        int64_t deadline);
  /* Runs n sends and recvs all at once; those with this rank itself are for the backend only where
   * it has a `host`. */
  tprt_status (*exchange)(tprt__transport *transport, const tprt__plan *plans, size_t n,
                          uint32_t sequence, int64_t deadline);
  /* Puts an operation, or n sends and recvs, into the stream that the plans name, which ends it;
   * returns when it is there. `done`, unless NULL, is called once when it has ended, with the
   * thread's error text, if this succeeds. */
  tprt_status (*launch)(tprt__transport *transport, const tprt__plan *plans, size_t n,
                        uint32_t sequence, int64_t deadline, tprt__done_fn *done, void *user);
  /* Waits until all that was launched has ended; each has its deadline. */
  void (*settle)(tprt__transport *transport);
  /* Marks the place that a stream has come to, for other streams, and tells `done` when that is
   * reached. */
  tprt_status (*record)(tprt__transport *transport, void *stream, int64_t deadline,
                        tprt__done_fn *done, void *user, tprt__stream_mark **mark);
  /* What comes into the stream from now on waits for a mark. */
  tprt_status (*hold)(tprt__transport *transport, void *stream, const tprt__stream_mark *mark);
  /* From any thread. The first fault of a communicator stays. */
  void (*abort)(tprt__transport *transport, const tprt__fault *fault);
  tprt__fault (*fault)(const tprt__transport *transport);
  /* Whether a rank is known to have ended, or to take part in nothing any more. */
  bool (*gone)(const tprt__transport *transport, int rank);
  tprt_status (*alloc)(tprt__transport *transport, size_t bytes, void **memory);
  void (*free)(tprt__transport *transport, void *memory);
  /* Where memory from alloc lies, counted so that equal allocations of two ranks have equal
   * offsets. */
  uint64_t (*offset)(const tprt__transport *transport, const void *memory);
  /* Lets peers reach memory of this rank, until it is withdrawn as often; *place is what they call
   * it. */
  tprt_status (*expose)(tprt__transport *transport, void *memory, uint64_t bytes, uint64_t *place);
  tprt_status (*withdraw)(tprt__transport *transport, void *memory);
  /* The same by all ranks at once, in the order of their operations, of as many bytes each. A
   * failure that others would wait for is one of the communicator. */
  tprt_status (*expose_all)(tprt__transport *transport, void *memory, uint64_t bytes,
                            int64_t deadline);
  /* The address of exposed memory of another rank in this process. */
  tprt_status (*reach)(const tprt__transport *transport, int rank, uint64_t place, uint64_t bytes,
                       void **memory);
  /* Copies to and from exposed memory of another rank, from any thread; what is put is there when
   * they return. */
  tprt_status (*put)(tprt__transport *transport, int rank, uint64_t place, const void *from,
                     uint64_t bytes, int64_t deadline);
  tprt_status (*get)(tprt__transport *transport, int rank, uint64_t place, void *to, uint64_t bytes,
                     int64_t deadline);
  /* Adds 1 to a counter in exposed memory of a rank, which may be this one. */
  tprt_status (*signal)(tprt__transport *transport, int rank, uint64_t place);
  /* Waits until a counter of this rank has got to `value` by signals of `rank`. */
  tprt_status (*await)(tprt__transport *transport, const _Atomic uint64_t *counter, uint64_t value,
                       int rank, int64_t deadline);
  /* On a failed communicator: which of its ranks go on, those that call this by the deadline, and a
   * token for them to join. A rank that comes later, or calls it again, gets TPRT_INVALID_STATE.
   * `members` has room for all ranks. */
  tprt_status (*recover)(tprt__transport *transport, int64_t deadline, tprt__token *token,
                         int *members, int *n_members);
  /* Built-in constants of the model, and what an operation takes. */
  void (*constants)(const tprt__transport *transport, int64_t *alpha_ps, int64_t *beta_ps_per_kb);
  void (*cost)(const tprt__transport *transport, const tprt__plan *plan, tprt__cost *cost);
  /* Tells the peers that this rank will take part in nothing any more. */
  void (*leave)(tprt__transport *transport);
  void (*destroy)(tprt__transport *transport);
} tprt__backend;

extern const tprt__backend tprt__backend_loopback;
extern const tprt__backend tprt__backend_mpi;
extern const tprt__backend tprt__backend_nccl;
extern const tprt__backend tprt__backend_self;
extern const tprt__backend tprt__backend_shm;
extern const tprt__backend tprt__backend_tcp;

/* Rows of backends on memory of the host, where there are no streams. */
tprt_status tprt__accept_host(const tprt__transport *transport, const tprt__plan *plan, bool told);
tprt_status tprt__no_launch(tprt__transport *transport, const tprt__plan *plans, size_t n,
                            uint32_t sequence, int64_t deadline, tprt__done_fn *done, void *user);
void tprt__nothing_to_settle(tprt__transport *transport);
tprt_status tprt__no_record(tprt__transport *transport, void *stream, int64_t deadline,
                            tprt__done_fn *done, void *user, tprt__stream_mark **mark);
tprt_status tprt__no_hold(tprt__transport *transport, void *stream, const tprt__stream_mark *mark);
#define TPRT__NO_STREAMS                                                                           \
  .accept = tprt__accept_host, .launch = tprt__no_launch, .settle = tprt__nothing_to_settle,       \
  .record = tprt__no_record, .hold = tprt__no_hold

/* By name, case ignored, or a plug-in by its absolute path; the message for an unknown one lists
 * the known. UNSUPPORTED for a name without the capabilities, whether or not it can work on this
 * machine. */
tprt_status tprt__backend_find(const char *name, uint32_t capabilities,
                               const tprt__backend **backend);

/* plugin.c: the backend of a plug-in, which is loaded once. */
tprt_status tprt__plugin_find(const char *path, const tprt__backend **backend);

/* For backends whose operations do everything when they are submitted. */
void tprt__begin_nothing(tprt__transport *transport, const tprt__plan *plan, uint32_t sequence);

/* window.c: where it makes no difference that all do it. */
tprt_status tprt__expose_each(tprt__transport *transport, void *memory, uint64_t bytes,
                              int64_t deadline);
/* window.c: put and get where ranks have addresses for memory of each other. */
tprt_status tprt__reached_put(tprt__transport *transport, int rank, uint64_t place,
                              const void *from, uint64_t bytes, int64_t deadline);
tprt_status tprt__reached_get(tprt__transport *transport, int rank, uint64_t place, void *to,
                              uint64_t bytes, int64_t deadline);

/* The status and text with which an operation ends because of a fault. */
tprt_status tprt__fault_fail(const tprt__fault *fault);

#endif
