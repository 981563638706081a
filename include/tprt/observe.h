/* Observing a communicator: hooks, the NaN check, the flight recorder, hints, capabilities. */
#ifndef TPRT_OBSERVE_H
#define TPRT_OBSERVE_H

#include "tprt/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Description of an operation, as passed to hooks. */
typedef struct tprt_op_info {
  tprt_op_kind kind;
  tprt_dtype dtype; /* 0: none */
  tprt_reduction reduction;
  uint32_t sequence; /* counts the collectives of the communicator; the same on all ranks */
  int32_t root, peer, tag;
  int64_t bytes; /* size of this rank's send tensor; for recv, of its recv tensor */
  int64_t timeout_ns;
  bool deterministic;
  void *stream; /* NULL: none was named */
} tprt_op_info;

/* Callbacks. The thread that runs the operation calls them and waits for them, unless stated
 * otherwise. They must not use the communicator. NULL: not called. */
typedef struct tprt_hooks {
  size_t size; /* sizeof(tprt_hooks) */
  /* Before and after the call that runs the operation, or that enqueues it in a stream. */
  void (*pre)(void *user, tprt_comm *comm, const tprt_op_info *op);
  void (*post)(void *user, tprt_comm *comm, const tprt_op_info *op, tprt_status status, int64_t ns);
  /* Called when the communicator fails or is aborted for the first time. From any thread; `text`
   * describes the failure. */
  void (*failed)(void *user, tprt_comm *comm, tprt_status status, const char *text);
  void *user;
  /* The operation begins: the checks before it have passed, and data may move from now on. In a
   * stream: it is enqueued, and begins when the device gets there. */
  void (*start)(void *user, tprt_comm *comm, const tprt_op_info *op);
  /* The operation has ended, `ns` after its start, also in a stream; then from any thread. Every
   * start has one end. */
  void (*end)(void *user, tprt_comm *comm, const tprt_op_info *op, tprt_status status, int64_t ns);
  /* Called before `failed` when a rank (of the world) has aborted the communicator. From any
   * thread. */
  void (*abort)(void *user, tprt_comm *comm, int rank);
  /* A schedule is about to run for the `run`-th time; `hash` is its tprt_schedule_hash. Its
   * operations follow, each with its own hooks. The thread that calls tprt_schedule_run calls it.
   * Graphs that the caller replays run without the library. */
  void (*replay)(void *user, tprt_comm *comm, uint64_t hash, uint64_t run);
} tprt_hooks;
/* Replaces the hooks of this rank's handle, between two operations; NULL removes them. Waits for
 * operations in streams, so that the old hooks are not called any more. */
TPRT_API tprt_status tprt_comm_set_hooks(tprt_comm *comm, const tprt_hooks *hooks);

/* Changes a hint of a communicator: see tprt_hint in comm.h for those that can change (L). It
 * applies to this rank's handle, from the next operation on. */
TPRT_API tprt_status tprt_comm_set_hint(tprt_comm *comm, const char *key, const char *value);

typedef enum tprt_flight_format {
  /* {"comm", "rank", "size", "world_rank", "world", "process", "ranks", "backend", "status",
   * "error", "time_ns", "fault": {"status", "rank", "sequence", "kind"} (the rank of the world that
   * caused the failure; left out if nothing failed), "config": {"on_failure", "hints": {...}},
   * "ops": [...]}, oldest first. `ranks` are the ranks of the world. `world` and `process` are
   * numbers, in hexadecimal, that no other world and process has; `world` is 0 where its ranks have
   * none in common. Times are those of the host's monotonic clock */
  TPRT_FLIGHT_JSON = 1,
  TPRT_FLIGHT_TRACE = 2, /* the trace event format of Chrome and Perfetto */
} tprt_flight_format;
/* Writes the contents of the flight recorder, in pieces. From any thread, even while an operation
 * hangs. An operation has status "in progress" until it has ended; in a stream, until the device
 * has finished it.
 *
 * With TPRT_FLIGHT_DIR, or tprt_comm_config.flight_dir, a communicator that fails writes it as JSON
 * to the file rank-R-comm-K.json of that directory: R is the rank in the world, and K counts the
 * communicators of the process. `shard-run flight DIRECTORY` reads the files that all ranks of the
 * newest run wrote, and says which rank is missing in which operation. A file that cannot be
 * written is reported to the logger. */
TPRT_API tprt_status tprt_comm_flight(tprt_comm *comm, tprt_flight_format format,
                                      void (*write)(void *user, const char *text, size_t n),
                                      void *user);

/* Optional features of a backend; tprt_capability_name describes them. */
typedef enum tprt_capability {
  TPRT_CAP_THREADS = 1 << 0,
  TPRT_CAP_PROCESSES = 1 << 1,
  TPRT_CAP_REGISTERED = 1 << 2,
  TPRT_CAP_COLLECTIVES = 1 << 3,
  TPRT_CAP_PIECES = 1 << 4,
  TPRT_CAP_TRANSFERS = 1 << 5,
  TPRT_CAP_TAGS = 1 << 6,
  TPRT_CAP_WINDOWS = 1 << 7,
  TPRT_CAP_USER_MEMORY = 1 << 8,
  TPRT_CAP_RECOVERY = 1 << 9,
  TPRT_CAP_STREAMS = 1 << 10,
  TPRT_CAP_MAPPED = 1 << 11,
  TPRT_CAP_HOST_MEMORY = 1 << 12,
  TPRT_CAP_GPU_PROGRAMS = 1 << 13,
  TPRT_CAP_ELASTIC = 1 << 14,
} tprt_capability;
/* Bits of tprt_capability. */
TPRT_API uint32_t tprt_comm_capabilities(const tprt_comm *comm);
/* Returns the capabilities of the i-th backend, and its one-line summary in *summary, which may be
 * NULL; 0 past the last. */
TPRT_API uint32_t tprt_backend_capabilities(size_t i, const char **summary);
/* Returns why the i-th backend lacks the capability of bit `bit`; NULL if it has the capability,
 * and if there is no such backend or bit. */
TPRT_API const char *tprt_backend_lack(size_t i, int bit);
/* Checks whether the i-th backend can work on this machine. TPRT_UNSUPPORTED, with the reason as
 * error text, if a library or a device is missing. TPRT_INVALID_ARGUMENT past the last. */
TPRT_API tprt_status tprt_backend_probe(size_t i);
/* Returns the name of bit i, with its meaning in *help, which may be NULL; NULL past the last. */
TPRT_API const char *tprt_capability_name(int i, const char **help);

#ifdef __cplusplus
}
#endif
#endif
