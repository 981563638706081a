/* Jobs whose processes come and go: a process that serves an open store, ranks, and spares. */
#ifndef TPRT_TEST_JOBS_H
#define TPRT_TEST_JOBS_H

#include "test/runtime/bootstrap/stores.h"

#include <stdatomic.h>

/* A sanitizer, which keeps maps and memory for itself. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define JOB_SANITIZED true
#else
#define JOB_SANITIZED false
#endif

enum { JOB_MOST_RANKS = 8, JOB_MOST_SPARES = 4 };

/* What the processes of a job share. */
typedef struct job_board {
  _Atomic int pid[JOB_MOST_RANKS]; /* of the first ranks */
  _Atomic int n_created;           /* first ranks that have the first world */
  _Atomic int marks[8];            /* for the functions of a test */
} job_board;

typedef struct test_job {
  int n_ranks, n_spares;
  /* The function of a rank of the first epoch, and that of a spare; both destroy `comm`. A spare
   * calls tprt_comm_join itself. They return the number of errors. */
  int (*rank)(struct test_job *job, tprt_comm *comm, tprt_config *config);
  int (*spare)(struct test_job *job, int number, tprt_config *config);
  int kind; /* of the store: STORE_UNIX, STORE_TCP or STORE_FILE */
  int parameter;
  int seconds;                 /* after which it counts as hung; 0: 60 */
  const char *name;            /* of the communicator; NULL: "world" */
  const unsigned char *secret; /* NULL: none */
  char address[128];
  job_board *board;
  int spare_status[JOB_MOST_SPARES]; /* how the spares ended, as of waitpid */
} test_job;

/* Runs a job until all its processes have ended. Returns the number of ranks and spares that
 * failed, without those that were killed by SIGKILL, plus one for each that hung. */
int job_run(test_job *job);

/* Opens the store of the job as one of its processes. */
tprt_status job_open(const test_job *job, const unsigned char *secret, tprt_store **store);

/* Starts and ends the process that serves the store, for tests that start the others themselves. */
pid_t job_serve(test_job *job);
void job_end(test_job *job, pid_t server);

/* Runs operations of all kinds and checks their results; returns the number of errors. */
int job_check(tprt_comm *comm);
/* What this process has open. */
typedef struct job_holdings {
  int descriptors, maps, threads;
} job_holdings;
job_holdings job_holds(void);

/* Checks that the last error of this thread contains a text; returns the number of errors. */
int job_says(const char *text);

#endif
