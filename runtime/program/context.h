/* Contexts of compiled programs: the programs of one rank, their sites, and the first error. */
#ifndef TPRT_RUNTIME_PROGRAM_CONTEXT_H
#define TPRT_RUNTIME_PROGRAM_CONTEXT_H

#include "comm/comm.h"
#include "program/table.h"

/* ---- trace.c: records the calls of a program ---- */

/* The calls of a context: a ring buffer of the last ones for the trace file, off while `ring` is
 * NULL, and the array of tprt_context_record, off while `kept` is NULL. Used only by the context's
 * thread. */
typedef struct tprt__trace {
  const char *path;
  tprt_call *ring, *kept;
  uint64_t n_seen;
  int64_t n_kept, capacity; /* n_kept also counts calls that did not fit */
} tprt__trace;

/* Starts tracing if TPRT_TRACE is set. */
tprt_status tprt__trace_begin(tprt__trace *trace);
void tprt__trace_add(tprt__trace *trace, const tprt_call *call);
/* Writes the trace file if tracing is on, and frees the ring buffer. */
void tprt__trace_end(tprt__trace *trace, int rank, int n_ranks);

/* ---- contexts ---- */

/* State of a site of a bound program. */
typedef struct tprt__site_state {
  tprt_comm *comm; /* borrowed from the world; NULL for sites that do not communicate */
  tprt__plan plan; /* without buffers */
  tprt_site_stats stats;
  bool started; /* started with `send` and `recv`, and not yet waited for */
  const void *send;
  void *recv;
  int64_t started_ns;
  void *own; /* state of the executor; NULL: none */
} tprt__site_state;

/* A program that is bound to a context. */
typedef struct tprt__bound {
  struct tprt__bound *next;
  tprt__program program;
  void *private_block, *registered;
  tprt__site_state *sites;
  void *own; /* state of the executor; NULL: none */
} tprt__bound;

struct tprt_context {
  tprt_comm *world;
  const struct tprt__executor *executor;
  void *own; /* state of the executor */
  tprt_status status;
  char error[512];
  tprt__bound *programs, *current;
  tprt__trace trace;
};

/* ---- context.c ---- */
/* Records the first failure, with the thread's last error text, and ends the operations of all
 * peers. If `comm` is not NULL, the failure occurred on it: its fault names the responsible rank,
 * which may be another one. Returns the context's status. */
int32_t tprt__context_fail(tprt_context *context, tprt_status status, const tprt_comm *comm);
/* Collective. Returns TPRT_MISMATCH unless `word` is the same on all ranks; `what` completes the
 * message "rank 0 and rank 1 ...". */
tprt_status tprt__compare_words(tprt_context *context, uint64_t word, const char *what);

/* ---- calls.c ---- */
/* Runs the collective of a site on host memory, until it completes. */
tprt_status tprt__site_collective(const tprt__site_state *state, const void *send, void *recv);

#endif
