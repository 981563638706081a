/* Streams, events and captures of the fake driver. By default, work runs at once, in the call that
 * enqueues it. FAKE_LATE makes streams late: their work runs only when it is waited for, on the
 * host or, by an event, in another stream, so a missing wait shows. FAKE_LATE: 1, the default
 * streams, one per thread; 2, created streams; 3, all.
 *
 * FAKE_ORDER sets this for each created stream: character i is for the i-th stream, and the string
 * repeats. 1: the stream is late. 0: its work runs at once, with everything it must wait for. ?:
 * random for each entry. So one stream gets ahead of another, and a missing wait between them shows
 * too.
 *
 * cuMemcpyHtoD and cuMemsetD8 are always late: as with the real driver, they are work of the
 * default stream, and created streams do not wait for it. */
#ifndef TPRT_TEST_CUDA_FAKE_STREAM_H
#define TPRT_TEST_CUDA_FAKE_STREAM_H

#include "fake_driver.h"

/* Faults and counters of a thread's own calls, to show that a test detects errors. Looked up with
 * dlsym as fake_streams_of_thread. */
typedef struct fake_stream_plan {
  /* numbers, from 1, of the stream wait for an event and of the launch that are skipped */
  long lose_wait, lose_launch;
  long copy_us;                                  /* delay of each copy before it moves data */
  long n_waits, n_launches, n_replays, n_copies; /* since they were set to 0 */
} fake_stream_plan;
/* The same for all threads; waits are counted in order of occurrence. Looked up with dlsym as
 * fake_waits_of_all. */
typedef struct fake_wait_plan {
  _Atomic long n, lose;
} fake_wait_plan;
typedef fake_wait_plan *fake_waits_of_all_fn(void);
typedef fake_stream_plan *fake_streams_of_thread_fn(void);
extern __thread fake_stream_plan fake_streams;

typedef struct fake_task {
  cuda_result (*run)(void *data);
  void (*release)(void *data); /* NULL: free; called when the task has run, or with its graph */
  void *data;
} fake_task;

/* fake_mode.c: a capture begins, and ends; *broken is set if a call breaks it. A potentially unsafe
 * call returns the error of fake_unsafe, which breaks the captures that prohibit the call. */
bool fake_mode_begin(int mode, bool *broken);
void fake_mode_end(const bool *broken);
cuda_result fake_unsafe(void);

/* Takes ownership of the task. Returns its result, if it runs at once. */
cuda_result fake_enqueue(cuda_stream stream, fake_task task);
/* Takes ownership of a task of the default stream, which stays there until something waits for it,
 * or later work of the default stream runs. */
cuda_result fake_postpone(fake_task task);
/* Runs everything in the stream. */
cuda_result fake_finish(cuda_stream stream);
/* Runs everything in all streams of the current device. */
void fake_finish_device(void);

#endif
