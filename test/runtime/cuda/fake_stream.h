/* Streams, events and captures of the driver that is none. What is put into a stream is done when
 * the call that puts it returns, unless FAKE_LATE says that the stream is late: then it is done
 * when somebody waits for it, on the host or, by an event, in another stream, so what nobody waits
 * for is seen to be missing. FAKE_LATE: 1, the default streams, of which every thread has its own;
 * 2, those that are made; 3, all. FAKE_ORDER says it of each stream that is made: of the first its
 * first character, and so on, and again from the first; 1, it is late; 0, what is put there runs at
 * once, with all that it has to wait for; ?, that is drawn each time. So one stream gets ahead of
 * another, and what it should have waited for is seen to be missing, too. */
#ifndef TPRT_TEST_CUDA_FAKE_STREAM_H
#define TPRT_TEST_CUDA_FAKE_STREAM_H

#include "fake_driver.h"

/* What a thread asks of its own calls, to show that a test sees what goes wrong; found with dlsym
 * as fake_streams_of_thread. */
typedef struct fake_stream_plan {
  /* that wait of a stream for an event, that launch, counted from 1, is not done */
  long lose_wait, lose_launch;
  long copy_us;                                  /* what each copy waits before it moves anything */
  long n_waits, n_launches, n_replays, n_copies; /* since they were set to 0 */
} fake_stream_plan;
/* The same of all threads, whose waits are counted as they come; found with dlsym as
 * fake_waits_of_all. */
typedef struct fake_wait_plan {
  _Atomic long n, lose;
} fake_wait_plan;
typedef fake_wait_plan *fake_waits_of_all_fn(void);
typedef fake_stream_plan *fake_streams_of_thread_fn(void);
extern __thread fake_stream_plan fake_streams;

typedef struct fake_task {
  cuda_result (*run)(void *data);
  void (*release)(void *data); /* NULL: free; when it has run, or with its graph */
  void *data;
} fake_task;

/* Takes the task over. The result of running it, where that is done at once. */
cuda_result fake_enqueue(cuda_stream stream, fake_task task);
/* Everything that was put into the stream. */
cuda_result fake_finish(cuda_stream stream);
/* And into all streams of the current device. */
void fake_finish_device(void);

#endif
