/* Backend "fabric": the backend table. */
#include "backends/fabric/fabric.h"

static tprt_status backend_probe(void) { return tprt__fabric_load(); }

static tprt_status backend_create(int n_ranks, int rank, const tprt__settings *settings,
                                  tprt__transport **transport) {
  tcp_endpoint *near;
  void *end;
  uint32_t max_tag;
  tprt_status status = tprt__tcp_open("fabric", n_ranks, rank, settings, &near);
  if (!status)
    status = tprt__fabric_open(near, settings, &end, &max_tag);
  return status ? status
                : tprt__wire_open_endpoint(&tprt__fabric_messenger, &tprt__backend_fabric, end,
                                           max_tag, n_ranks, rank, near->local.n_ranks,
                                           n_ranks > 1 ? near->first : NULL, transport);
}

const tprt__backend tprt__backend_fabric = {
    .capabilities = WIRE_CAPABILITIES | TPRT_CAP_PROCESSES,
    .needs_store = true,
    .name = "fabric",
    .summary = "processes on any number of hosts, through libfabric",
    .lacks = {TPRT__LACK(TPRT_CAP_THREADS) = "the ranks are processes",
              TPRT__LACK(TPRT_CAP_ELASTIC) =
                  "the last messages to a rank that is late may be lost; use backend shm or tcp",
              WIRE_LACKS},
    .probe = backend_probe,
    .create = backend_create,
    WIRE_ROWS,
};
