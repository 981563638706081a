/* Runtime settings. A field of the configuration struct overrides the environment variable, which
 * overrides the default. */
#ifndef TPRT_RUNTIME_ENV_H
#define TPRT_RUNTIME_ENV_H

#include "base/hints.h"
#include "tprt/bootstrap.h"

typedef enum tprt__env_id {
  TPRT__ENV_BACKEND,
  TPRT__ENV_SIZE,
  TPRT__ENV_RANK,
  TPRT__ENV_SEGMENT_FD,
  TPRT__ENV_STORE,
  TPRT__ENV_SPARES,
  TPRT__ENV_SPARE,
  TPRT__ENV_END_WITH_LAUNCHER,
  TPRT__ENV_JOB,
  TPRT__ENV_EPOCH,
  TPRT__ENV_SECRET_FILE,
  TPRT__ENV_SECRET_FD,
  TPRT__ENV_INSECURE,
  TPRT__ENV_ADDRESS,
  TPRT__ENV_TCP_MEMORY,
  TPRT__ENV_TIMEOUT,
  TPRT__ENV_SLOT_BYTES,
  TPRT__ENV_ARENA_BYTES,
  TPRT__ENV_MAX_COMMS,
  TPRT__ENV_ON_FAILURE,
  TPRT__ENV_FLIGHT,
  TPRT__ENV_FLIGHT_DIR,
  TPRT__ENV_TRACE,
  TPRT__ENV_PROGRESS,
  TPRT__ENV_FABRIC_LIBRARY,
  TPRT__ENV_FABRIC_PROVIDER,
  TPRT__ENV_MPI_LIBRARY,
  TPRT__ENV_CUDA_LIBRARY,
  TPRT__ENV_BLASLT_LIBRARY,
  TPRT__ENV_TIMED_GEMM,
  TPRT__ENV_HOPPER_ATTENTION,
  TPRT__ENV_ATTENTION,
  TPRT__ENV_CUDNN_LIBRARY,
  TPRT__ENV_NCCL_LIBRARY,
  TPRT__ENV_NCCL_CHECK,
  TPRT__ENV_NCCL_RELAXED,
  TPRT__ENV_DEVICE,
  TPRT__ENV_GEMM,
  TPRT__ENV_BLAS_LIBRARY,
  TPRT__ENV_BLAS_THREADS,
  TPRT__N_ENV,
} tprt__env_id;

/* Values of TPRT_GEMM */
enum { TPRT__GEMM_AUTO, TPRT__GEMM_BUILT_IN, TPRT__GEMM_OPENBLAS };
/* Values of TPRT_ATTENTION */
enum { TPRT__ATTENTION_OWN, TPRT__ATTENTION_CUDNN, TPRT__ATTENTION_TIMED };

/* Warns of variables TPRT_... that are not in the table, such as misspelled ones; once in a
 * process. */
void tprt__env_warn_of_names(void);

/* Returns the text of a variable, else its default. NULL if it has neither. */
const char *tprt__env_text(tprt__env_id id);
/* Returns the value of a variable, parsed as its type in the table: int, count, bytes (suffix K, M
 * or G), seconds (returned in nanoseconds), switch (0 or 1), policy (1 for abort, else 0), gemm and
 * attention (one of the values above), priority (a tprt__priority), class (0 to 255). `absent` is
 * the result for a variable that is unset and has no default. */
tprt_status tprt__env_number(tprt__env_id id, int64_t absent, int64_t *value);

/* Parses a text as one of these types. `what` and `name` identify it in the error message, e.g.
 * "hint" and the key of the hint. */
tprt_status tprt__parse(const char *type, const char *what, const char *name, const char *text,
                        int64_t *value);

/* A tprt_config with every field resolved. */
typedef struct tprt__settings {
  const char *backend;
  int64_t timeout_ns;
  size_t slot_bytes, arena_bytes;
  int max_comms;
  tprt__comm_settings comm; /* of the world's communicator */
  int segment_fd;           /* -1: none */
  tprt_store *store;        /* NULL: none */
} tprt__settings;

/* Resolves all settings, and checks the values of all variables. `config` may be NULL. */
tprt_status tprt__settings_resolve(const tprt_config *config, tprt__settings *settings);

#endif
