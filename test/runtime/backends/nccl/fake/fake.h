/* An emulated machine with several GPUs: one library that exports the parts of libcuda.so.1 and
 * libnccl.so.2 that the backend calls, and really moves the data. Device memory is tracked memory
 * of this process, streams are threads, and communicators do not block. Every argument and the
 * order of calls is checked: a call that NCCL or the driver would reject is counted as a violation;
 * one that would hang is counted too, or hangs. A process that exits while a thread is in a slow
 * call is aborted, where the real libraries crash. Ranks are threads.
 *
 * Tests load the library under both names and look these functions up in it. */
#ifndef TPRT_TEST_FAKE_NCCL_H
#define TPRT_TEST_FAKE_NCCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fake_plan {
  int n_devices;
  int nccl_version;
  int most_delay_us; /* max delay of streams, and of background work of calls that return at once */
  /* number, from 1, of the call that fails; 0: none. A poll counts if it has an answer */
  long fail_at;
  int cuda_code, nccl_code; /* the codes of that failure */
  long hang_at;             /* number of the call whose work never ends */
  const char *hang_on;      /* the same for the first call of this name; NULL: none */
  const char *slow_on;      /* the calls of this name take `slow_ms`; NULL: none */
  int slow_ms;
  bool no_peers; /* devices cannot access each other's memory */
} fake_plan;

typedef struct fake_report {
  long n_calls;
  long n_violations;
  long n_by_id, n_by_split; /* communicators created, by method */
  long n_groups;            /* groups of calls that launched something */
  /* configuration of the last communicator that was created; INT_MIN and "": unset */
  int min_ctas, max_ctas, traffic_class;
  char comm_name[64];
  int stream_priority; /* of the last stream that was created with one; 0: none */
  char violation[256]; /* the first one */
  char failed[64];     /* the call that was made to fail or hang; "": not reached */
  /* objects that exist */
  int n_contexts, n_streams, n_events, n_allocations, n_comms, n_factors, n_windows;
} fake_report;

/* Enqueues work that takes this time. */
typedef void fake_idle_fn(void *stream, int ms);

/* Functions that tests look up by name. */
typedef void fake_begin_fn(const fake_plan *plan); /* resets the counters; no object exists */
typedef void fake_report_fn(fake_report *report);

#endif
