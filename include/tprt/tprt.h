/* tprt: communication between the ranks of a sharded program.
 *
 * A communicator (tprt_comm) connects n ranks, numbered 0 .. n-1. Every rank holds its own handle.
 * A rank is a thread or a process; the calls are the same. An operation is described by a tprt_op
 * and passed to tprt_submit; tprt_all_reduce, tprt_all_gather, ... are thin wrappers around that.
 *
 * Shapes. Tensors are dense and row-major. The `shape` of an op is the shape of one rank's send
 * tensor; all ranks pass the same one. Pointers need no alignment. Counts are elements, sizes are
 * bytes, times are nanoseconds.
 *
 * Order. All ranks submit the same operations in the same order on one communicator. Each op
 * carries a signature (sequence number, kind, dtype, reduction, root, shape). If the signatures
 * differ, all ranks get TPRT_MISMATCH before data moves.
 *
 * Results. Reductions run in rank order 0 .. n-1; f16 and bf16 are accumulated in f32 and rounded
 * once. Results are therefore bitwise equal on all ranks and do not depend on how messages are
 * split. On several hosts, tcp, fabric and mpi add the ranks of each host first and then the hosts,
 * unless hint deterministic is set. Backend nccl adds in NCCL's order, and rounds at every step.
 *
 * Errors. A function that can fail returns a tprt_status; outputs come last and are written only on
 * success. tprt_last_error() returns the text. Invalid arguments leave a communicator unchanged.
 * Every other failure of an operation is sticky: the communicator stays failed, the peers are
 * notified, and later calls return the first status (TPRT_INVALID_STATE after an abort). The
 * library never exits, aborts the process or prints, unless tprt_comm_config.on_failure or
 * TPRT_ON_FAILURE=abort in the environment asks for it.
 *
 * Settings. A communicator has a configuration (tprt_comm_config), and hints can be given to
 * operations, too. A backend refuses what it cannot obey.
 *
 * Time. Every wait ends after a timeout, counted from submission: that of the op, else of the
 * communicator, else TPRT_TIMEOUT of the environment, else 600 s.
 *
 * Threads. All functions on a tprt_comm may be called from any thread; submissions to one
 * communicator are executed one after the other. Destroy an object from one thread, while no other
 * thread uses it.
 *
 * Ownership. ..._create and ..._split return an object that the caller destroys. A result
 * documented as "borrowed" must not be destroyed. */
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
