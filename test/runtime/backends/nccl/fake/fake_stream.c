/* Streams and events of the fake driver. A stream is a thread. */
#define _GNU_SOURCE 1
#include "fake_inside.h"

#include <stdlib.h>

TPRT_API fake_idle_fn fake_idle;

/* ---- Streams ---- */

struct fake_task {
  struct fake_task *next;
  fake_task_fn *run, *release;
  void *data;
};

static cuda_stream streams;

void fake_let_run(cuda_stream stream) {
  stream->holds = false;
  fake_wake();
}

void fake_settle(int device, const char *what) {
  enum { MOST_S = 10 };
  int64_t end = fake_time() + MOST_S * INT64_C(1000000000);
  cuda_stream at = streams;
  while (at) {
    if (at->device == device)
      fake_let_run(at);
    if (at->device != device || (!at->head && !at->busy)) {
      at = at->next;
      continue;
    }
    if (fake_time() > end) {
      fake_violation("%s while an operation is under way that does not end", what);
      return;
    }
    fake_exit();
    fake_sleep_us(20);
    fake_enter();
    at = streams; /* the list may have changed */
  }
}

static void *stream_main(void *argument) {
  cuda_stream stream = argument;
  fake_enter();
  for (;;) {
    while ((!stream->head || stream->holds) && !stream->stopping)
      fake_wait();
    struct fake_task *task = stream->head;
    if (!task)
      break;
    stream->head = task->next;
    if (!stream->head)
      stream->tail = &stream->head;
    int delay = fake_delay_us();
    stream->busy = true;
    fake_exit();
    fake_sleep_us(delay);
    task->run(task->data);
    fake_enter();
    task->next = NULL;
    fake_free_tasks(task);
    stream->busy = false;
    fake_wake();
  }
  fake_exit();
  return NULL;
}

void fake_enqueue(cuda_stream stream, fake_task_fn *run, fake_task_fn *release, void *data) {
  struct fake_task *task = calloc(1, sizeof *task),
                   ***tail = stream->capture ? &stream->capture->tail : &stream->tail;
  *task = (struct fake_task){.run = run, .release = release, .data = data};
  **tail = task;
  *tail = &task->next;
  stream->strays = stream->capture && stream->capture->first != stream;
  fake_let_run(stream);
}

void fake_run_tasks(struct fake_task *tasks) {
  for (; tasks; tasks = tasks->next)
    tasks->run(tasks->data);
}

void fake_free_tasks(struct fake_task *tasks) {
  while (tasks) {
    struct fake_task *task = tasks;
    tasks = task->next;
    if (task->release)
      task->release(task->data);
    free(task);
  }
}

static void run_idle(void *data) {
  int *ms = data;
  for (int i = 0; i < *ms; i++)
    fake_sleep_us(999);
}

void fake_idle(void *stream, int ms) {
  int *own = malloc(sizeof *own);
  *own = ms;
  fake_enter();
  fake_enqueue(stream, run_idle, free, own);
  fake_exit();
}

void fake_leave_capture(const fake_capture *ended) {
  for (cuda_stream at = streams; at; at = at->next) {
    if (at->capture != ended)
      continue;
    if (at->strays && !ended->invalid)
      fake_violation("a capture ends before it has waited for all of its streams");
    at->capture = NULL;
    at->strays = false;
  }
}

static cuda_stream make_stream(int device) {
  cuda_stream made = calloc(1, sizeof *made);
  made->device = device;
  made->tail = &made->head;
  if (pthread_create(&made->thread, NULL, stream_main, made) != 0)
    abort();
  made->next = streams;
  return streams = made;
}

/* The default streams, one per device, live as long as the process. */
cuda_stream fake_stream_of(cuda_stream stream) {
  static cuda_stream defaults[FAKE_MOST_DEVICES];
  int device = fake_device();
  if (stream || device < 0)
    return stream;
  if (!defaults[device])
    defaults[device] = make_stream(device);
  return defaults[device];
}

static cuda_result create(cuda_stream *stream, unsigned flags) {
  if (fake_device() < 0 || flags > 1)
    return fake_leave(FAKE_INVALID_CONTEXT);
  *stream = make_stream(fake_device());
  fake_state.n_streams++;
  return fake_leave(0);
}

cuda_result cuda_stream_create(cuda_stream *stream, unsigned flags) {
  FAKE_CALL("cuStreamCreate", false, NULL);
  return create(stream, flags);
}

enum { GREATEST_PRIORITY = -5, LEAST_PRIORITY = 3 };

cuda_result cuda_priority_range(int *least, int *greatest) {
  FAKE_CALL("cuCtxGetStreamPriorityRange", false, NULL);
  *least = LEAST_PRIORITY;
  *greatest = GREATEST_PRIORITY;
  return fake_leave(0);
}

cuda_result cuda_priority_stream_create(cuda_stream *stream, unsigned flags, int priority) {
  FAKE_CALL("cuStreamCreateWithPriority", false, NULL);
  if (priority < GREATEST_PRIORITY || priority > LEAST_PRIORITY)
    return fake_leave(FAKE_INVALID_VALUE);
  fake_state.stream_priority = priority;
  return create(stream, flags);
}

/* The real driver lets the stream complete in the background; waiting here is equivalent. */
cuda_result cuda_stream_destroy(cuda_stream stream) {
  FAKE_END_CALL("cuStreamDestroy", false);
  cuda_stream *at = &streams;
  while (*at != stream)
    at = &(*at)->next;
  *at = stream->next;
  stream->stopping = true;
  fake_state.n_streams--;
  fake_wake();
  fake_exit();
  pthread_join(stream->thread, NULL);
  free(stream);
  return planned;
}

cuda_result cuda_stream_capturing(cuda_stream stream, int *status) {
  FAKE_CALL("cuStreamIsCapturing", false, NULL);
  const fake_capture *capture = fake_stream_of(stream)->capture;
  *status = !capture ? CUDA_CAPTURE_NONE : capture->invalid ? 2 : 1;
  return fake_leave(0);
}

/* ---- Events ---- */

struct CUevent_st {
  int device;
  long recorded, done;
  int references;
  fake_capture *capture; /* the capture in which it was last recorded */
  cuda_stream stream;    /* the stream of that record */
  bool is_timed;
  double ms; /* when the device last reached it */
};

/* Of events with times, which the library uses to time GEMMs. */
extern cuda_result cuda_event_wait(cuda_event event) __asm__("cuEventSynchronize") TPRT_API;
extern cuda_result cuda_event_elapsed(float *ms, cuda_event from,
                                      cuda_event to) __asm__("cuEventElapsedTime") TPRT_API;

typedef struct event_task {
  cuda_event event;
  long number;
} event_task;

static void release_event(cuda_event event) {
  if (--event->references == 0)
    free(event);
}

static void run_record(void *data) {
  const event_task *task = data;
  fake_enter();
  if (task->event->done < task->number)
    task->event->done = task->number;
  task->event->ms = (double)fake_time() * 1e-6;
  fake_wake();
  fake_exit();
}

static void run_wait(void *data) {
  const event_task *task = data;
  fake_enter();
  while (task->event->done < task->number)
    fake_wait();
  fake_exit();
}

static void release_task(void *data) {
  event_task *task = data;
  release_event(task->event);
  free(task);
}

static void enqueue_event(cuda_stream stream, cuda_event event, fake_task_fn *run) {
  event_task *task = calloc(1, sizeof *task);
  *task = (event_task){.event = event, .number = event->recorded};
  event->references++;
  fake_enqueue(stream, run, release_task, task);
}

cuda_result cuda_event_create(cuda_event *event, unsigned flags) {
  FAKE_CALL("cuEventCreate", false, NULL);
  if (fake_device() < 0)
    return fake_leave(FAKE_INVALID_CONTEXT);
  cuda_event made = calloc(1, sizeof *made);
  made->is_timed = !(flags & CUDA_EVENT_DISABLE_TIMING);
  made->references = 1;
  made->device = fake_device();
  fake_state.n_events++;
  *event = made;
  return fake_leave(0);
}

cuda_result cuda_event_destroy(cuda_event event) {
  FAKE_END_CALL("cuEventDestroy", false);
  fake_state.n_events--;
  release_event(event);
  return fake_leave(planned);
}

cuda_result cuda_event_record(cuda_event event, cuda_stream stream) {
  FAKE_CALL("cuEventRecord", false, NULL);
  stream = fake_stream_of(stream);
  if (!stream || stream->device != event->device)
    return fake_leave(FAKE_INVALID_HANDLE);
  if (stream->capture && stream->capture->invalid)
    return fake_leave(FAKE_CAPTURE_INVALID);
  if (stream->n_unlaunched)
    fake_violation("an event is recorded before NCCL has put its operation into the stream");
  event->capture = stream->capture;
  event->stream = stream;
  if (event->capture)
    return fake_leave(0); /* captured work is ordered already */
  event->recorded++;
  enqueue_event(stream, event, run_record);
  return fake_leave(0);
}

cuda_result cuda_event_query(cuda_event event) {
  fake_enter();
  if (event->capture)
    return fake_leave(FAKE_CAPTURED_EVENT);
  if (fake_unsafe())
    return fake_leave(FAKE_CAPTURE_UNSUPPORTED);
  if (event->done < event->recorded)
    return fake_leave(CUDA_RESULT_NOT_READY);
  return fake_leave(fake_call("cuEventQuery", false, NULL));
}

cuda_result cuda_event_wait(cuda_event event) {
  fake_enter();
  if (event->capture)
    return fake_leave(FAKE_CAPTURED_EVENT);
  if (fake_unsafe())
    return fake_leave(FAKE_CAPTURE_UNSUPPORTED);
  if (event->stream)
    fake_let_run(event->stream);
  while (event->done < event->recorded)
    fake_wait();
  return fake_leave(fake_call("cuEventSynchronize", false, NULL));
}

cuda_result cuda_event_elapsed(float *ms, cuda_event from, cuda_event to) {
  fake_enter();
  bool complete = from->recorded && to->recorded && from->done == from->recorded &&
                  to->done == to->recorded && from->is_timed && to->is_timed;
  *ms = (float)(to->ms - from->ms);
  return fake_leave(complete ? fake_call("cuEventElapsedTime", false, NULL) : FAKE_INVALID_HANDLE);
}

/* A stream that waits for an event of a capture joins the capture; a captured stream must not wait
 * for anything else. */
static cuda_result wait_in_capture(cuda_stream stream, cuda_event event) {
  if (!event->capture || event->stream->capture != event->capture ||
      (stream->capture && stream->capture != event->capture)) {
    fake_violation("a stream waits for what is in another capture than it is, or in none");
    return FAKE_INVALID_VALUE;
  }
  stream->capture = event->capture;
  if (event->capture->first == stream)
    event->stream->strays = false;
  else
    stream->strays = true;
  return 0;
}

cuda_result cuda_stream_wait(cuda_stream stream, cuda_event event, unsigned flags) {
  FAKE_CALL("cuStreamWaitEvent", false, NULL);
  stream = fake_stream_of(stream);
  if (flags || !stream)
    return fake_leave(FAKE_INVALID_VALUE);
  if (event->capture || stream->capture)
    return fake_leave(wait_in_capture(stream, event));
  enqueue_event(stream, event, run_wait);
  return fake_leave(0);
}
