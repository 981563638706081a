/* Internal interface of the files of the emulated machine. */
#ifndef TPRT_TEST_FAKE_INSIDE_H
#define TPRT_TEST_FAKE_INSIDE_H

#include "fake.h"

#include "backends/nccl/nccl_library.h"

#include <pthread.h>

/* One lock for everything except data movement; shared by all processes if FAKE_NCCL_SHARED is
 * set. */
void fake_enter(void);
void fake_exit(void);
/* Waits until the state may have changed; releases the lock meanwhile. */
void fake_wait(void);
void fake_wake(void);
/* Allocates zeroed memory at the same address in all processes. With the lock held. */
void *fake_take(size_t bytes);
void fake_give(void *memory);
/* Other state shared by the ranks. */
typedef struct fake_common {
  struct clique *cliques;
  uint64_t n_ids;
} fake_common;
fake_common *fake_common_part(void);

extern fake_plan fake_now;
extern fake_report fake_state;

/* Counts a call. Returns 0, or the error the call must return at once; sets *hang, if not NULL, if
 * its work must never end. */
int fake_call(const char *name, bool is_nccl, bool *hang);
void fake_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
int64_t fake_time(void); /* in nanoseconds */
/* Returns a delay in microseconds, up to the plan's maximum. */
int fake_delay_us(void);
void fake_sleep_us(int us);

/* Work of a stream: runs in its thread, without the lock. */
typedef void fake_task_fn(void *data);
/* Work of streams between begin and end of a capture, in an order that its events allow. */
typedef struct fake_capture {
  struct fake_capture *next; /* of all captures in progress */
  struct fake_task *head, **tail;
  /* stream of the begin; others join by waiting for it, and must be waited for */
  cuda_stream first;
  int mode; /* of its begin */
  pthread_t owner;
  bool invalid; /* broken by a call that was prohibited */
} fake_capture;
struct CUstream_st {
  struct CUstream_st *next;
  int device;
  pthread_t thread;
  struct fake_task *head, **tail;
  bool stopping, busy;
  bool holds; /* its tasks do not run before something waits for them, or another one comes */
  fake_capture *capture; /* NULL: enqueued work runs */
  /* has captured work that the capture's first stream does not wait for */
  bool strays;
  int n_unlaunched; /* NCCL operations that are not enqueued here yet */
};
/* Called with the lock held. `release` is called once, when the task has run for the last time;
 * NULL: nothing to release. */
void fake_enqueue(cuda_stream stream, fake_task_fn *run, fake_task_fn *release, void *data);
/* Lets the held tasks of a stream run. */
void fake_let_run(cuda_stream stream);
/* ---- fake_capture.c ---- */
enum { FAKE_CAPTURE_GLOBAL, FAKE_CAPTURE_THREAD_LOCAL, FAKE_CAPTURE_RELAXED };
/* Records the work that is enqueued into a stream from now on. With the lock held. */
void fake_capture_begin(cuda_stream stream, int mode);
/* Ends the capture of a stream. *tasks are to be run any number of times; NULL: no work was
 * captured. FAKE_CAPTURE_INVALID if the capture is broken. With the lock held. */
cuda_result fake_capture_end(cuda_stream stream, struct fake_task **tasks);
/* A potentially unsafe call, as the documentation of cuThreadExchangeStreamCaptureMode defines it:
 * returns an error and breaks the captures that prohibit it to this thread. With the lock held. */
cuda_result fake_unsafe(void);
/* fake_stream.c: takes all streams out of a capture that ends. With the lock held. */
void fake_leave_capture(const fake_capture *ended);

/* fake_run_tasks runs tasks in order, without the lock held; fake_free_tasks releases them, with
 * the lock held. */
void fake_run_tasks(struct fake_task *tasks);
void fake_free_tasks(struct fake_task *tasks);
/* Makes an existing context current in this thread, replacing the current one. */
bool fake_set_context(cuda_context context);
/* Returns the device that is current in this thread; -1: none. */
int fake_device(void);
/* The device of the machine that is device 0 of this process. */
int fake_first_visible(void);
/* Waits until all streams of a device are empty, for a call that is said in `what`. With the lock
 * held. */
void fake_settle(int device, const char *what);
/* Returns true if [memory, memory + bytes) is memory of the device; else counts a violation. With
 * the lock held. */
bool fake_owns(int device, const void *memory, size_t bytes, const char *what);
/* Finds the allocation, on any device, that contains an address. Without the lock. */
bool fake_find_block(void *user, uint64_t address, uint64_t *begin, uint64_t *end);
void *fake_allocate(int device, size_t bytes);
/* Returns true if memory is from ncclMemAlloc and a window may start there. With the lock held. */
bool fake_is_nccls(const void *memory);
void fake_note_nccls(const void *memory);
bool fake_release(void *memory, int *device);

/* The stream, or the default stream of the current device for NULL. With the lock held. */
cuda_stream fake_stream_of(cuda_stream stream);

enum { FAKE_MOST_DEVICES = 64 };

/* Results of cuda.h. */
enum {
  FAKE_INVALID_VALUE = 1,
  FAKE_INVALID_CONTEXT = 201,
  FAKE_INVALID_HANDLE = 400,
  FAKE_CAPTURE_UNSUPPORTED = 900,
  FAKE_CAPTURE_INVALID = 901,
  FAKE_CAPTURED_EVENT = 907,
  FAKE_CAPTURE_WRONG_THREAD = 908,
};

/* Begins a call with the lock held, unless the plan makes it fail. */
#define FAKE_CALL(name, is_nccl, hang)                                                             \
  fake_enter();                                                                                    \
  int planned = fake_call(name, is_nccl, hang);                                                    \
  if (planned)                                                                                     \
    return fake_leave(planned);

/* The same for a call that a capture may prohibit. */
#define FAKE_UNSAFE_CALL(name, is_nccl, code)                                                      \
  FAKE_CALL(name, is_nccl, NULL);                                                                  \
  if (fake_unsafe())                                                                               \
  return fake_leave(code)

/* The same for a release, which happens even if the call fails. */
#define FAKE_END_CALL(name, is_nccl)                                                               \
  fake_enter();                                                                                    \
  int planned = fake_call(name, is_nccl, NULL);

static inline int fake_leave(int result) {
  fake_exit();
  return result;
}

/* Element types and reductions of NCCL. */
size_t fake_type_size(nccl_type type);
/* `factors`: for premul_sum, one element per rank; NULL: another reduction. */
bool fake_reduce(nccl_type type, nccl_reduction op, void *to, const void *const *from,
                 const void *const *factors, int n, size_t count);

/* Driver functions, under the names of the library. */
#define EXPORT(member, symbol, parameters)                                                         \
  extern cuda_result cuda_##member parameters __asm__(symbol) TPRT_API;
TPRT_CUDA_CALLS(EXPORT)
CUDA_DEVICE_CALLS(EXPORT)
#undef EXPORT
#define EXPORT(member, symbol, parameters)                                                         \
  extern cuda_result cuda_priority_##member parameters __asm__(symbol) TPRT_API;
CUDA_PRIORITY_CALLS(EXPORT)
#undef EXPORT

#endif
