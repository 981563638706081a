/* The driver: contexts, streams, events, memory. */
#define _GNU_SOURCE 1
#include "fake_inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t fake_changed = PTHREAD_COND_INITIALIZER;
fake_plan fake_now = {.n_devices = 4, .nccl_version = 22809};
fake_report fake_state;
static uint64_t random_state;
static _Thread_local int n_capturing; /* of this thread */

TPRT_API fake_begin_fn fake_begin;
TPRT_API fake_report_fn fake_look;
TPRT_API fake_capture_fn fake_capture;
TPRT_API fake_idle_fn fake_idle;

/* ---- The plan ---- */

void fake_begin(const fake_plan *plan) {
  pthread_mutex_lock(&fake_lock);
  fake_now = *plan;
  fake_state.n_calls = fake_state.n_violations = 0;
  fake_state.violation[0] = fake_state.failed[0] = 0;
  pthread_mutex_unlock(&fake_lock);
}

void fake_look(fake_report *report) {
  pthread_mutex_lock(&fake_lock);
  *report = fake_state;
  pthread_mutex_unlock(&fake_lock);
}

static void note_violation(const char *format, va_list arguments) {
  if (fake_state.n_violations++ == 0)
    vsnprintf(fake_state.violation, sizeof fake_state.violation, format, arguments);
}

void fake_violation(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  note_violation(format, arguments);
  va_end(arguments);
}

int fake_call(const char *name, bool is_nccl, bool *hang) {
  long number = ++fake_state.n_calls;
  if (hang)
    *hang = number == fake_now.hang_at;
  if (number == fake_now.fail_at || number == fake_now.hang_at)
    snprintf(fake_state.failed, sizeof fake_state.failed, "%s", name);
  return number != fake_now.fail_at ? 0 : is_nccl ? fake_now.nccl_code : fake_now.cuda_code;
}

int fake_delay_us(void) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return fake_now.most_delay_us ? (int)((random_state >> 33) % (uint64_t)fake_now.most_delay_us) : 0;
}

int64_t fake_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void fake_sleep_us(int us) {
  const struct timespec nap = {.tv_nsec = us * 1000L};
  if (us)
    nanosleep(&nap, NULL);
}

/* A call with the lock, unless the plan makes it fail. */
#define ENTER(name)                                                                                                            \
  pthread_mutex_lock(&fake_lock);                                                                                              \
  int planned = fake_call(name, false, NULL);                                                                                  \
  if (planned)                                                                                                                 \
    return leave(planned);

/* The same for what gives something back, which is done all the same. */
#define ENTER_END(name)                                                                                                        \
  pthread_mutex_lock(&fake_lock);                                                                                              \
  int planned = fake_call(name, false, NULL);

static int leave(int result) {
  pthread_mutex_unlock(&fake_lock);
  return result;
}

enum { INVALID_VALUE = 1, INVALID_CONTEXT = 201, INVALID_HANDLE = 400 };

/* ---- Exports: under the names of the library ---- */

#define EXPORT(member, symbol, parameters) extern cuda_result cuda_##member parameters __asm__(symbol) TPRT_API;
TPRT_CUDA_CALLS(EXPORT)
CUDA_DEVICE_CALLS(EXPORT)
#undef EXPORT

cuda_result cuda_init(unsigned flags) {
  ENTER("cuInit");
  return leave(flags ? INVALID_VALUE : 0);
}

cuda_result cuda_driver_version(int *version) {
  ENTER("cuDriverGetVersion");
  *version = 13000;
  return leave(0);
}

cuda_result cuda_error_name(cuda_result error, const char **name) {
  *name = error == CUDA_RESULT_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_FAKE";
  return 0;
}

cuda_result cuda_device_count(int *n) {
  ENTER("cuDeviceGetCount");
  *n = fake_now.n_devices;
  return leave(0);
}

cuda_result cuda_device_get(int *device, int ordinal) {
  ENTER("cuDeviceGet");
  if (ordinal < 0 || ordinal >= fake_now.n_devices)
    return leave(INVALID_VALUE);
  *device = ordinal;
  return leave(0);
}

cuda_result cuda_device_uuid(cuda_uuid *uuid, int device) {
  ENTER("cuDeviceGetUuid");
  *uuid = (cuda_uuid){.bytes = {(unsigned char)device}};
  return leave(0);
}

/* ---- Contexts: one a device, in a stack of each thread ---- */

enum { MOST_DEVICES = 64, DEEPEST = 8 };
struct CUctx_st {
  int device, references;
};
static struct CUctx_st contexts[MOST_DEVICES];
static _Thread_local cuda_context stack[DEEPEST];
static _Thread_local int depth;

bool fake_set_context(cuda_context context) {
  if (!context || !context->references)
    return false;
  stack[depth ? depth - 1 : depth++] = context;
  return true;
}

int fake_device(void) { return depth ? stack[depth - 1]->device : -1; }

cuda_result cuda_context_retain(cuda_context *context, int device) {
  ENTER("cuDevicePrimaryCtxRetain");
  contexts[device].device = device;
  contexts[device].references++;
  fake_state.n_contexts++;
  *context = &contexts[device];
  return leave(0);
}

cuda_result cuda_context_release(int device) {
  ENTER_END("cuDevicePrimaryCtxRelease");
  if (contexts[device].references-- <= 0)
    fake_violation("the context of device %d is released more often than it was retained", device);
  fake_state.n_contexts--;
  return leave(planned);
}

cuda_result cuda_context_current(cuda_context *context) {
  ENTER("cuCtxGetCurrent");
  *context = depth ? stack[depth - 1] : NULL;
  return leave(0);
}

cuda_result cuda_context_device(int *device) {
  ENTER("cuCtxGetDevice");
  *device = fake_device();
  return leave(depth ? 0 : INVALID_CONTEXT);
}

cuda_result cuda_context_push(cuda_context context) {
  ENTER("cuCtxPushCurrent");
  if (depth == DEEPEST || !context->references) {
    fake_violation("a context is pushed that does not exist, or too many are");
    return leave(INVALID_CONTEXT);
  }
  stack[depth++] = context;
  return leave(0);
}

cuda_result cuda_context_pop(cuda_context *context) { /* what was pushed can be popped */
  pthread_mutex_lock(&fake_lock);
  if (!depth) {
    fake_violation("a context is popped where none is");
    return leave(INVALID_CONTEXT);
  }
  *context = stack[--depth];
  return leave(0);
}

/* ---- Streams ---- */

struct fake_task {
  struct fake_task *next;
  fake_task_fn *run;
  void *data;
};

static cuda_stream streams;

/* Waits, with the lock, until all streams of a device have run out, as the driver does before it frees memory. */
static void settle(int device) {
  enum { MOST_S = 10 };
  int64_t end = fake_time() + MOST_S * INT64_C(1000000000);
  cuda_stream at = streams;
  while (at) {
    if (at->device != device || (!at->head && !at->busy)) {
      at = at->next;
      continue;
    }
    if (fake_time() > end) {
      fake_violation("memory is freed while an operation is under way that does not end");
      return;
    }
    pthread_mutex_unlock(&fake_lock);
    fake_sleep_us(20);
    pthread_mutex_lock(&fake_lock);
    at = streams; /* streams may have come and gone */
  }
}

static void *stream_main(void *argument) {
  cuda_stream stream = argument;
  pthread_mutex_lock(&fake_lock);
  for (;;) {
    while (!stream->head && !stream->stopping)
      pthread_cond_wait(&fake_changed, &fake_lock);
    struct fake_task *task = stream->head;
    if (!task)
      break;
    stream->head = task->next;
    if (!stream->head)
      stream->tail = &stream->head;
    int delay = fake_delay_us();
    stream->busy = true;
    pthread_mutex_unlock(&fake_lock);
    fake_sleep_us(delay);
    task->run(task->data);
    free(task);
    pthread_mutex_lock(&fake_lock);
    stream->busy = false;
    pthread_cond_broadcast(&fake_changed);
  }
  pthread_mutex_unlock(&fake_lock);
  return NULL;
}

void fake_enqueue(cuda_stream stream, fake_task_fn *run, void *data) {
  struct fake_task *task = calloc(1, sizeof *task), ***tail = stream->capturing ? &stream->graph_tail : &stream->tail;
  *task = (struct fake_task){.run = run, .data = data};
  **tail = task;
  *tail = &task->next;
  pthread_cond_broadcast(&fake_changed);
}

static void run_idle(void *data) {
  int *ms = data;
  for (int i = 0; i < *ms; i++)
    fake_sleep_us(999);
  free(ms);
}

void fake_idle(void *stream, int ms) {
  int *own = malloc(sizeof *own);
  *own = ms;
  pthread_mutex_lock(&fake_lock);
  fake_enqueue(stream, run_idle, own);
  pthread_mutex_unlock(&fake_lock);
}

void fake_capture_begin(cuda_stream stream) {
  n_capturing++;
  stream->graph_tail = &stream->graph;
  stream->capturing = true;
}

struct fake_task *fake_capture_end(cuda_stream stream) {
  struct fake_task *tasks = stream->graph;
  n_capturing--;
  stream->graph = NULL;
  stream->capturing = false;
  return tasks;
}

void fake_put(cuda_stream stream, struct fake_task *tasks) {
  *stream->tail = tasks;
  while (*stream->tail)
    stream->tail = &(*stream->tail)->next;
  pthread_cond_broadcast(&fake_changed);
}

void fake_capture(void *at, bool begins) {
  cuda_stream stream = at;
  pthread_mutex_lock(&fake_lock);
  if (begins)
    fake_capture_begin(stream);
  else
    fake_put(stream, fake_capture_end(stream));
  pthread_mutex_unlock(&fake_lock);
}

cuda_result cuda_stream_create(cuda_stream *stream, unsigned flags) {
  ENTER("cuStreamCreate");
  if (!depth || flags > 1)
    return leave(INVALID_CONTEXT);
  cuda_stream made = calloc(1, sizeof *made);
  made->device = fake_device();
  made->tail = &made->head;
  if (pthread_create(&made->thread, NULL, stream_main, made) != 0)
    abort();
  made->next = streams;
  streams = made;
  fake_state.n_streams++;
  *stream = made;
  return leave(0);
}

/* The driver would let it run out by itself; here nothing is lost by waiting. */
cuda_result cuda_stream_destroy(cuda_stream stream) {
  ENTER_END("cuStreamDestroy");
  cuda_stream *at = &streams;
  while (*at != stream)
    at = &(*at)->next;
  *at = stream->next;
  stream->stopping = true;
  fake_state.n_streams--;
  pthread_cond_broadcast(&fake_changed);
  pthread_mutex_unlock(&fake_lock);
  pthread_join(stream->thread, NULL);
  free(stream);
  return planned;
}

cuda_result cuda_stream_capturing(cuda_stream stream, int *status) {
  ENTER("cuStreamIsCapturing");
  *status = stream->capturing ? 1 : CUDA_CAPTURE_NONE;
  return leave(0);
}

/* ---- Events ---- */

struct CUevent_st {
  long recorded, done;
  int references;
};

typedef struct event_task {
  cuda_event event;
  long number;
} event_task;

static void release_event(cuda_event event) {
  if (--event->references == 0)
    free(event);
}

static void run_record(void *data) {
  event_task *task = data;
  pthread_mutex_lock(&fake_lock);
  if (task->event->done < task->number)
    task->event->done = task->number;
  release_event(task->event);
  pthread_cond_broadcast(&fake_changed);
  pthread_mutex_unlock(&fake_lock);
  free(task);
}

static void run_wait(void *data) {
  event_task *task = data;
  pthread_mutex_lock(&fake_lock);
  while (task->event->done < task->number)
    pthread_cond_wait(&fake_changed, &fake_lock);
  release_event(task->event);
  pthread_mutex_unlock(&fake_lock);
  free(task);
}

static void enqueue_event(cuda_stream stream, cuda_event event, fake_task_fn *run) {
  event_task *task = calloc(1, sizeof *task);
  *task = (event_task){.event = event, .number = event->recorded};
  event->references++;
  fake_enqueue(stream, run, task);
}

cuda_result cuda_event_create(cuda_event *event, unsigned flags) {
  ENTER("cuEventCreate");
  if (!depth || !(flags & CUDA_EVENT_DISABLE_TIMING))
    return leave(INVALID_CONTEXT);
  cuda_event made = calloc(1, sizeof *made);
  made->references = 1;
  fake_state.n_events++;
  *event = made;
  return leave(0);
}

cuda_result cuda_event_destroy(cuda_event event) {
  ENTER_END("cuEventDestroy");
  fake_state.n_events--;
  release_event(event);
  return leave(planned);
}

cuda_result cuda_event_record(cuda_event event, cuda_stream stream) {
  ENTER("cuEventRecord");
  if (!stream)
    return leave(INVALID_HANDLE);
  if (stream->n_unlaunched)
    fake_violation("an event is recorded before NCCL has put its operation into the stream");
  if (stream->capturing)
    fake_violation("an event is recorded in a stream that captures: it could not be asked");
  event->recorded++;
  enqueue_event(stream, event, run_record);
  return leave(0);
}

cuda_result cuda_event_query(cuda_event event) {
  pthread_mutex_lock(&fake_lock);
  if (event->done < event->recorded)
    return leave(CUDA_RESULT_NOT_READY);
  return leave(fake_call("cuEventQuery", false, NULL));
}

cuda_result cuda_stream_wait(cuda_stream stream, cuda_event event, unsigned flags) {
  ENTER("cuStreamWaitEvent");
  if (flags || !stream)
    return leave(INVALID_VALUE);
  if (stream->capturing)
    fake_violation("a stream that captures waits for what is not captured");
  enqueue_event(stream, event, run_wait);
  return leave(0);
}

/* ---- Memory ---- */

typedef struct block {
  struct block *next;
  char *at;
  size_t bytes;
  int device;
} block;
static block *blocks;

static block *find_block(const void *memory) {
  block *found = blocks;
  while (found && ((const char *)memory < found->at || (const char *)memory >= found->at + found->bytes))
    found = found->next;
  return found;
}

bool fake_owns(int device, const void *memory, size_t bytes, const char *what) {
  const block *found = find_block(memory);
  if (found && found->device == device && (size_t)(found->at + found->bytes - (const char *)memory) >= bytes)
    return true;
  fake_violation("%s: %zu bytes that are not in one allocation of device %d", what, bytes, device);
  return false;
}

void *fake_allocate(int device, size_t bytes) {
  if (n_capturing)
    fake_violation("memory is allocated by a thread that captures");
  block *made = calloc(1, sizeof *made);
  *made = (block){.next = blocks, .at = malloc(bytes), .bytes = bytes, .device = device};
  memset(made->at, 0xcd, bytes);
  blocks = made;
  fake_state.n_allocations++;
  return made->at;
}

bool fake_release(void *memory, int *device) {
  const block *known = find_block(memory);
  if (known)
    settle(known->device);
  block **at = &blocks;
  while (*at && (*at)->at != memory)
    at = &(*at)->next;
  block *found = *at;
  if (!found) {
    fake_violation("memory is freed that is not allocated");
    return false;
  }
  *at = found->next;
  *device = found->device;
  fake_state.n_allocations--;
  free(found->at);
  free(found);
  return true;
}

cuda_result cuda_memory_alloc(cuda_address *memory, size_t bytes) {
  ENTER("cuMemAlloc");
  if (!depth || !bytes)
    return leave(depth ? INVALID_VALUE : INVALID_CONTEXT);
  *memory = tprt__cuda_address(fake_allocate(fake_device(), bytes));
  return leave(0);
}

cuda_result cuda_memory_free(cuda_address memory) {
  int device;
  ENTER_END("cuMemFree");
  return leave(fake_release((void *)(uintptr_t)memory, &device) ? planned : INVALID_VALUE);
}

typedef struct copy_task {
  char *to;
  const char *from; /* NULL: a value */
  size_t to_pitch, from_pitch, width, height;
  unsigned char value;
} copy_task;

static void run_copy(void *data) {
  copy_task *task = data;
  for (size_t row = 0; row < task->height; row++) {
    if (task->from)
      memcpy(task->to + row * task->to_pitch, task->from + row * task->from_pitch, task->width);
    else
      memset(task->to + row * task->to_pitch, task->value, task->width);
  }
  free(task);
}

static int enqueue_copy(cuda_stream stream, const copy_task *copy, const char *what) {
  size_t last = copy->height - 1;
  if (!stream || !copy->width || !copy->height)
    return INVALID_VALUE;
  if (!fake_owns(stream->device, copy->to, last * copy->to_pitch + copy->width, what) ||
      (copy->from && !fake_owns(stream->device, copy->from, last * copy->from_pitch + copy->width, what)))
    return INVALID_VALUE;
  copy_task *task = calloc(1, sizeof *task);
  *task = *copy;
  fake_enqueue(stream, run_copy, task);
  return 0;
}

cuda_result cuda_memory_set(cuda_address at, unsigned char value, size_t n, cuda_stream stream) {
  ENTER("cuMemsetD8Async");
  const copy_task copy = {.to = (char *)(uintptr_t)at, .width = n, .height = 1, .value = value};
  return leave(enqueue_copy(stream, &copy, "cuMemsetD8Async"));
}

cuda_result cuda_memory_copy(cuda_address to, cuda_address from, size_t bytes, cuda_stream stream) {
  ENTER("cuMemcpyDtoDAsync");
  const copy_task copy = {.to = (char *)(uintptr_t)to, .from = (const char *)(uintptr_t)from, .width = bytes, .height = 1};
  return leave(enqueue_copy(stream, &copy, "cuMemcpyDtoDAsync"));
}

cuda_result cuda_memory_copy_2d(const cuda_copy_2d *copy, cuda_stream stream) {
  ENTER("cuMemcpy2DAsync");
  if (copy->source_type != CUDA_MEMORY_DEVICE || copy->target_type != CUDA_MEMORY_DEVICE || copy->width > copy->source_pitch ||
      copy->width > copy->target_pitch)
    return leave(INVALID_VALUE);
  const copy_task rows = {.to = (char *)(uintptr_t)copy->target,
                          .from = (const char *)(uintptr_t)copy->source,
                          .to_pitch = copy->target_pitch,
                          .from_pitch = copy->source_pitch,
                          .width = copy->width,
                          .height = copy->height};
  return leave(enqueue_copy(stream, &rows, "cuMemcpy2DAsync"));
}

cuda_result cuda_pointer_attribute(void *value, int attribute, cuda_address pointer) {
  ENTER("cuPointerGetAttribute");
  const block *found = find_block((const void *)(uintptr_t)pointer);
  if (!found)
    return leave(INVALID_VALUE);
  int answer = attribute == CUDA_POINTER_MEMORY_TYPE ? CUDA_MEMORY_DEVICE : found->device;
  memcpy(value, &answer, sizeof answer);
  return leave(0);
}
