/* Programs of collectives, for ranks on GPUs and on the host, with their results. */
#ifndef COLLECTIVE_CASES_H
#define COLLECTIVE_CASES_H

#include "test/runtime/harness/table.h"
#include "tprt/tprt.h"

#include <pthread.h>

enum { MOST_RANKS = 5, MOST_SITES = 200, MOST_DIMS = 3 };

/* A test site. A dimension of -k is k times the number of ranks. */
typedef struct row {
  tprt_site_kind kind;
  tprt_dtype dtype;
  tprt_reduction reduction;
  int64_t shape[MOST_DIMS]; /* ends at 0 */
  int dim, split;
  enum { APART, IN_PLACE, IN_OWN_PLACE } way; /* placement of the tensors */
  enum { RING, HALF } pairs;
  bool whole; /* group over all axes, else over the second */
} row;

typedef struct program {
  int n_ranks, n_inner; /* ranks along all axes, and along the second */
  int n_sites;
  row rows[MOST_SITES];
  test_table tables[2]; /* by target */
} program;

program *make_empty(int n_outer, int n_inner);
/* Returns a program of a site of every kind and shape. `all`: also of every type and reduction. */
program *make_program(int n_outer, int n_inner, bool all);
void free_program(program *p);
void add_site(program *p, const row *r);
/* Returns the bytes of the result of a site. */
size_t recv_bytes(const program *p, const row *r);

/* Order of reads: all work of two ranks is enqueued before one of them reads its result, and the
 * other one reads after that. */
typedef struct turns {
  int first;
  pthread_barrier_t enqueued, read;
} turns;

typedef struct rank {
  pthread_t thread;
  const program *p;
  tprt_comm *world;
  tprt_target target;
  bool splits; /* uses two calls: start and wait */
  int ahead;   /* the rank whose thread arrives last and continues first; -1: any */
  int number;
  turns *turns; /* NULL: each reads as soon as it can */
  tprt_status status;
  char error[256];
  tprt_site_stats stats[MOST_SITES];
  unsigned char *results[MOST_SITES];
} rank;

/* Runs the program on a new world of threads, and leaves results and failures in `ranks`. */
void run_in_turns(const program *p, tprt_target target, const char *backend, bool splits, int ahead,
                  turns *reads, rank *ranks);
void free_results(const program *p, rank *ranks);

#endif
