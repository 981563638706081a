/* Ends communicators of NCCL, in a thread of its own for each of them.
 *
 * NCCL's abort, and the completion of its finalize, wait until no graph holds an operation of the
 * communicator any more. The thread that owns such a graph may be the one that detects the failure,
 * or wait for it. So nobody else waits for the end without a limit, and nobody holds a lock.
 *
 * A healthy communicator is finalized and then destroyed: an abort would lose data that this rank
 * has sent and that its peer has not received yet. */
#define _GNU_SOURCE 1
#include "backends/nccl/nccl.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Stages of an end. */
enum { ALIVE, FINALIZING, ENDING, ENDED, N_STAGES };

struct nccl_ending {
  const nccl_library *library;
  int rank; /* of the world; for error texts, like the name */
  char name[TPRT__NAME_BYTES];
  nccl_comm comm;
  nccl_comm child;                  /* written by NCCL while it splits `comm` */
  nccl_registration *registrations; /* NCCL may write windows until the end */
  _Atomic int stage;
  _Atomic bool gives_up;    /* do not wait any longer for the completion of the finalize */
  _Atomic int n_references; /* the endpoint's and the thread's */
};

enum { SHORT_NAP_NS = 20000, LONG_NAP_NS = 1000000, SHORT_NS = 5000000 };

/* Sleeps; for longer if it has gone on for a while. */
static void nap(int64_t since) {
  const struct timespec time = {.tv_nsec =
                                    tprt__now() - since < SHORT_NS ? SHORT_NAP_NS : LONG_NAP_NS};
  nanosleep(&time, NULL);
}

nccl_ending *tprt__nccl_ending_make(void) {
  nccl_ending *made = tprt__alloc(sizeof *made);
  if (made)
    atomic_init(&made->n_references, 1);
  return made;
}

void tprt__nccl_ending_release(nccl_ending *ending) {
  if (!ending || atomic_fetch_sub(&ending->n_references, 1) > 1)
    return;
  while (ending->registrations) {
    nccl_registration *first = ending->registrations;
    ending->registrations = first->next;
    tprt__free(first);
  }
  tprt__free(ending);
}

/* The number of communicators in each stage; ALIVE is not counted. */
static _Atomic int n_in_stage[N_STAGES];

static void enter_stage(nccl_ending *ending, int stage) {
  atomic_fetch_add(&n_in_stage[stage], 1);
  atomic_fetch_sub(&n_in_stage[atomic_exchange(&ending->stage, stage)], 1);
}

nccl_comm *tprt__nccl_child(nccl_transport *nccl) { return &nccl->ending->child; }
nccl_registration **tprt__nccl_registrations(nccl_transport *nccl) {
  return &nccl->ending->registrations;
}

/* ---- the end of the process ----
 *
 * After main has returned, NCCL and the driver destroy objects that a thread inside NCCL still
 * uses, and the process crashes. So the exit waits for these threads, for a limited time. */

enum { FINALIZING_AT_EXIT_NS = 1000000000 }; /* a graph that is never destroyed may hold it */
static const int64_t ending_at_exit_ns = INT64_C(10000000000);

static _Atomic bool has_exited; /* no call of NCCL may begin any more */
static pid_t process;           /* a forked child does not have its threads */

static void await_all_ends(void) {
  int64_t begin = tprt__now();
  if (getpid() != process)
    return;
  while (atomic_load(&n_in_stage[FINALIZING]) && tprt__now() - begin < FINALIZING_AT_EXIT_NS)
    nap(begin);
  atomic_store(&has_exited, true);
  while (atomic_load(&n_in_stage[ENDING]) && tprt__now() - begin < ending_at_exit_ns)
    nap(begin);
  int left = atomic_load(&n_in_stage[ENDING]);
  if (left)
    tprt__warn("the process exits while NCCL still destroys %d communicators, and may crash", left);
}

/* Exit handlers run in reverse order. NCCL and the driver have registered theirs before, when the
 * communicator was created. */
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;
static void register_exit(void) {
  process = getpid();
  atexit(await_all_ends);
}

/* ---- the thread ---- */

static void log_loss(const nccl_ending *ending, const char *reason) {
  tprt__log("rank %d destroys its communicator%s%s before what it has sent has arrived: %s",
            ending->rank, *ending->name ? " " : "", ending->name, reason);
}

/* Finalizes the communicator. Returns true when all that this rank has sent has arrived. */
static bool finalize(nccl_ending *ending) {
  const nccl_library *library = ending->library;
  int64_t begin = tprt__now();
  nccl_result state = NCCL_RESULT_IN_PROGRESS, result = library->finalize(ending->comm);
  while ((!result || result == NCCL_RESULT_IN_PROGRESS) && state == NCCL_RESULT_IN_PROGRESS) {
    if (atomic_load(&ending->gives_up) || atomic_load(&has_exited))
      return false;
    result = library->async_error(ending->comm, &state);
    if (!result && state == NCCL_RESULT_IN_PROGRESS)
      nap(begin);
  }
  tprt_status status =
      tprt__nccl_check(library, ending->comm, result ? result : state, "ncclCommFinalize");
  if (status)
    log_loss(ending, tprt_last_error());
  return !status;
}

static void end_in_nccl(const nccl_ending *ending, bool is_final) {
  const nccl_library *library = ending->library;
  if (is_final)
    library->destroy(ending->comm);
  else
    library->abort(ending->comm);
  if (ending->child) /* the end of the parent has ended the split but leaves the child */
    library->abort(ending->child);
}

static void *end_main(void *argument) {
  nccl_ending *ending = argument;
  const cuda_device_calls *device = ending->library->device;
  int mode = CUDA_CAPTURE_RELAXED; /* captures in other threads must not be broken */
  device->capture_mode(&mode);
  bool is_final = atomic_load(&ending->stage) == FINALIZING && finalize(ending);
  enter_stage(ending, ENDING); /* from here on, the exit of the process waits */
  if (!atomic_load(&has_exited)) {
    end_in_nccl(ending, is_final);
    device->capture_mode(&mode);
  }
  enter_stage(ending, ENDED);
  tprt__nccl_ending_release(ending);
  return NULL;
}

/* Starts the end of the communicator, unless there is none or its end has begun. No call on it is
 * running, and none follows. */
static void begin_end(nccl_transport *nccl, int stage) {
  nccl_ending *ending = nccl->ending;
  pthread_t thread;
  pthread_mutex_lock(&nccl->lock);
  bool begins = nccl->comm;
  if (begins) {
    ending->comm = nccl->comm;
    ending->library = nccl->library;
    ending->rank = nccl->world_ranks[nccl->base.rank];
    memcpy(ending->name, nccl->settings.name, sizeof ending->name);
    nccl->comm = NULL;
    enter_stage(ending, stage);
  }
  pthread_mutex_unlock(&nccl->lock);
  if (!begins)
    return;
  pthread_once(&exit_once, register_exit);
  atomic_fetch_add(&ending->n_references, 1);
  if (pthread_create(&thread, NULL, end_main, ending))
    end_main(ending);
  else
    pthread_detach(thread);
}

/* ---- waiting for the end ---- */

/* How long a thread waits for the end: graphs may delay it if there are any, and the destruction
 * waits for other ranks of the host. */
enum { GRAPHS_NS = 200000000, ENDING_NS = 1000000000 };
static const int64_t abort_ns = INT64_C(10000000000);

/* Waits until the communicator has ended, for a limited time. */
static void await_end(const nccl_transport *nccl, int64_t limit_ns) {
  const nccl_ending *ending = nccl->ending;
  int64_t begin = tprt__now();
  int64_t end = begin + (atomic_load(&nccl->captured) ? GRAPHS_NS : limit_ns);
  while (atomic_load(&ending->stage) == ENDING && tprt__now() < end)
    nap(begin);
}

void tprt__nccl_abort_comm(nccl_transport *nccl) {
  begin_end(nccl, ENDING);
  atomic_store(&nccl->ending->gives_up, true); /* if it is finalized in the background */
  if (atomic_load(&nccl->ending->stage) == ENDING)
    await_end(nccl, abort_ns);
}

/* True if all other ranks have ended or left. */
static bool is_last(const nccl_transport *nccl) {
  const tprt__transport *host = nccl->base.host;
  int i = 0;
  while (i < host->n_ranks && (i == host->rank || host->backend->peer_dead(host, i)))
    i++;
  return i == host->n_ranks;
}

/* The reason not to wait any longer for data to arrive; NULL: none. */
static const char *find_reason(const nccl_transport *nccl, int64_t deadline, int64_t *last_since) {
  const tprt__transport *host = nccl->base.host;
  int64_t now = tprt__now();
  if (host->backend->fault(host).status)
    return "the communicator has failed";
  if (now >= deadline)
    return "it was not received in time";
  if (!is_last(nccl))
    *last_since = now;
  return now - *last_since >= NCCL_GONE_NS ? "the other ranks have ended" : NULL;
}

void tprt__nccl_end_comm(nccl_transport *nccl) {
  nccl_ending *ending = nccl->ending;
  const tprt__transport *host = nccl->base.host;
  int64_t begin = tprt__now(), deadline = tprt__deadline(tprt__nccl_timeout(nccl)),
          last_since = begin;
  const char *reason = NULL;
  bool has_failed = host->backend->fault(host).status;
  begin_end(nccl, has_failed ? ENDING : FINALIZING);
  while (atomic_load(&ending->stage) == FINALIZING && !reason &&
         !(atomic_load(&nccl->captured) && tprt__now() - begin >= GRAPHS_NS)) {
    nap(begin);
    reason = find_reason(nccl, deadline, &last_since);
  }
  if (reason) {
    atomic_store(&ending->gives_up, true);
    log_loss(ending, reason);
    while (atomic_load(&ending->stage) == FINALIZING)
      nap(begin);
  }
  await_end(nccl, reason || has_failed ? abort_ns : ENDING_NS);
}
