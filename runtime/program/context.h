/* Contexts of compiled programs: one rank's programs, their sites, and the first error. */
#ifndef TPRT_RUNTIME_PROGRAM_CONTEXT_H
#define TPRT_RUNTIME_PROGRAM_CONTEXT_H

#include "comm/comm.h"
#include "program/table.h"

/* ---- trace.c: records the calls of a program ---- */

typedef enum tprt__call_kind { TPRT__CALL_RUN, TPRT__CALL_START, TPRT__CALL_WAIT } tprt__call_kind;

typedef struct tprt__call {
  tprt__call_kind kind;
  int32_t site;
  tprt_site_kind what;
  int64_t begin_ns, end_ns;
  /* Of a wait: when the collective ran, in whatever thread. */
  int64_t ran_ns, ended_ns;
} tprt__call;

/* The last calls of a context; off while ring is NULL. Belongs to the context's thread. */
typedef struct tprt__trace {
  const char *path;
  tprt__call *ring;
  uint64_t n_seen;
} tprt__trace;

/* Reads TPRT_TRACE. */
tprt_status tprt__trace_begin(tprt__trace *trace);
void tprt__trace_add(tprt__trace *trace, const tprt__call *call);
/* Writes the file, if there is one to be written, and frees. */
void tprt__trace_end(tprt__trace *trace, int rank, int n_ranks);

/* ---- contexts ---- */

/* A site of a program that is bound to a context. */
typedef struct tprt__site_state {
  tprt_comm *comm; /* borrowed from the world; NULL for sites that do not communicate */
  tprt__plan plan; /* without buffers */
  tprt_site_stats stats;
  bool started; /* and not waited for, with these buffers */
  const void *send;
  void *recv;
  int64_t started_ns;
  void *own; /* the executor's; NULL: nothing */
} tprt__site_state;

/* A program on a context. */
typedef struct tprt__bound {
  struct tprt__bound *next;
  tprt__program program;
  void *private_block, *registered;
  tprt__site_state *sites;
  void *own; /* the executor's; NULL: nothing */
} tprt__bound;

struct tprt_context {
  tprt_comm *world;
  const struct tprt__executor *executor;
  void *own; /* the executor's */
  tprt_status status;
  char error[512];
  tprt__bound *programs, *current;
  tprt__trace trace;
};

/* ---- context.c ---- */
/* Records the first failure (text: the thread's last error) and ends the operations of all peers.
 * `comm`, if not NULL, is where it happened: its fault names the culprit, which may be another
 * rank. Returns the context's status. */
int32_t tprt__context_fail(tprt_context *context, tprt_status status, const tprt_comm *comm);
/* Collective: TPRT_MISMATCH unless all ranks have the same word; `what` ends the message "rank 0
 * and rank 1 ...". */
tprt_status tprt__compare_words(tprt_context *context, uint64_t word, const char *what);

/* ---- calls.c ---- */
/* Runs the collective of a site to its end, on memory of the host. */
tprt_status tprt__site_collective(const tprt__site_state *state, const void *send, void *recv);

#endif
