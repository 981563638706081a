/* What the files of the fake share. */
#ifndef TPRT_TEST_FAKE_INSIDE_H
#define TPRT_TEST_FAKE_INSIDE_H

#include "fake.h"

#include "nccl/nccl_library.h"

#include <pthread.h>

/* One lock for everything but the data, which moves without it. */
extern pthread_mutex_t fake_lock;
extern pthread_cond_t fake_changed;
extern fake_plan fake_now;
extern fake_report fake_state;

/* Counts a call. 0, or what it has to return at once; *hang, if not NULL, whether what it starts may not end. */
int fake_call(const char *name, bool is_nccl, bool *hang);
void fake_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
int64_t fake_time(void); /* nanoseconds */
/* Microseconds to be slow, at most those of the plan. */
int fake_delay_us(void);
void fake_sleep_us(int us);

/* Work of a stream: runs in its thread, without the lock. */
typedef void fake_task_fn(void *data);
struct CUstream_st {
  struct CUstream_st *next;
  int device;
  pthread_t thread;
  struct fake_task *head, **tail;
  bool stopping, busy, capturing;
  struct fake_task *graph, **graph_tail; /* captured: comes into the stream when the capture ends */
  int n_unlaunched;                      /* operations of NCCL that it has not put here yet */
};
/* With the lock. */
void fake_enqueue(cuda_stream stream, fake_task_fn *run, void *data);
/* What is put there from now on by this thread is kept, and given back at the end; put into a stream it runs, once. */
void fake_capture_begin(cuda_stream stream);
struct fake_task *fake_capture_end(cuda_stream stream);
void fake_put(cuda_stream stream, struct fake_task *tasks);
/* Makes a context that exists current in this thread, in place of the one that is. */
bool fake_set_context(cuda_context context);
/* The device that is current in this thread; -1: none. */
int fake_device(void);
/* Whether [memory, memory + bytes) is memory of the device; a violation if not. With the lock. */
bool fake_owns(int device, const void *memory, size_t bytes, const char *what);
void *fake_allocate(int device, size_t bytes);
bool fake_release(void *memory, int *device);

/* Elements and reductions of NCCL. */
size_t fake_type_size(nccl_type type);
/* `factors`: of premul_sum, one element a rank; NULL: another reduction. */
bool fake_reduce(nccl_type type, nccl_reduction op, void *to, const void *const *from, const void *const *factors, int n,
                 size_t count);

#endif
