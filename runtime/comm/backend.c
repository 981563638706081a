/* The registry of backends, the names of capabilities, and the texts of faults. */
#include "comm/comm.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const tprt__backend *const backends[] = {
    &tprt__backend_shm, &tprt__backend_loopback, &tprt__backend_tcp, &tprt__backend_fabric,
    &tprt__backend_mpi, &tprt__backend_nccl,     &tprt__backend_self};
enum { N_BACKENDS = sizeof backends / sizeof *backends };

const char *tprt_backend_name(size_t i) { return i < N_BACKENDS ? backends[i]->name : NULL; }

uint32_t tprt_backend_capabilities(size_t i, const char **summary) {
  if (i >= N_BACKENDS)
    return 0;
  if (summary)
    *summary = backends[i]->summary;
  return backends[i]->capabilities;
}

const char *tprt_backend_lack(size_t i, int bit) {
  return i < N_BACKENDS && bit >= 0 && bit < TPRT__N_CAPABILITIES ? backends[i]->lacks[bit] : NULL;
}

tprt_status tprt_backend_probe(size_t i) {
  return i < N_BACKENDS
             ? backends[i]->probe()
             : tprt__fail(TPRT_INVALID_ARGUMENT, "there are %d backends", (int)N_BACKENDS);
}

void tprt__begin_noop(tprt__transport *transport, const tprt__plan *plan, uint32_t sequence) {
  (void)transport;
  (void)plan;
  (void)sequence;
}

void tprt__quiesce_noop(tprt__transport *transport) { (void)transport; }

/* Indexed by bit. */
static const struct {
  const char *name, *help;
} capabilities[TPRT__N_CAPABILITIES] = {
    {"threads", "ranks may be threads of one process"},
    {"processes", "ranks may be processes"},
    {"registered", "memory from tprt_mem_alloc moves without staging copies"},
    {"collectives",
     "all_reduce, reduce, broadcast, gathers, scatters, all_to_all, permute, barrier"},
    {"pieces", "the collectives with pieces of different lengths, at offsets or in lists"},
    {"transfers", "send, recv and batches of them"},
    {"tags", "tags other than 0"},
    {"windows", "put, get and signals"},
    {"user memory", "tprt_mem_register of memory that is not from tprt_mem_alloc"},
    {"recovery", "tprt_comm_shrink and tprt_comm_rebuild after a failure"},
    {"streams", "operations in streams of an accelerator"},
    {"mapped", "tprt_window_map of memory of other ranks"},
    {"host memory", "operations on host memory; otherwise on device memory"},
    {"GPU programs", "collectives of GPU programs run on GPU memory, in GPU streams; otherwise on "
                     "copies in host memory"},
    {"elastic", "processes that join later: tprt_comm_reconfigure and tprt_comm_join"},
};

const char *tprt_capability_name(int i, const char **help) {
  if (i < 0 || i >= TPRT__N_CAPABILITIES)
    return NULL;
  if (help)
    *help = capabilities[i].help;
  return capabilities[i].name;
}

uint32_t tprt_comm_capabilities(const tprt_comm *comm) {
  TPRT__NEED_OR(comm, 0);
  return comm->transport->backend->capabilities;
}

static tprt_status find(const char *name, const tprt__backend **backend) {
  char known[128] = "";
  if (strchr(name, '/'))
    return tprt__plugin_find(name, backend);
  for (size_t i = 0; i < N_BACKENDS; i++) {
    if (strcasecmp(name, backends[i]->name) == 0) {
      *backend = backends[i];
      return TPRT_OK;
    }
    size_t n = strlen(known);
    snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", backends[i]->name);
  }
  tprt_status status = tprt__refuse_library(name);
  return status ? status
                : tprt__fail(TPRT_INVALID_ARGUMENT, "there is no backend \"%s\"; known: %s", name,
                             known);
}

tprt_status tprt__backend_find(const char *name, uint32_t wanted, const tprt__backend **backend) {
  tprt_status status = find(name, backend);
  if (status)
    return status;
  if (wanted & TPRT_CAP_THREADS & ~(*backend)->capabilities)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "backend %s supports only processes as ranks, which a launcher starts; for "
                      "threads use another backend, such as shm or loopback",
                      (*backend)->name);
  return (*backend)->probe();
}

/* Hints that not all backends obey. */
enum {
  OPTIONAL_HINTS = 1 << TPRT__HINT_PRIORITY | 1 << TPRT__HINT_TRAFFIC_CLASS |
                   1 << TPRT__HINT_MIN_CTAS | 1 << TPRT__HINT_MAX_CTAS | 1 << TPRT__HINT_DEVICE,
};

void tprt_hint_backends(size_t hint, char *names, size_t n) {
  if (!names || !n)
    return;
  *names = 0;
  for (size_t i = 0; i < N_BACKENDS && hint < TPRT__N_HINTS; i++) {
    size_t length = strlen(names);
    if (((backends[i]->hints | ~(uint32_t)OPTIONAL_HINTS) & 1u << hint) && length + 1 < n)
      snprintf(names + length, n - length, "%s%s", length ? ", " : "", backends[i]->name);
  }
}

tprt_status tprt__backend_obeys(const tprt__backend *backend, const tprt__comm_settings *settings,
                                bool is_child) {
  uint32_t obeyed = is_child ? backend->child_hints : backend->hints;
  uint32_t refused = settings->given & OPTIONAL_HINTS & ~obeyed;
  if (settings->stream && !(backend->capabilities & TPRT_CAP_STREAMS))
    return tprt__fail(
        TPRT_UNSUPPORTED,
        "tprt_comm_config.stream: backend %s works on host memory and takes no stream",
        backend->name);
  if (!refused)
    return TPRT_OK;
  size_t hint = (size_t)__builtin_ctz(refused);
  const char *key = tprt_hint_key(hint, NULL, NULL);
  if (backend->hints & 1u << hint)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "hint %s: with backend %s it is set for the world, whose connections the "
                      "other communicators share",
                      key, backend->name);
  char names[128];
  tprt_hint_backends(hint, names, sizeof names);
  return tprt__fail(TPRT_UNSUPPORTED, "hint %s: backend %s cannot obey it; these can: %s", key,
                    backend->name, names);
}

static tprt_status refuse_stream(const tprt__transport *transport, const char *what) {
  return tprt__fail(TPRT_UNSUPPORTED, "%s: backend %s works on host memory and takes no stream",
                    what, transport->backend->name);
}

tprt_status tprt__accept_host(const tprt__transport *transport, const tprt__plan *plan, bool told) {
  (void)told;
  return plan->stream ? refuse_stream(transport, tprt_op_kind_name(plan->kind)) : TPRT_OK;
}

tprt_status tprt__no_launch(tprt__transport *transport, const tprt__plan *plans, size_t n,
                            uint32_t sequence, int64_t deadline, tprt__done_fn *done, void *user) {
  (void)n;
  (void)sequence;
  (void)deadline;
  (void)done;
  (void)user;
  return refuse_stream(transport, tprt_op_kind_name(plans->kind));
}

void tprt__settle_noop(tprt__transport *transport) { (void)transport; }

tprt_status tprt__no_record(tprt__transport *transport, void *stream, int64_t deadline,
                            tprt__done_fn *done, void *user, tprt__stream_mark **mark) {
  (void)stream;
  (void)deadline;
  (void)done;
  (void)user;
  (void)mark;
  return refuse_stream(transport, "event");
}

tprt_status tprt__no_hold(tprt__transport *transport, void *stream, const tprt__stream_mark *mark) {
  (void)stream;
  (void)mark;
  return refuse_stream(transport, "event");
}

tprt_status tprt__heap_alloc(tprt__transport *transport, size_t bytes, void **memory) {
  (void)transport;
  return tprt__alloc_aligned(bytes, memory);
}

void tprt__heap_free(tprt__transport *transport, void *memory) {
  (void)transport;
  tprt__free_aligned(memory);
}

uint64_t tprt__no_offset(const tprt__transport *transport, const void *memory) {
  (void)transport;
  (void)memory;
  return 0;
}

tprt_status tprt__fault_fail(const tprt__fault *fault) {
  static const char *const did[] = {
      [TPRT_MISMATCH] = "submitted a different operation",
      [TPRT_TIMEOUT] = "did not arrive in time",
      [TPRT_PEER_DEAD] = "ended or destroyed its communicator",
      [TPRT_ABORTED] = "aborted the communicator",
      [TPRT_PROGRAM] = "failed an assertion of the program",
  };
  size_t i = (size_t)fault->status;
  const char *text = i < sizeof did / sizeof *did && did[i] ? did[i] : "failed";
  const char *kind = tprt_op_kind_name(fault->kind);
  if (fault->rank == TPRT__NO_RANK && !kind && !fault->sequence)
    return tprt__fail(
        fault->status,
        "a launched graph, a split or a window did not finish in time; it is not known which rank "
        "is late");
  if (fault->rank == TPRT__NO_RANK)
    return tprt__fail(
        fault->status,
        "operation %u, %s, did not finish in time; it is not known which rank is late",
        fault->sequence, kind ? kind : "of the library");
  if (!kind)
    return tprt__fail(fault->status, "rank %d %s", fault->rank, text);
  return tprt__fail(fault->status, "rank %d %s (operation %u, %s)", fault->rank, text,
                    fault->sequence, kind);
}
