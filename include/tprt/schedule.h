/* Schedules: lists of operations that are checked once and run many times; and what operations
 * cost. */
#ifndef TPRT_SCHEDULE_H
#define TPRT_SCHEDULE_H

#include "tprt/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tprt_schedule tprt_schedule;

/* Records n operations, which are as in tprt_submit_batch; buffers are those of the ops at every
 * run. Collective over `comm`, which the schedule borrows: the ranks compare a hash of their
 * collective operations, and all get TPRT_MISMATCH, without harm to the communicator, if one has
 * others. */
TPRT_API tprt_status tprt_schedule_create(tprt_comm *comm, const tprt_op *ops, size_t n,
                                          tprt_schedule **schedule);
/* Runs it, like tprt_submit_batch. The schedule lives until the work is done. */
TPRT_API tprt_status tprt_schedule_run(tprt_schedule *schedule, tprt_work **work);
/* The hash, equal on all ranks. */
TPRT_API uint64_t tprt_schedule_hash(const tprt_schedule *schedule);
TPRT_API void tprt_schedule_destroy(tprt_schedule *schedule);

/* time = n_steps * alpha + bytes * beta, in a model of the backend with constants of the
 * machine. */
typedef struct tprt_estimate {
  size_t size;            /* sizeof(tprt_estimate), set by the caller */
  const char *algorithm;  /* of the last operation, e.g. "two phases"; static storage */
  int64_t alpha_ps;       /* of one meeting of the ranks, picoseconds */
  int64_t beta_ps_per_kb; /* of 1024 bytes that a rank reads or writes */
  int64_t n_steps, bytes; /* summed over the operations */
  int64_t ns;
} tprt_estimate;

/* What n operations, one after the other, would cost. Nothing runs, no peer is asked, and pointers
 * need not be set: those that are decide whether memory counts as registered. */
TPRT_API tprt_status tprt_estimate_ops(const tprt_comm *comm, const tprt_op *ops, size_t n,
                                       tprt_estimate *estimate);

/* Measures the constants of the model on this communicator, some milliseconds, instead of those
 * built in. Collective; all ranks get the same. */
TPRT_API tprt_status tprt_comm_calibrate(tprt_comm *comm);

#ifdef __cplusplus
}
#endif
#endif
