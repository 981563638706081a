/* Modes of captures in the fake driver, and the calls that they prohibit, as the documentation of
 * cuThreadExchangeStreamCaptureMode says. */
#define _GNU_SOURCE 1
#include "fake_stream.h"

#include <pthread.h>

extern cuda_result exchange_mode(int *mode) __asm__("cuThreadExchangeStreamCaptureMode") TPRT_API;

enum { GLOBAL, THREAD_LOCAL, MOST_CAPTURES = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  pthread_t owner;
  int mode;
  bool *broken; /* NULL: a free entry */
} captures[MOST_CAPTURES];
static __thread int mode_of_thread;

cuda_result exchange_mode(int *mode) {
  int before = mode_of_thread;
  if (*mode < GLOBAL || *mode > CUDA_CAPTURE_RELAXED)
    return FAKE_INVALID_VALUE;
  mode_of_thread = *mode;
  *mode = before;
  return CUDA_RESULT_SUCCESS;
}

bool fake_mode_begin(int mode, bool *broken) {
  int i = 0;
  pthread_mutex_lock(&lock);
  while (i < MOST_CAPTURES && captures[i].broken)
    i++;
  if (i < MOST_CAPTURES) {
    captures[i].owner = pthread_self();
    captures[i].mode = mode;
    captures[i].broken = broken;
  }
  pthread_mutex_unlock(&lock);
  return i < MOST_CAPTURES;
}

void fake_mode_end(const bool *broken) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST_CAPTURES; i++)
    if (captures[i].broken == broken)
      captures[i].broken = NULL;
  pthread_mutex_unlock(&lock);
}

cuda_result fake_unsafe(void) {
  cuda_result result = CUDA_RESULT_SUCCESS;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST_CAPTURES && mode_of_thread != CUDA_CAPTURE_RELAXED; i++) {
    bool is_own = pthread_equal(captures[i].owner, pthread_self());
    bool is_global = mode_of_thread == GLOBAL && captures[i].mode == GLOBAL;
    if (!captures[i].broken || captures[i].mode == CUDA_CAPTURE_RELAXED || !(is_own || is_global))
      continue;
    *captures[i].broken = true;
    result = FAKE_CAPTURE_UNSUPPORTED;
  }
  pthread_mutex_unlock(&lock);
  return result;
}
