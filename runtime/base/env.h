/* Settings: configuration struct over environment over default. */
#ifndef TPRT_RUNTIME_ENV_H
#define TPRT_RUNTIME_ENV_H

#include "base/base.h"
#include "tprt/bootstrap.h"

typedef enum tprt__env_id {
  TPRT__ENV_BACKEND,
  TPRT__ENV_SIZE,
  TPRT__ENV_RANK,
  TPRT__ENV_SEGMENT_FD,
  TPRT__ENV_STORE,
  TPRT__ENV_JOB,
  TPRT__ENV_EPOCH,
  TPRT__ENV_SECRET_FILE,
  TPRT__ENV_SECRET_FD,
  TPRT__ENV_INSECURE,
  TPRT__ENV_ADDRESS,
  TPRT__ENV_TIMEOUT,
  TPRT__ENV_SLOT_BYTES,
  TPRT__ENV_ARENA_BYTES,
  TPRT__ENV_MAX_COMMS,
  TPRT__ENV_ON_FAILURE,
  TPRT__ENV_FLIGHT,
  TPRT__ENV_TRACE,
  TPRT__ENV_PROGRESS,
  TPRT__ENV_MPI_LIBRARY,
  TPRT__ENV_CUDA_LIBRARY,
  TPRT__ENV_BLASLT_LIBRARY,
  TPRT__ENV_NCCL_LIBRARY,
  TPRT__ENV_NCCL_CHECK,
  TPRT__ENV_NCCL_RELAXED,
  TPRT__ENV_DEVICE,
  TPRT__ENV_GEMM,
  TPRT__ENV_BLAS_LIBRARY,
  TPRT__ENV_BLAS_THREADS,
  TPRT__N_ENV,
} tprt__env_id;

/* Values of TPRT_GEMM. */
enum { TPRT__GEMM_AUTO, TPRT__GEMM_BUILT_IN, TPRT__GEMM_OPENBLAS };

/* The text of a variable or of its default; NULL when it has neither. */
const char *tprt__env_text(tprt__env_id id);
/* Its value by the type in the table: int, count, bytes (suffix K, M, G), seconds (in nanoseconds),
 * switch (0 or 1), gemm (one of the above). A variable that is unset and has no default gives
 * `absent`. */
tprt_status tprt__env_number(tprt__env_id id, int64_t absent, int64_t *value);

/* The value of a text by one of those types; what it belongs to, e.g. "hint" and its key, is for
 * the message. */
tprt_status tprt__parse(const char *type, const char *what, const char *name, const char *text,
                        int64_t *value);

/* A tprt_config with every field filled in. */
typedef struct tprt__settings {
  const char *backend;
  int64_t timeout_ns;
  size_t slot_bytes, arena_bytes;
  int max_comms;
  size_t flight;
  int segment_fd;    /* -1: none */
  tprt_store *store; /* NULL: none */
} tprt__settings;

/* `config` may be NULL. */
tprt_status tprt__settings_resolve(const tprt_config *config, tprt__settings *settings);

#endif
