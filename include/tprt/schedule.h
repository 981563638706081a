/* Schedules: lists of operations that are checked once and run many times. Also cost estimates of
 * operations. */
#ifndef TPRT_SCHEDULE_H
#define TPRT_SCHEDULE_H

#include "tprt/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tprt_schedule tprt_schedule;

/* Records n operations, described as for tprt_submit_batch. Every run uses the buffers of the
 * recorded ops. Collective over `comm`, which the schedule borrows: the ranks compare a hash of
 * their collectives. If one differs, all get TPRT_MISMATCH and the communicator stays usable. */
TPRT_API tprt_status tprt_schedule_create(tprt_comm *comm, const tprt_op *ops, size_t n,
                                          tprt_schedule **schedule);
/* Runs the schedule, like tprt_submit_batch. The schedule must outlive the work. */
TPRT_API tprt_status tprt_schedule_run(tprt_schedule *schedule, tprt_work **work);
/* Returns the hash, equal on all ranks. */
TPRT_API uint64_t tprt_schedule_hash(const tprt_schedule *schedule);
TPRT_API void tprt_schedule_destroy(tprt_schedule *schedule);

/* A cost estimate: time = n_steps * alpha + bytes * beta, from a model of the backend with
 * constants of the machine. */
typedef struct tprt_estimate {
  size_t size;            /* sizeof(tprt_estimate), set by the caller */
  const char *algorithm;  /* of the last operation, e.g. "two phases"; static storage */
  int64_t alpha_ps;       /* cost of one synchronization of the ranks, picoseconds */
  int64_t beta_ps_per_kb; /* cost of 1024 bytes that a rank reads or writes, picoseconds */
  int64_t n_steps, bytes; /* summed over the operations */
  int64_t ns;
} tprt_estimate;

/* Estimates the cost of n operations that run one after the other. Nothing runs and no peer is
 * contacted. Pointers need not be set; those that are set determine whether memory counts as
 * registered. */
TPRT_API tprt_status tprt_estimate_ops(const tprt_comm *comm, const tprt_op *ops, size_t n,
                                       tprt_estimate *estimate);

/* Measures the constants of the model on this communicator, to replace the built-in ones. Takes
 * some milliseconds. Collective; all ranks get the same constants. */
TPRT_API tprt_status tprt_comm_calibrate(tprt_comm *comm);

#ifdef __cplusplus
}
#endif
#endif
