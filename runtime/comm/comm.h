/* The front end: declarations shared by the files that implement communicators. The front end
 * validates and orders operations; a backend moves the data. */
#ifndef TPRT_RUNTIME_COMM_H
#define TPRT_RUNTIME_COMM_H

#include "bootstrap/spares.h"
#include "comm/backend.h"

#include <pthread.h>
#include <stdatomic.h>

/* A cached communicator over mesh axes, or with a name. It is destroyed with its parent. */
typedef struct tprt__axes_entry {
  struct tprt__axes_entry *next;
  tprt_comm *child; /* may be the parent itself; NULL: this rank is not a member */
  const char *name; /* NULL: over axes; the text follows the entry in memory */
  uint64_t ranks;   /* hash of the rank list of a named group */
  int n_axes, n_group;
  int64_t sizes[TPRT_MAX_RANK];
  int32_t group[TPRT_MAX_RANK];
} tprt__axes_entry;

/* defined in observe.h */
typedef struct tprt__observer tprt__observer;

struct tprt_comm {
  tprt__transport *transport;
  int *world_ranks;
  /* Of tprt_comm_reconfigure. `joined`: for each rank the epoch in which its process joined.
   * `tried_epoch`: the last that some rank has tried to begin, at least `epoch`. `claim`: the last
   * that is known to be in the store, or the first of the chain; 0: none. `tried`: claims after it
   * of which that is not known. `survivors`: the ranks that are left after a reconfiguration that
   * failed; NULL: none has. */
  int *joined;
  int epoch, tried_epoch, n_tried;
  int64_t claim, tried[TPRT__MOST_CLAIMS];
  tprt_comm *survivors;
  void *packed;                /* for small operations that run as one, when they first do */
  char name[TPRT__NAME_BYTES]; /* "" if it has none */
  _Atomic int64_t hints[TPRT__N_HINTS]; /* may change at any time */
  bool aborts;                          /* the process, when it fails */
  void *stream;                         /* of operations that name none; NULL: none */
  char flight_dir[TPRT__PATH_BYTES];    /* "": the flight recorder writes no file */
  uint64_t world;                       /* number of its world, there; 0: none */
  unsigned number;                      /* counts the communicators of this process */
  uint32_t sequence;                    /* number of the last collective; guarded by the lane */

  /* The lane: operations of a communicator run one at a time, each holding the lane. A blocking
   * operation waits until the queue is empty and then takes the lane. Queued operations run in the
   * worker thread, which starts with the first of them, or in a thread that waits for one of them.
   * On-demand operations have no worker: a thread that needs the lane, or waits for one, runs
   * them. */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  _Atomic int lane; /* whether the lane can be taken without the lock; see work.c */
  bool busy, has_worker, stopping;
  int n_lane_waiters; /* number of threads that wait for the lane */
  tprt_work *head, *tail;
  pthread_t worker;

  /* NULL until a hook, a check or the flight recorder is used */
  _Atomic(tprt__observer *) observer;
  /* calibrated cost constants, may change at any time; 0: not calibrated */
  _Atomic int64_t alpha_ps, beta_ps_per_kb;

  _Atomic int status; /* sticky */
  char error[512];    /* written once under `lock`, before status */

  pthread_mutex_t axes_making; /* held while a child is created, which waits for peers */
  /* Guards the list. Never held during a wait, so that cached children are found at once. */
  pthread_mutex_t axes_lock;
  tprt__axes_entry *axes;
};

/* Creates a communicator around a transport and takes ownership of it, also on failure.
 * `world_ranks` and the settings are copied. */
tprt_status tprt__comm_wrap(tprt__transport *transport, const int *world_ranks,
                            const tprt__comm_settings *settings, tprt_comm **comm);

/* Joins a world as one of its ranks, see tprt_world_create. */
tprt_status tprt__world_join(int n_ranks, int rank, const tprt__settings *settings,
                             tprt_comm **comm);
/* Opens the store in which the launcher of this process lets spares wait; NULL if it does not. */
tprt_status tprt__launched_spares(int64_t timeout_ns, tprt_store **spares);
/* spare.c: waits in the store of the settings for a place, as tprt_comm_join does. */
tprt_status tprt__spare_join(const tprt__settings *settings, int64_t timeout_ns, tprt_comm **comm);

/* recover.c: creates a communicator of the ranks that call this by the deadline, with these
 * settings; see tprt_comm_shrink. */
tprt_status tprt__comm_recover(tprt_comm *comm, int64_t deadline,
                               const tprt__comm_settings *settings, tprt_comm **child);

/* Determines the settings of a child with this configuration, which may be NULL, and checks that
 * the backend obeys it. */
tprt_status tprt__comm_child_settings(const tprt_comm *comm, const tprt_comm_config *config,
                                      tprt__comm_settings *settings);

/* Creates this rank's communicator of a new group. `members` are ranks of `comm`; the function
 * replaces them with ranks of the world. This rank is member `index`, or -1 if it is none; then
 * *child is NULL. Failures are returned and do not become sticky. */
tprt_status tprt__comm_join(tprt_comm *comm, const tprt__token *token, int n_members, int *members,
                            int index, const tprt__comm_settings *settings, tprt_comm **child);

/* The communicator's timeout, in nanoseconds. */
static inline int64_t tprt__comm_timeout(const tprt_comm *comm) {
  return atomic_load_explicit(&comm->hints[TPRT__HINT_TIMEOUT], memory_order_relaxed);
}

/* Private memory of the kind that operations on this communicator accept, for the library itself.
 * Freeing NULL is allowed. */
tprt_status tprt__comm_memory(tprt_comm *comm, size_t bytes, void **memory);
void tprt__comm_memory_free(tprt_comm *comm, void *memory);

/* Takes the lane, after all queued work has run, and returns it. */
void tprt__lane_enter(tprt_comm *comm);
void tprt__lane_leave(tprt_comm *comm);
/* Returns TPRT_OK, or the sticky status with its text. */
tprt_status tprt__comm_check(tprt_comm *comm);
/* Waits for the operations in streams, then returns the sticky status, which includes their
 * failures. Called in the communicator's lane. */
tprt_status tprt__comm_settle(tprt_comm *comm);
/* Makes a failure sticky, with the thread's error text, and notifies the peers. Returns
 * `status`. */
tprt_status tprt__comm_fail(tprt_comm *comm, tprt_status status, tprt_op_kind kind);
/* Fails the operations of all ranks on this communicator and on its cached children, with `status`
 * and the thread's error text. Callable from any thread. `rank` is the rank in the world that
 * caused the failure. */
void tprt__comm_poison(tprt_comm *comm, tprt_status status, int rank);
/* Runs planned operations in order; adjacent transfers run concurrently. The caller holds the
 * lane. */
tprt_status tprt__comm_run_list(tprt_comm *comm, const tprt__plan *plans, size_t n,
                                int64_t deadline);
/* Tells how many operations, beginning with the first, run as one; at least 1, and the same on all
 * ranks. */
size_t tprt__comm_joins(const tprt_comm *comm, const tprt__plan *plans, size_t n);
/* Runs one planned operation. The caller holds the lane. */
tprt_status tprt__comm_run(tprt_comm *comm, const tprt__plan *plan, int64_t deadline);
/* Waits for the lane and runs one planned operation. */
tprt_status tprt__comm_submit(tprt_comm *comm, const tprt__plan *plan, int64_t deadline);
/* Launches plans that name a stream, from the caller's thread, so that work the caller enqueues
 * next follows them. The end of the last plan completes *work, unless `work` is NULL. */
tprt_status tprt__comm_launch(tprt_comm *comm, const tprt__plan *plans, size_t n, int64_t deadline,
                              tprt_work **work);
/* Creates a work that is in no queue, with two references. tprt__work_end completes it and drops
 * one of them. */
tprt_work *tprt__work_create(tprt_comm *comm, int64_t deadline);
/* The same for an operation that is enqueued in a stream: it counts as begun. */
tprt_work *tprt__work_launch(tprt_comm *comm, int64_t deadline, void *stream);
void tprt__work_begin(tprt_work *work);
void tprt__work_end(void *work, tprt_status status);
void tprt__work_release(tprt_work *work);
/* Adds the communicator's settings to the plans of a user, and checks that the backend can run
 * them; see tprt__backend.accept. All plans must name the same stream. */
tprt_status tprt__comm_accept(const tprt_comm *comm, tprt__plan *plans, size_t n, bool told);
/* Runs an operation of the library itself, on host memory, to its end. Its plan must own no
 * memory. */
tprt_status tprt__comm_run_internal(tprt_comm *comm, const tprt_op *op);
/* Starts a plan that owns no memory. It runs in the worker thread. With `on_demand` it runs in the
 * next thread that waits for it or needs the lane; the backend begins it at once if nothing else is
 * pending. Wait for the work without a timeout. */
tprt_status tprt__comm_start(tprt_comm *comm, const tprt__plan *plan, int64_t deadline,
                             bool on_demand, tprt_work **work);
/* Returns when a completed work began and ended. */
void tprt__work_times(const tprt_work *work, int64_t *begin_ns, int64_t *end_ns);
/* Inserts a marker into the order of a communicator's work: `fn` runs with the lane held, in the
 * worker thread, or at once if `is_short` and nothing is pending. `fn` runs exactly once, even if
 * this call fails, and takes ownership of `data`. */
typedef tprt_status tprt__marker_fn(tprt_comm *comm, void *data, int64_t deadline);
tprt_status tprt__comm_mark(tprt_comm *comm, tprt__marker_fn *fn, void *data, bool is_short);
/* Runs plans that live at least as long as the work, such as those of a schedule. */
tprt_status tprt__comm_submit_list(tprt_comm *comm, const tprt__plan *plans, size_t n,
                                   int64_t deadline, tprt_work **work);
/* Runs n plans in the background. The work takes ownership of the memory of the plans, unless this
 * call fails or they are `borrowed`. */
tprt_status tprt__work_start(tprt_comm *comm, tprt__plan *plans, size_t n, bool borrowed,
                             int64_t deadline, tprt_work **work);
/* Stops the worker thread after all queued work has completed. */
void tprt__worker_stop(tprt_comm *comm);
/* Finds a cached child. Returns false if there is none. */
bool tprt__axes_find(tprt_comm *comm, bool (*same)(const tprt__axes_entry *entry, const void *key),
                     const void *key, tprt_comm **child);
/* Adds an entry to the cache, and poisons its child if the parent has failed in the meantime. */
tprt_status tprt__axes_insert(tprt_comm *comm, tprt__axes_entry *entry);
void tprt__axes_clear(tprt_comm *comm);
/* Poisons the cached children. */
void tprt__axes_poison(tprt_comm *comm, tprt_status status, int rank);

#endif
