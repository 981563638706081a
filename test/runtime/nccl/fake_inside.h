/* What the files of the fake share. */
#ifndef TPRT_TEST_FAKE_INSIDE_H
#define TPRT_TEST_FAKE_INSIDE_H

#include "fake.h"

#include "backends/nccl/nccl_library.h"

#include <pthread.h>

/* One lock for everything but the data, which moves without it; of all processes where
 * FAKE_NCCL_SHARED is set. */
void fake_enter(void);
void fake_exit(void);
/* Until something may have changed; the lock is given away meanwhile. */
void fake_wait(void);
void fake_wake(void);
/* Zeroed memory that all processes have at the same address. With the lock. */
void *fake_take(size_t bytes);
void fake_give(void *memory);
/* What the ranks have in common beside that. */
typedef struct fake_common {
  struct clique *cliques;
  uint64_t n_ids;
} fake_common;
fake_common *fake_common_part(void);

extern fake_plan fake_now;
extern fake_report fake_state;

/* Counts a call. 0, or what it has to return at once; *hang, if not NULL, whether what it starts
 * may not end. */
int fake_call(const char *name, bool is_nccl, bool *hang);
void fake_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
int64_t fake_time(void); /* nanoseconds */
/* Microseconds to be slow, at most those of the plan. */
int fake_delay_us(void);
void fake_sleep_us(int us);

/* Work of a stream: runs in its thread, without the lock. */
typedef void fake_task_fn(void *data);
/* What streams have between the begin and the end of a capture, in that order, which is one that
 * their events allow. */
typedef struct fake_capture {
  struct fake_task *head, **tail;
  cuda_stream first; /* where it began; others wait for it, and have to be waited for */
} fake_capture;
struct CUstream_st {
  struct CUstream_st *next;
  int device;
  pthread_t thread;
  struct fake_task *head, **tail;
  bool stopping, busy;
  fake_capture *capture; /* NULL: what is put there runs */
  /* it has captured work that the first stream of the capture does not wait for */
  bool strays;
  int n_unlaunched; /* operations of NCCL that it has not put here yet */
};
/* With the lock. What `release` does with the data happens once, when the task has run for the last
 * time; NULL: nothing. */
void fake_enqueue(cuda_stream stream, fake_task_fn *run, fake_task_fn *release, void *data);
/* What this thread puts there from now on is kept, and given back at the end, to be run as often as
 * wanted. */
void fake_capture_begin(cuda_stream stream);
/* NULL: nothing was captured. */
struct fake_task *fake_capture_end(cuda_stream stream);
/* Without the lock: one after the other. With it: releases them. */
void fake_run_tasks(struct fake_task *tasks);
void fake_free_tasks(struct fake_task *tasks);
/* Makes a context that exists current in this thread, in place of the one that is. */
bool fake_set_context(cuda_context context);
/* The device that is current in this thread; -1: none. */
int fake_device(void);
/* Waits, with the lock, until all streams of a device have run out. */
void fake_settle(int device);
/* Whether this thread puts its work into a graph. */
bool fake_captures(void);
/* Whether [memory, memory + bytes) is memory of the device; a violation if not. With the lock. */
bool fake_owns(int device, const void *memory, size_t bytes, const char *what);
/* Without it: the allocation around an address, of whatever device. */
bool fake_find_block(void *user, uint64_t address, uint64_t *begin, uint64_t *end);
void *fake_allocate(int device, size_t bytes);
/* Whether memory is from ncclMemAlloc, and a window may begin there. With the lock. */
bool fake_is_nccls(const void *memory);
void fake_note_nccls(const void *memory);
bool fake_release(void *memory, int *device);

enum { FAKE_INVALID_VALUE = 1, FAKE_INVALID_CONTEXT = 201, FAKE_INVALID_HANDLE = 400 };

/* A call with the lock, unless the plan makes it fail. */
#define FAKE_CALL(name, is_nccl, hang)                                                             \
  fake_enter();                                                                                    \
  int planned = fake_call(name, is_nccl, hang);                                                    \
  if (planned)                                                                                     \
    return fake_leave(planned);

/* The same for what gives something back, which is done all the same. */
#define FAKE_END_CALL(name, is_nccl)                                                               \
  fake_enter();                                                                                    \
  int planned = fake_call(name, is_nccl, NULL);

static inline int fake_leave(int result) {
  fake_exit();
  return result;
}

/* Elements and reductions of NCCL. */
size_t fake_type_size(nccl_type type);
/* `factors`: of premul_sum, one element a rank; NULL: another reduction. */
bool fake_reduce(nccl_type type, nccl_reduction op, void *to, const void *const *from,
                 const void *const *factors, int n, size_t count);

/* The functions of the driver, under the names of the library. */
#define EXPORT(member, symbol, parameters)                                                         \
  extern cuda_result cuda_##member parameters __asm__(symbol) TPRT_API;
TPRT_CUDA_CALLS(EXPORT)
CUDA_DEVICE_CALLS(EXPORT)
#undef EXPORT

#endif
