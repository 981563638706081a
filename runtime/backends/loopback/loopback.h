/* Backend "loopback": virtual ranks of one process, in one address space.
 *
 * The endpoints of a communicator share a hub. A rank that submits an operation leaves its plan in
 * the hub and waits. The last rank to arrive runs the operation for all ranks, directly from one
 * rank's buffers into another's. There are no staging copies, and all memory of the process can be
 * part of a window. Because the hub has the plans of all ranks, this backend also implements
 * virtual ranks that share one device. */
#ifndef TPRT_RUNTIME_LOOPBACK_H
#define TPRT_RUNTIME_LOOPBACK_H

#include "comm/backend.h"

#include <pthread.h>

/* A send or recv that waits for its counterpart. A matching pair is removed from the list, and one
 * of the two owners copies. */
typedef struct loopback_transfer {
  struct loopback_transfer *next;
  const tprt__plan *plan;
  enum { LOOPBACK_POSTED, LOOPBACK_MOVING, LOOPBACK_DONE } state;
} loopback_transfer;

/* State of a rank in the hub. */
typedef struct loopback_seat {
  /* valid until its round has ended, or until the hub has a fault and no round is running */
  const tprt__plan *plan;
  uint64_t signature[4];
  uint32_t sequence;
  int world_rank;
  bool arrived, left;
  bool begun;     /* by tprt__loopback_begin */
  uint64_t round; /* number of the round in which it arrived */
  bool recovering, survives;
} loopback_seat;

typedef struct loopback_invitation loopback_invitation;

typedef struct loopback_registration loopback_registration;

typedef struct loopback_hub {
  /* held as a reader during accesses to memory of a peer; acquired before `lock` */
  pthread_rwlock_t registrations_lock;
  loopback_registration *registrations;
  pthread_mutex_t lock; /* guards everything below */
  pthread_cond_t changed;
  int references, n_ranks, host_ranks;
  tprt__fault fault;
  int n_arrived;
  uint64_t round;            /* number of completed operations */
  bool running;              /* the last rank to arrive runs an operation, without the lock */
  tprt_status result;        /* of the last round */
  char text[256];            /* of a mismatch, if all ranks get the same text */
  loopback_transfer *posted; /* oldest first */
  loopback_invitation *invitations; /* not yet used by all invited ranks */
  bool decided;                     /* recovery: the survivors are decided */
  loopback_invitation *next;
  const tprt__plan **plans; /* scratch for a round, one entry per rank, like the next four */
  const void **sources;
  void **destinations;
  tprt__scale *scales;
  struct tprt__gpu_queue *queues;
  loopback_seat seats[];
} loopback_hub;

typedef struct loopback_transport {
  tprt__transport base;
  loopback_hub *hub;
} loopback_transport;

/* ---- loopback.c ---- */
/* Creates an invitation for n_users ranks. The caller holds the parent's lock. NULL if memory is
 * exhausted. */
loopback_invitation *tprt__loopback_invite(loopback_hub *parent, int n_users);

/* ---- loopback_wait.c; the caller holds the lock ---- */
typedef struct loopback_wait {
  tprt_op_kind kind;
  uint32_t sequence;
  int64_t deadline;
} loopback_wait;

/* Sleeps until the hub changes, or until the deadline. */
void tprt__loopback_sleep(loopback_hub *hub, int64_t deadline);
/* Returns the status, and sets the text, of the current fault. */
tprt_status tprt__loopback_fail(const loopback_hub *hub);
/* Records a fault of a rank for all ranks of the hub, and fails with the first recorded fault. */
tprt_status tprt__loopback_record_fault(loopback_hub *hub, tprt_status status, int rank,
                                        const loopback_wait *wait);
void tprt__loopback_abort(tprt__transport *transport, const tprt__fault *fault);
tprt__fault tprt__loopback_fault(const tprt__transport *transport);
tprt_status tprt__loopback_await(tprt__transport *transport, const _Atomic uint64_t *counter,
                                 uint64_t value, int rank, int64_t deadline);
tprt_status tprt__loopback_recover(tprt__transport *transport, int64_t deadline, tprt__token *token,
                                   int *members, int *n_members);

/* ---- loopback_collective.c ---- */
void tprt__loopback_begin(tprt__transport *transport, const tprt__plan *plan, uint32_t sequence);
tprt_status tprt__loopback_submit(tprt__transport *transport, const tprt__plan *plan,
                                  uint32_t sequence, int64_t deadline);

/* ---- loopback_device.c ---- */
tprt_status tprt__loopback_accept(const tprt__transport *transport, const tprt__plan *plan,
                                  bool told);
tprt_status tprt__loopback_launch(tprt__transport *transport, const tprt__plan *plans, size_t n,
                                  uint32_t sequence, int64_t deadline, tprt__done_fn *done,
                                  void *user);
/* Enqueues the operation of a round, whose plans are on GPUs, into the streams of all ranks. */
tprt_status tprt__loopback_enqueue(loopback_hub *hub);

/* ---- loopback_window.c ---- */
tprt_status tprt__loopback_register_memory(tprt__transport *transport, void *memory, uint64_t bytes,
                                           uint64_t *place);
tprt_status tprt__loopback_deregister_memory(tprt__transport *transport, void *memory);
/* Deregisters the memory that ranks left registered. */
void tprt__loopback_deregister_all(loopback_hub *hub);
tprt_status tprt__loopback_reach(const tprt__transport *transport, int rank, uint64_t place,
                                 uint64_t bytes, void **memory);
tprt_status tprt__loopback_put(tprt__transport *transport, int rank, uint64_t place,
                               const void *from, uint64_t bytes, int64_t deadline);
tprt_status tprt__loopback_get(tprt__transport *transport, int rank, uint64_t place, void *to,
                               uint64_t bytes, int64_t deadline);
tprt_status tprt__loopback_signal(tprt__transport *transport, int rank, uint64_t place);

/* ---- loopback_transfer.c ---- */
tprt_status tprt__loopback_exchange(tprt__transport *transport, const tprt__plan *plans, size_t n,
                                    uint32_t sequence, int64_t deadline);

#endif
