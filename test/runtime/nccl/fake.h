/* A machine with several GPUs that is none: one library that exports what libcuda.so.1 and
 * libnccl.so.2 do, as far as the backend calls it, and really moves the data. Memory of devices is
 * memory of this process that is kept track of, streams are threads, communicators do not block,
 * and every argument and the order of calls is checked: what NCCL or the driver would not take, or
 * would hang on, is counted as a violation, or hangs. Ranks are threads.
 *
 * Tests load it under both names and find these functions in it. */
#ifndef TPRT_TEST_FAKE_NCCL_H
#define TPRT_TEST_FAKE_NCCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fake_plan {
  int n_devices;
  int nccl_version;
  int most_delay_us; /* of streams, and of what goes on behind calls that return at once */
  /* this call fails, counted from 1; 0: none. Polls count when they have an answer */
  long fail_at;
  int cuda_code, nccl_code; /* what it fails with */
  long hang_at;             /* what this call starts never ends */
  const char *hang_on;      /* the same for the first call of this name; NULL: none */
  bool no_peers;            /* devices do not reach each other's memory */
} fake_plan;

typedef struct fake_report {
  long n_calls;
  long n_violations;
  long n_by_id, n_by_split; /* communicators that were made, by the way */
  char violation[256];      /* the first */
  char failed[64];          /* the call that was made to fail or hang; "": none came so far */
  /* that exist */
  int n_contexts, n_streams, n_events, n_allocations, n_comms, n_factors, n_windows;
} fake_report;

/* Begins and ends the capture of a stream: what is put there meanwhile runs, once, when it ends. */
typedef void fake_capture_stream_fn(void *stream, bool begins);

/* Work that takes so long. */
typedef void fake_idle_fn(void *stream, int ms);

/* What tests find by name. */
typedef void fake_begin_fn(const fake_plan *plan); /* counts from 0 again; nothing is in use */
typedef void fake_report_fn(fake_report *report);

#endif
