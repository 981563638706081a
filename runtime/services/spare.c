/* A process that becomes a rank of a communicator while it runs: tprt_comm_join. It waits in a
 * store until the ranks invite it to a place of their next epoch; see reconfigure.c. */
#include "services/epoch.h"

#include <string.h>

/* Takes the place of an invitation. */
static tprt_status take_place(const tprt__settings *settings, const tprt__invitation *own,
                              tprt_comm **next) {
  enum { PATIENCE_NS = 2000000000 };
  const int64_t grace_ns = INT64_C(3) * TPRT__EPOCH_NS;
  tprt_store *meeting = NULL;
  tprt_comm *made = NULL;
  /* outlasts the leader, which closes the store when it gives up: it counts on those who entered */
  int64_t deadline = tprt__deadline(tprt__min(own->timeout_ns, INT64_MAX - grace_ns) + grace_ns);
  tprt_status status = tprt__epoch_enter(own, settings->store, PATIENCE_NS, deadline, &meeting);
  if (!status)
    status = tprt__epoch_report(meeting, own->rank);
  if (!status)
    status = tprt__epoch_world(own, settings, own->epoch, meeting, deadline, &made);
  tprt__epoch_leave(meeting, false);
  if (status)
    return status;
  status = tprt__epoch_exchange(made); /* fails if the others could not continue */
  if (status)
    tprt_comm_destroy(made);
  else
    *next = made;
  return status;
}

/* Failures for which the process that has a place is not the cause. */
static bool is_of_others(tprt_status status) {
  return status == TPRT_TIMEOUT || status == TPRT_PEER_DEAD || status == TPRT_INVALID_STATE ||
         status == TPRT_ABORTED;
}

tprt_status tprt__spare_join(const tprt__settings *settings, int64_t timeout_ns, tprt_comm **comm) {
  const tprt__backend *backend;
  tprt_status status = tprt__backend_find(settings->backend, 0, &backend);
  if (!status)
    status = tprt__epoch_check(backend);
  if (!status)
    status = tprt__backend_obeys(backend, &settings->comm, false);
  if (!status && !settings->store)
    status = tprt__fail(TPRT_INVALID_ARGUMENT,
                        "tprt_comm_join needs the store in which spares wait: set it in "
                        "tprt_config");
  int64_t deadline = tprt__deadline(timeout_ns);
  while (!status) {
    tprt__invitation own;
    status = tprt__spares_wait(settings->store, settings->comm.name, deadline, &own);
    if (!status && strcmp(own.backend, backend->name) != 0)
      return tprt__fail(TPRT_MISMATCH, "communicator \"%s\" is of backend %.15s, this spare of %s",
                        settings->comm.name, own.backend, backend->name);
    if (status)
      break;
    status = take_place(settings, &own, comm);
    if (!status)
      return TPRT_OK;
    if (is_of_others(status))
      status = TPRT_OK; /* waits for the next place */
  }
  return status;
}

tprt_status tprt_comm_join(const tprt_config *config, int64_t timeout_ns, tprt_comm **comm) {
  TPRT__NEED(comm);
  tprt__settings settings;
  if (timeout_ns < 0)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "timeout_ns is %lld; it must be >= 0",
                      (long long)timeout_ns);
  tprt_status status = tprt__settings_resolve(config, &settings);
  if (status)
    return status;
  return tprt__spare_join(&settings, timeout_ns ? timeout_ns : settings.timeout_ns, comm);
}
