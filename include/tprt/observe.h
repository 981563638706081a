/* Looking at what a communicator does: hooks, the check for NaNs, the flight recorder, hints,
 * capabilities. */
#ifndef TPRT_OBSERVE_H
#define TPRT_OBSERVE_H

#include "tprt/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An operation as hooks see it. */
typedef struct tprt_op_info {
  tprt_op_kind kind;
  tprt_dtype dtype; /* 0: none */
  tprt_reduction reduction;
  uint32_t sequence; /* counts the collective operations of the communicator; equal on all ranks */
  int32_t root, peer, tag;
  int64_t bytes; /* of this rank's send tensor, for recv of its recv tensor */
} tprt_op_info;

/* Called by the thread that runs the operation, which waits; they must not use the communicator.
 * NULL: not called. */
typedef struct tprt_hooks {
  size_t size; /* sizeof(tprt_hooks) */
  void (*pre)(void *user, tprt_comm *comm, const tprt_op_info *op);
  void (*post)(void *user, tprt_comm *comm, const tprt_op_info *op, tprt_status status, int64_t ns);
  /* The communicator fails, or is aborted, for the first time. From any thread; `text` is that of
   * the failure. */
  void (*failed)(void *user, tprt_comm *comm, tprt_status status, const char *text);
  void *user;
} tprt_hooks;
/* Replaces the hooks of this rank's handle between two operations; NULL removes them. */
TPRT_API tprt_status tprt_comm_set_hooks(tprt_comm *comm, const tprt_hooks *hooks);

/* Settings of a communicator as text, for this rank's handle, from the next operation on:
 *   timeout    seconds   deadline of operations
 *   nan_check  0 or 1    a NaN in what this rank sends fails the operation with TPRT_PROGRAM
 *   flight     count     operations that the flight recorder keeps; 0 ends it    (TPRT_FLIGHT)
 * An unknown key is TPRT_INVALID_ARGUMENT; the message lists the known ones. */
TPRT_API tprt_status tprt_comm_set_hint(tprt_comm *comm, const char *key, const char *value);

typedef enum tprt_flight_format {
  /* {"comm", "rank", "size", "backend", "status", "error", "ops": [...]}, oldest first */
  TPRT_FLIGHT_JSON = 1,
  TPRT_FLIGHT_TRACE = 2, /* the trace events of Chrome and Perfetto */
} tprt_flight_format;
/* Writes what the flight recorder has, in pieces. From any thread, also while an operation
 * hangs. */
TPRT_API tprt_status tprt_comm_flight(tprt_comm *comm, tprt_flight_format format,
                                      void (*write)(void *user, const char *text, size_t n),
                                      void *user);

/* What a backend can do. */
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
} tprt_capability;
/* Bits of tprt_capability. */
TPRT_API uint32_t tprt_comm_capabilities(const tprt_comm *comm);
/* Of the i-th backend, with *summary, which may be NULL, its one line of text; 0 behind the
 * last. */
TPRT_API uint32_t tprt_backend_capabilities(size_t i, const char **summary);
/* Why the i-th backend has not what bit `bit` stands for; NULL where it has it, and where there is
 * no such backend or bit. */
TPRT_API const char *tprt_backend_lack(size_t i, int bit);
/* Whether the i-th backend can work on this machine; TPRT_UNSUPPORTED with the reason as the error
 * text where a library or a device is missing. TPRT_INVALID_ARGUMENT behind the last. */
TPRT_API tprt_status tprt_backend_probe(size_t i);
/* Name of bit i, with its meaning in *help, which may be NULL; NULL behind the last. */
TPRT_API const char *tprt_capability_name(int i, const char **help);

#ifdef __cplusplus
}
#endif
#endif
