/* tprt: communication between the ranks of a sharded program.
 *
 * A communicator (tprt_comm) joins n ranks, numbered 0 .. n-1. Every rank holds its own handle. A
 * rank is a thread or a process; the same calls serve both. An operation is described by a tprt_op
 * and handed to tprt_submit; the functions tprt_all_reduce, tprt_all_gather, ... are thin wrappers
 * around that.
 *
 * Shapes. Tensors are dense and row-major. `shape` of an op is the shape of the send tensor of one
 * rank; all ranks pass the same one. Pointers need no alignment. Counts are elements, sizes are
 * bytes, times are nanoseconds.
 *
 * Order. All ranks submit the same operations in the same order on one communicator. Each op
 * carries a signature (sequence number, kind, dtype, reduction, root, shape); ranks that disagree
 * all get TPRT_MISMATCH before data moves.
 *
 * Results. Reductions run in rank order 0 .. n-1, f16 and bf16 are accumulated in f32 and rounded
 * once: the bits of a result are the same on all ranks and do not depend on how messages were cut.
 * Backend nccl adds in NCCL's order, and rounds at every step.
 *
 * Errors. A function that can fail returns a tprt_status; outputs come last and are written only on
 * success. tprt_last_error() has the text. Invalid arguments leave a communicator as it was; every
 * other failure of an operation is sticky: the communicator stays failed, the peers learn of it,
 * and later calls return the first status (TPRT_INVALID_STATE after an abort). Nothing here exits,
 * aborts the process or prints, unless the environment has TPRT_ON_FAILURE=abort.
 *
 * Time. Every wait ends by the op's timeout, else the communicator's, else TPRT_TIMEOUT of the
 * environment, else 600 s, counted from submission.
 *
 * Threads. All functions on a tprt_comm may be called from any thread; submissions of one
 * communicator are executed one after the other. Destroying an object is for one thread, when no
 * other uses it.
 *
 * Ownership. ..._create and ..._split give an object that the caller destroys; a function that says
 * "borrowed" does not. */
#ifndef TPRT_TPRT_H
#define TPRT_TPRT_H

#include "tprt/bootstrap.h"
#include "tprt/comm.h"
#include "tprt/event.h"
#include "tprt/observe.h"
#include "tprt/ops.h"
#include "tprt/schedule.h"
#include "tprt/types.h"
#include "tprt/window.h"

#endif
