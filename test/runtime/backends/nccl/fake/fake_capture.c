/* Captures of the fake driver, and the calls that they prohibit. */
#define _GNU_SOURCE 1
#include "fake_inside.h"

#include <stdlib.h>

extern cuda_result exchange_mode(int *mode) __asm__("cuThreadExchangeStreamCaptureMode") TPRT_API;

static fake_capture *captures;
static _Thread_local int mode_of_thread = FAKE_CAPTURE_GLOBAL;

cuda_result exchange_mode(int *mode) {
  int before = mode_of_thread;
  if (*mode < FAKE_CAPTURE_GLOBAL || *mode > FAKE_CAPTURE_RELAXED)
    return FAKE_INVALID_VALUE;
  mode_of_thread = *mode;
  *mode = before;
  return 0;
}

cuda_result fake_unsafe(void) {
  cuda_result result = 0;
  for (fake_capture *at = captures; at; at = at->next) {
    bool is_own = pthread_equal(at->owner, pthread_self());
    bool is_global = mode_of_thread == FAKE_CAPTURE_GLOBAL && at->mode == FAKE_CAPTURE_GLOBAL;
    if (mode_of_thread == FAKE_CAPTURE_RELAXED || at->mode == FAKE_CAPTURE_RELAXED ||
        !(is_own || is_global))
      continue;
    at->invalid = true;
    result = FAKE_CAPTURE_UNSUPPORTED;
  }
  return result;
}

void fake_capture_begin(cuda_stream stream, int mode) {
  fake_capture *made = calloc(1, sizeof *made);
  *made = (fake_capture){.next = captures, .first = stream, .mode = mode, .owner = pthread_self()};
  made->tail = &made->head;
  captures = made;
  stream->capture = made;
}

cuda_result fake_capture_end(cuda_stream stream, struct fake_task **tasks) {
  fake_capture *ended = stream->capture;
  *tasks = NULL;
  if (ended->mode != FAKE_CAPTURE_RELAXED && !pthread_equal(ended->owner, pthread_self()))
    return FAKE_CAPTURE_WRONG_THREAD;
  cuda_result result = ended->invalid ? FAKE_CAPTURE_INVALID : 0;
  fake_capture **at = &captures;
  while (*at != ended)
    at = &(*at)->next;
  *at = ended->next;
  fake_leave_capture(ended);
  if (result)
    fake_free_tasks(ended->head);
  else
    *tasks = ended->head;
  free(ended);
  return result;
}
