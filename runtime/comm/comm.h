/* The front: what the files around a communicator share. */
#ifndef TPRT_RUNTIME_COMM_H
#define TPRT_RUNTIME_COMM_H

#include "comm/backend.h"

#include <pthread.h>
#include <stdatomic.h>

/* A communicator over mesh axes, or one with a name, that was asked for before. It ends with its
 * parent. */
typedef struct tprt__axes_entry {
  struct tprt__axes_entry *next;
  tprt_comm *child; /* may be the communicator itself; NULL: this rank is no member */
  const char *name; /* NULL: over axes. Behind it in memory, like the ranks of the group */
  uint64_t ranks;   /* hash of the named group's list */
  int n_axes, n_group;
  int64_t sizes[TPRT_MAX_RANK];
  int32_t group[TPRT_MAX_RANK];
} tprt__axes_entry;

enum { TPRT__NAME_BYTES = 64 };

/* observe.h */
typedef struct tprt__observer tprt__observer;

struct tprt_comm {
  tprt__transport *transport;
  int *world_ranks;
  char name[TPRT__NAME_BYTES]; /* "" for those without */
  _Atomic int64_t timeout_ns;  /* a hint may change it at any time, as calibration the next two */
  uint32_t sequence;           /* of the last operation; belongs to whoever holds the lane */

  /* The lane: operations run one at a time. A blocking one waits until the queue is empty and takes
   * the lane itself; the queued ones are run by the worker, which starts with the first of them, or
   * by a thread that waits for one. Those on demand have no worker: who needs the lane runs
   * them. */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  _Atomic int lane; /* whether it can be had without the lock; see work.c */
  bool busy, has_worker, stopping;
  int n_wanting; /* threads that wait for the lane */
  tprt_work *head, *tail;
  pthread_t worker;

  _Atomic(tprt__observer *) observer;       /* NULL until something is to be observed */
  _Atomic int64_t alpha_ps, beta_ps_per_kb; /* calibrated constants of the cost; 0: not */

  _Atomic int status; /* sticky */
  char error[512];    /* written once, before status, under lock */

  pthread_mutex_t axes_making; /* held while one is made, which waits for peers */
  /* of the list; never held while waiting, so that what exists is found at once */
  pthread_mutex_t axes_lock;
  tprt__axes_entry *axes;
};

/* A communicator around a transport, which it takes over in any case. `world_ranks` is copied. */
tprt_status tprt__comm_wrap(tprt__transport *transport, const int *world_ranks, int64_t timeout_ns,
                            tprt_comm **comm);

/* A new end of a group of this communicator's ranks: `members` are ranks of it, and become those of
 * the world; this rank is member `index`, -1: none, which gives NULL. Settings go over. Failures
 * are returned, not made sticky. */
tprt_status tprt__comm_join(tprt_comm *comm, const tprt__token *token, int n_members, int *members,
                            int index, tprt_comm **child);

/* Private memory such as operations on this communicator have, for the library itself; NULL is
 * allowed to be freed. */
tprt_status tprt__comm_memory(tprt_comm *comm, size_t bytes, void **memory);
void tprt__comm_memory_free(tprt_comm *comm, void *memory);

void tprt__lane_enter(tprt_comm *comm);
void tprt__lane_leave(tprt_comm *comm);
/* TPRT_OK, or the sticky status with its text. */
tprt_status tprt__comm_check(tprt_comm *comm);
/* Makes a failure sticky (with the thread's error text) and tells the peers; returns the status. */
tprt_status tprt__comm_fail(tprt_comm *comm, tprt_status status, tprt_op_kind kind);
/* Ends the operations of all ranks, here and on its communicators over axes, with a status and
 * the thread's error text, from any thread. `rank` is the culprit's rank in the world. */
void tprt__comm_poison(tprt_comm *comm, tprt_status status, int rank);
/* Runs planned operations, transfers that stand next to each other at once; the caller holds the
 * lane. */
tprt_status tprt__comm_run_list(tprt_comm *comm, const tprt__plan *plans, size_t n,
                                int64_t deadline);
/* Runs a planned operation; the caller holds the lane. */
tprt_status tprt__comm_run(tprt_comm *comm, const tprt__plan *plan, int64_t deadline);
/* The same without the lane: waits for it. */
tprt_status tprt__comm_submit(tprt_comm *comm, const tprt__plan *plan, int64_t deadline);
/* Plans that name a stream, into that, in the caller's thread: what the caller puts there next
 * comes behind them. The last ends the work, if one is asked for. */
tprt_status tprt__comm_launch(tprt_comm *comm, const tprt__plan *plans, size_t n, int64_t deadline,
                              tprt_work **work);
/* A work that no queue has, with two references; it ends when this is called with its status. */
tprt_work *tprt__work_create(tprt_comm *comm, int64_t deadline);
void tprt__work_end(void *work, tprt_status status);
void tprt__work_release(tprt_work *work);
/* Whether the backend can run these plans of a user's; see tprt__backend.accept. */
tprt_status tprt__comm_accept(const tprt_comm *comm, const tprt__plan *plans, size_t n, bool told);
/* An operation of the library's own, on memory of the host, that owns nothing; to its end. */
tprt_status tprt__comm_tell(tprt_comm *comm, const tprt_op *op);
/* Starts a plan that owns nothing: in the worker or, `on_demand`, by whoever waits for it or wants
 * the lane next; the backend then begins it at once if nothing else is pending. Wait for the work
 * with no timeout. */
tprt_status tprt__comm_start(tprt_comm *comm, const tprt__plan *plan, int64_t deadline,
                             bool on_demand, tprt_work **work);
/* When a work that has ended ran. */
void tprt__work_times(const tprt_work *work, int64_t *begin_ns, int64_t *end_ns);
/* A place in the order of a communicator's work that is no operation: runs with the lane held, in
 * the worker, or, if it is is_short and nothing is pending, at once. `fn` runs exactly once, also
 * when this fails, and takes `data` over. */
typedef tprt_status tprt__marker_fn(tprt_comm *comm, void *data, int64_t deadline);
tprt_status tprt__comm_mark(tprt_comm *comm, tprt__marker_fn *fn, void *data, bool is_short);
/* Plans that live at least as long as the work: of a schedule. */
tprt_status tprt__comm_submit_list(tprt_comm *comm, const tprt__plan *plans, size_t n,
                                   int64_t deadline, tprt_work **work);
/* n plans in the background. What they own goes over to the work, or, when this fails or they are
 * `borrowed`, stays. */
tprt_status tprt__work_start(tprt_comm *comm, tprt__plan *plans, size_t n, bool borrowed,
                             int64_t deadline, tprt_work **work);
/* Ends the worker after everything queued is done. */
void tprt__worker_stop(tprt_comm *comm);
/* Finds a communicator that lives with its parent; false if there is none. */
bool tprt__axes_find(tprt_comm *comm, bool (*same)(const tprt__axes_entry *entry, const void *key),
                     const void *key, tprt_comm **child);
/* Keeps one, and ends it if the parent has failed meanwhile. */
tprt_status tprt__axes_keep(tprt_comm *comm, tprt__axes_entry *entry);
void tprt__axes_clear(tprt_comm *comm);
/* Poisons the communicators over axes, which end with their parent. */
void tprt__axes_poison(tprt_comm *comm, tprt_status status, int rank);

#endif
