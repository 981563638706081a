/* Communicators: creation, destruction and failure. */
#include "comm/comm.h"
#include "bootstrap/launcher.h"
#include "bootstrap/rendezvous.h"
#include "comm/observe.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Applies the hints that are more than a number. */
static tprt_status apply_hints(tprt_comm *comm, const tprt__comm_settings *settings) {
  tprt_status status = TPRT_OK;
  if (settings->hints[TPRT__HINT_NAN_CHECK] > 0)
    status = tprt__observe_nan_check(comm, true);
  if (!status)
    status = tprt__observe_flight(comm, (size_t)settings->hints[TPRT__HINT_FLIGHT]);
  return status;
}

tprt_status tprt__comm_wrap(tprt__transport *transport, const int *world_ranks,
                            const tprt__comm_settings *settings, tprt_comm **result) {
  size_t n = (size_t)transport->n_ranks;
  tprt_comm *comm = tprt__alloc(sizeof *comm);
  int *ranks = tprt__alloc(2 * n * sizeof *ranks);
  if (!comm || !ranks) {
    tprt__free(ranks);
    tprt__free(comm);
    transport->backend->destroy(transport);
    return tprt__fail_memory(sizeof *comm);
  }
  memcpy(ranks, world_ranks, n * sizeof *ranks);
  comm->transport = transport;
  comm->world_ranks = ranks;
  comm->joined = ranks + n;
  for (int i = 0; i < TPRT__N_HINTS; i++)
    atomic_init(&comm->hints[i], settings->hints[i]);
  static atomic_uint n_made;
  comm->number = atomic_fetch_add(&n_made, 1);
  comm->aborts = settings->aborts;
  comm->stream = settings->stream;
  memcpy(comm->name, settings->name, sizeof comm->name);
  memcpy(comm->flight_dir, settings->flight_dir, sizeof comm->flight_dir);
  comm->world = settings->world;
  pthread_mutex_init(&comm->lock, NULL);
  pthread_cond_init(&comm->changed, NULL);
  pthread_mutex_init(&comm->axes_making, NULL);
  pthread_mutex_init(&comm->axes_lock, NULL);
  tprt_status status = apply_hints(comm, settings);
  if (status)
    tprt_comm_destroy(comm);
  else
    *result = comm;
  return status;
}

tprt_status tprt__comm_child_settings(const tprt_comm *comm, const tprt_comm_config *config,
                                      tprt__comm_settings *settings) {
  *settings = (tprt__comm_settings){.aborts = comm->aborts};
  for (int i = 0; i < TPRT__N_HINTS; i++)
    settings->hints[i] = atomic_load(&comm->hints[i]);
  memcpy(settings->flight_dir, comm->flight_dir, sizeof settings->flight_dir);
  settings->world = comm->world;
  tprt_status status = tprt__comm_settings_apply(config, "", settings);
  return status ? status : tprt__backend_obeys(comm->transport->backend, settings, true);
}

static tprt_status wrap_world(tprt__transport *transport, const tprt__settings *settings,
                              tprt_comm **comm) {
  size_t bytes = (size_t)transport->n_ranks * sizeof(int);
  int *ranks = tprt__alloc(bytes);
  if (!ranks) {
    transport->backend->destroy(transport);
    return tprt__fail_memory(bytes);
  }
  for (int i = 0; i < transport->n_ranks; i++)
    ranks[i] = i;
  tprt_status status = tprt__comm_wrap(transport, ranks, &settings->comm, comm);
  tprt__free(ranks);
  return status;
}

/* Gives the world a number that all of its ranks know, but no other world has. Ranks that meet in a
 * store make sure there that they mean the same world. */
static tprt_status number_world(int n_ranks, int rank, const tprt__backend *backend,
                                tprt__settings *settings) {
  struct stat segment;
  if (settings->segment_fd >= 0 && fstat(settings->segment_fd, &segment) == 0)
    settings->comm.world = segment.st_ino;
  if (n_ranks == 1 || !backend->needs_store || !settings->store || settings->segment_fd >= 0)
    return TPRT_OK;
  const tprt__rendezvous meeting = tprt__rendezvous_begin(settings->store, "world", n_ranks, rank,
                                                          tprt__deadline(settings->timeout_ns));
  return tprt__rendezvous_agree(&meeting, backend->name, &settings->comm.world);
}

tprt_status tprt__world_join(int n_ranks, int rank, const tprt__settings *settings,
                             tprt_comm **comm) {
  const tprt__backend *backend;
  tprt__transport *transport;
  tprt__settings own = *settings;
  /* the process that made the segment has warned */
  if (rank == 0 && settings->segment_fd < 0)
    tprt__env_warn_of_names();
  tprt_status status = tprt__backend_find(settings->backend, 0, &backend);
  if (!status)
    status = tprt__backend_obeys(backend, &settings->comm, false);
  if (!status)
    status = number_world(n_ranks, rank, backend, &own);
  if (!status)
    status = backend->create(n_ranks, rank, &own, &transport);
  return status ? status : wrap_world(transport, &own, comm);
}

/* Joins the world that the launcher describes. The launcher's store lives until all ranks have
 * joined. */
static tprt_status join_ranks(const tprt_launch *launch, tprt__settings *settings,
                              tprt_comm **comm) {
  const tprt__backend *backend;
  tprt_status status = tprt__backend_find(settings->backend, 0, &backend);
  if (status || launch->n_ranks == 1 || !backend->needs_store || settings->store ||
      settings->segment_fd >= 0)
    return status ? status : tprt__world_join(launch->n_ranks, launch->rank, settings, comm);
  status = tprt__launch_store(launch, settings->timeout_ns, &settings->store);
  if (!status)
    status = tprt__world_join(launch->n_ranks, launch->rank, settings, comm);
  tprt_store_destroy(settings->store);
  return status;
}

/* The same under a launcher that replaces ranks: a spare waits for a place, until the launcher ends
 * it. */
static tprt_status join_elastic(const tprt_launch *launch, tprt__settings *settings,
                                tprt_comm **comm) {
  static const int64_t forever_ns = INT64_C(1000000000000000);
  tprt_store *spares;
  tprt_status status = tprt__launch_spares(launch, settings->timeout_ns, &spares);
  if (status)
    return status;
  if (launch->is_spare)
    settings->store = spares;
  status = launch->is_spare ? tprt__spare_join(settings, forever_ns, comm)
                            : join_ranks(launch, settings, comm);
  if (!status) {
    status = tprt__launch_enrol(spares);
    if (status)
      tprt_comm_destroy(*comm);
  }
  tprt_store_destroy(spares);
  return status;
}

/* Lets the system kill this process when the launcher ends, if that is wanted. */
static tprt_status follow_launcher(void) {
  int64_t follows;
  tprt_status status = tprt__env_number(TPRT__ENV_END_WITH_LAUNCHER, 0, &follows);
  if (!status && follows && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
    status = tprt__fail_errno("prctl(PR_SET_PDEATHSIG)");
  return status;
}

static tprt_status join_launched(tprt__settings *settings, tprt_comm **comm) {
  tprt_launch launch = {.size = sizeof launch};
  tprt_status status = tprt_launch_find(&launch);
  if (!status)
    status = follow_launcher();
  if (status)
    return status;
  return (*launch.spares ? join_elastic : join_ranks)(&launch, settings, comm);
}

tprt_status tprt__launched_spares(int64_t timeout_ns, tprt_store **spares) {
  tprt_launch launch = {.size = sizeof launch};
  *spares = NULL;
  if (tprt_launch_find(&launch) || !*launch.spares)
    return TPRT_OK;
  return tprt__launch_spares(&launch, timeout_ns, spares);
}

static tprt_status fail_empty(const char *function, int n_ranks) {
  return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: n_ranks is %d; a world has at least 1 rank",
                    function, n_ranks);
}

static tprt_status fail_without_place(const char *what) {
  return tprt__fail(TPRT_INVALID_ARGUMENT,
                    "%s: there is no place for the communicator: the last argument is NULL", what);
}

tprt_status tprt_world_create(int n_ranks, int rank, const tprt_config *config, tprt_comm **comm) {
  tprt__settings settings;
  if (!comm)
    return fail_without_place("tprt_world_create");
  tprt_status status = tprt__settings_resolve(config, &settings);
  if (status)
    return status;
  if (n_ranks == 0)
    return join_launched(&settings, comm);
  if (n_ranks < 1)
    return fail_empty("tprt_world_create", n_ranks);
  if (rank < 0 || rank >= n_ranks)
    return tprt__fail(
        TPRT_INVALID_ARGUMENT,
        "tprt_world_create: rank %d of a world of %d ranks: ranks are numbered from 0 to %d; "
        "n_ranks = 0 takes both from the launcher",
        rank, n_ranks, n_ranks - 1);
  return tprt__world_join(n_ranks, rank, &settings, comm);
}

tprt_status tprt_world_create_threads(int n_ranks, const tprt_config *config, tprt_comm **comms) {
  tprt__settings settings;
  const tprt__backend *backend;
  if (!comms)
    return fail_without_place("tprt_world_create_threads");
  tprt_status status = tprt__settings_resolve(config, &settings);
  if (!status)
    tprt__env_warn_of_names();
  if (!status)
    status = tprt__backend_find(settings.backend, TPRT_CAP_THREADS, &backend);
  if (!status)
    status = tprt__backend_obeys(backend, &settings.comm, false);
  if (status)
    return status;
  if (n_ranks < 1)
    return fail_empty("tprt_world_create_threads", n_ranks);
  bool has_device = settings.comm.given & 1u << TPRT__HINT_DEVICE;
  if (n_ranks > 1 && (has_device || settings.comm.stream))
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "%s is that of one rank, but all %d ranks of the world are created together",
                      has_device ? "hint device" : "tprt_comm_config.stream", n_ranks);
  (void)getentropy(&settings.comm.world, sizeof settings.comm.world);
  size_t n = (size_t)n_ranks;
  tprt__transport **transports = tprt__alloc(n * sizeof *transports);
  tprt_comm **made = tprt__alloc(n * sizeof *made);
  status = transports && made ? backend->create_threads(n_ranks, &settings, transports)
                              : tprt__fail_memory(n * sizeof *made);
  if (!status) {
    size_t i = 0;
    for (; i < n && !status; i++)
      status = wrap_world(transports[i], &settings, &made[i]);
    if (status) { /* wrap_world has destroyed the transport of the rank that failed */
      for (size_t j = i; j < n; j++)
        backend->destroy(transports[j]);
      for (size_t j = 0; j + 1 < i; j++)
        tprt_comm_destroy(made[j]);
    } else {
      memcpy(comms, made, n * sizeof *made);
    }
  }
  tprt__free(made);
  tprt__free(transports);
  return status;
}

void tprt_comm_destroy(tprt_comm *comm) {
  if (!comm)
    return;
  tprt_status before = tprt_comm_status(comm);
  tprt__worker_stop(comm);
  comm->transport->backend->settle(comm->transport);
  if (!before && tprt_comm_status(comm))
    tprt__log("work was pending when rank %d destroyed its communicator%s%s: %s",
              comm->world_ranks[comm->transport->rank], *comm->name ? " " : "", comm->name,
              comm->error);
  tprt_comm_destroy(comm->survivors);
  tprt__axes_clear(comm);
  tprt__observer_clear(comm);
  comm->transport->backend->destroy(comm->transport);
  pthread_mutex_destroy(&comm->axes_lock);
  pthread_mutex_destroy(&comm->axes_making);
  pthread_cond_destroy(&comm->changed);
  pthread_mutex_destroy(&comm->lock);
  tprt__free(comm->packed);
  tprt__free(comm->world_ranks);
  tprt__free(comm);
}

int tprt_comm_rank(const tprt_comm *comm) {
  TPRT__NEED_OR(comm, -1);
  return comm->transport->rank;
}

int tprt_comm_size(const tprt_comm *comm) {
  TPRT__NEED_OR(comm, -1);
  return comm->transport->n_ranks;
}

int tprt_comm_host_ranks(const tprt_comm *comm) {
  TPRT__NEED_OR(comm, -1);
  return comm->transport->host_ranks;
}

const char *tprt_comm_backend(const tprt_comm *comm) {
  TPRT__NEED_OR(comm, "");
  return comm->transport->backend->name;
}

int tprt_comm_world_rank(const tprt_comm *comm, int rank) {
  TPRT__NEED_OR(comm, -1);
  return rank >= 0 && rank < comm->transport->n_ranks ? comm->world_ranks[rank] : -1;
}

tprt_status tprt_comm_status(const tprt_comm *comm) {
  TPRT__NEED(comm);
  return (tprt_status)atomic_load(&comm->status);
}
const char *tprt_comm_error(const tprt_comm *comm) {
  TPRT__NEED_OR(comm, "");
  return atomic_load(&comm->status) ? comm->error : "";
}

tprt_status tprt__comm_check(tprt_comm *comm) {
  tprt_status status = tprt_comm_status(comm);
  if (!status)
    return TPRT_OK;
  return tprt__fail(status == TPRT_ABORTED ? TPRT_INVALID_STATE : status,
                    "the communicator%s%s has already failed: %s", *comm->name ? " " : "",
                    comm->name, comm->error);
}

/* Implements the policy TPRT_FAILURE_ABORT, for users who prefer a dead process to an unnoticed
 * status. */
static void obey_policy(const tprt_comm *comm, tprt_status status) {
  if (status == TPRT_INVALID_STATE || !comm->aborts)
    return;
  char line[sizeof comm->error + 80]; /* one write: other ranks may print theirs at the same time */
  int n = snprintf(line, sizeof line, "tprt: %s: %s (policy for failures: abort)\n",
                   tprt_status_name(status), comm->error);
  ssize_t written = write(STDERR_FILENO, line, (size_t)n);
  (void)written;
  abort();
}

static void make_sticky(tprt_comm *comm, tprt_status status) {
  pthread_mutex_lock(&comm->lock);
  bool first = !atomic_load(&comm->status);
  if (first) {
    snprintf(comm->error, sizeof comm->error, "%s", tprt_last_error());
    atomic_store(&comm->status, (int)status);
  }
  pthread_mutex_unlock(&comm->lock);
  if (!first)
    return;
  tprt__observe_failure(comm, status);
  obey_policy(comm, status);
}

tprt_status tprt__comm_settle(tprt_comm *comm) {
  const tprt__backend *backend = comm->transport->backend;
  backend->settle(comm->transport);
  tprt__fault fault = {.status = TPRT_OK};
  if (backend->capabilities & TPRT_CAP_STREAMS && !tprt_comm_status(comm))
    fault = backend->fault(comm->transport);
  if (!fault.status) /* an operation in a stream may have failed without a handle */
    return tprt__comm_check(comm);
  return tprt__comm_fail(comm, tprt__fault_fail(&fault), fault.kind);
}

tprt_status tprt_comm_finalize(tprt_comm *comm) {
  TPRT__NEED(comm);
  tprt__lane_enter(comm); /* terminates: every operation has a deadline */
  tprt_status status = tprt__comm_settle(comm);
  if (!status) {
    tprt__fail(TPRT_INVALID_STATE, "it was finalized");
    make_sticky(comm, TPRT_INVALID_STATE);
    comm->transport->backend->leave(comm->transport);
  }
  tprt__lane_leave(comm);
  return status;
}

tprt_status tprt__comm_fail(tprt_comm *comm, tprt_status status, tprt_op_kind kind) {
  tprt__transport *transport = comm->transport;
  tprt__fault fault = {.status = status,
                       .kind = kind,
                       .rank = comm->world_ranks[transport->rank],
                       .sequence = comm->sequence};
  transport->backend->abort(transport, &fault); /* keeps the first fault */
  make_sticky(comm, status);
  return status;
}

void tprt__comm_poison(tprt_comm *comm, tprt_status status, int rank) {
  tprt__fault fault = {.status = status, .rank = rank};
  comm->transport->backend->abort(comm->transport, &fault);
  /* Set the status before poisoning the children: a child that is created concurrently is poisoned
   * here or by the thread that creates it. */
  make_sticky(comm, status);
  tprt__axes_poison(comm, status, rank);
}

tprt_status tprt_comm_abort(tprt_comm *comm) {
  TPRT__NEED(comm);
  int rank = comm->world_ranks[comm->transport->rank];
  tprt__fail(TPRT_ABORTED, "rank %d aborted the communicator", rank);
  tprt__comm_poison(comm, TPRT_ABORTED, rank);
  return TPRT_OK;
}

tprt_status tprt_mem_alloc(tprt_comm *comm, size_t bytes, void **memory) {
  TPRT__NEED(comm);
  TPRT__NEED(memory);
  if (bytes == 0) {
    *memory = NULL;
    return TPRT_OK;
  }
  return comm->transport->backend->alloc(comm->transport, bytes, memory);
}

void tprt_mem_free(tprt_comm *comm, void *memory) {
  if (comm && memory)
    comm->transport->backend->free(comm->transport, memory);
}

tprt_status tprt__comm_memory(tprt_comm *comm, size_t bytes, void **memory) {
  if (comm->transport->host)
    return tprt_mem_alloc(comm, bytes, memory);
  *memory = tprt__alloc(bytes);
  return *memory || !bytes ? TPRT_OK : tprt__fail_memory(bytes);
}

void tprt__comm_memory_free(tprt_comm *comm, void *memory) {
  if (comm->transport->host)
    tprt_mem_free(comm, memory);
  else
    tprt__free(memory);
}
