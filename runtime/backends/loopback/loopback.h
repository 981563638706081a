/* Backend "loopback": virtual ranks of one process, in one address space.
 *
 * The ends of a communicator meet in a hub. A rank that submits leaves its plan there and waits;
 * the last that comes runs the operation for all of them, straight from the buffers of one into
 * those of the other. Nothing is staged, and all memory of the process can be a window. Because the
 * plans of all ranks are at hand in one place, this is also the form in which one device plays all
 * ranks. */
#ifndef TPRT_RUNTIME_LOOPBACK_H
#define TPRT_RUNTIME_LOOPBACK_H

#include "comm/backend.h"

#include <pthread.h>

/* A send or recv that waits for the other. The two that match leave the list; one of their owners
 * copies. */
typedef struct loopback_transfer {
  struct loopback_transfer *next;
  const tprt__plan *plan;
  enum { LOOPBACK_POSTED, LOOPBACK_MOVING, LOOPBACK_DONE } state;
} loopback_transfer;

/* What a rank has in the hub. */
typedef struct loopback_seat {
  /* lives until its round has ended, or the hub has a fault and no round runs */
  const tprt__plan *plan;
  uint64_t signature[4];
  uint32_t sequence;
  int world_rank;
  bool arrived, left;
  bool begun;     /* by tprt__loopback_begin */
  uint64_t round; /* number of that in which it arrived */
  bool recovering, survives;
} loopback_seat;

typedef struct loopback_invitation loopback_invitation;

typedef struct loopback_exposure loopback_exposure;

typedef struct loopback_hub {
  /* shared while memory of a peer is touched; taken before the other */
  pthread_rwlock_t exposed_lock;
  loopback_exposure *exposed;
  pthread_mutex_t lock; /* of everything below */
  pthread_cond_t changed;
  int references, n_ranks, host_ranks;
  tprt__fault fault;
  int n_arrived;
  uint64_t round;                   /* operations that have ended */
  bool running;                     /* the last that came runs one without the lock */
  tprt_status result;               /* of the last round */
  char text[256];                   /* of a mismatch, if it is the same for all ranks */
  loopback_transfer *posted;        /* oldest first */
  loopback_invitation *invitations; /* not used up yet */
  bool decided;                     /* who goes on after a failure, where this is */
  loopback_invitation *next;
  const tprt__plan **plans; /* scratch of a round, one a rank, as the next four */
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
/* With the parent's lock; NULL when there is no memory. */
loopback_invitation *tprt__loopback_invite(loopback_hub *parent, int n_users);

/* ---- loopback_wait.c; the lock is held ---- */
typedef struct loopback_wait {
  tprt_op_kind kind;
  uint32_t sequence;
  int64_t deadline;
} loopback_wait;

/* Sleeps until something in the hub changes, or the deadline. */
void tprt__loopback_sleep(loopback_hub *hub, int64_t deadline);
/* The status and text of the fault that there is. */
tprt_status tprt__loopback_fail(const loopback_hub *hub);
/* Records a fault of a rank of the hub for all, and ends with whichever was first. */
tprt_status tprt__loopback_blame(loopback_hub *hub, tprt_status status, int rank,
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
/* Puts the operation of a round, whose plans are on GPUs, into the streams of all ranks. */
tprt_status tprt__loopback_enqueue(loopback_hub *hub);

/* ---- loopback_window.c ---- */
tprt_status tprt__loopback_expose(tprt__transport *transport, void *memory, uint64_t bytes,
                                  uint64_t *place);
tprt_status tprt__loopback_withdraw(tprt__transport *transport, void *memory);
/* What ranks that are gone have left. */
void tprt__loopback_withdraw_all(loopback_hub *hub);
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
