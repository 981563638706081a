/* The test plan, and devices and contexts of the fake driver. */
#define _GNU_SOURCE 1
#include "fake_inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

fake_plan fake_now = {.n_devices = 4, .nccl_version = 22809};
fake_report fake_state;
static uint64_t random_state;

TPRT_API fake_begin_fn fake_begin;
TPRT_API fake_report_fn fake_look;

/* ---- Test plan ---- */

void fake_begin(const fake_plan *plan) {
  fake_enter();
  fake_now = *plan;
  fake_state.n_calls = fake_state.n_violations = fake_state.n_by_id = fake_state.n_by_split = 0;
  fake_state.n_groups = 0;
  fake_state.violation[0] = fake_state.failed[0] = 0;
  fake_exit();
}

void fake_look(fake_report *report) {
  fake_enter();
  *report = fake_state;
  fake_exit();
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

static _Atomic int n_slow; /* calls that take long at present */

/* Lets a call take long, without the lock. */
static void be_slow(void) {
  const struct timespec nap = {.tv_sec = fake_now.slow_ms / 1000,
                               .tv_nsec = fake_now.slow_ms % 1000 * 1000000L};
  n_slow++;
  fake_exit();
  nanosleep(&nap, NULL);
  fake_enter();
  n_slow--;
}

__attribute__((destructor)) static void check_unused(void) {
  if (n_slow)
    abort();
}

int fake_call(const char *name, bool is_nccl, bool *hang) {
  long number = ++fake_state.n_calls;
  bool hangs = number == fake_now.hang_at ||
               (fake_now.hang_on && !*fake_state.failed && strcmp(name, fake_now.hang_on) == 0);
  if (hang)
    *hang = hangs;
  if (number == fake_now.fail_at || hangs)
    snprintf(fake_state.failed, sizeof fake_state.failed, "%s", name);
  if (fake_now.slow_on && strcmp(name, fake_now.slow_on) == 0)
    be_slow();
  return number != fake_now.fail_at ? 0 : is_nccl ? fake_now.nccl_code : fake_now.cuda_code;
}

int fake_delay_us(void) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return fake_now.most_delay_us ? (int)((random_state >> 33) % (uint64_t)fake_now.most_delay_us)
                                : 0;
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

/* ---- The driver ---- */

cuda_result cuda_init(unsigned flags) {
  FAKE_CALL("cuInit", false, NULL);
  return fake_leave(flags ? FAKE_INVALID_VALUE : 0);
}

cuda_result cuda_driver_version(int *version) {
  FAKE_CALL("cuDriverGetVersion", false, NULL);
  *version = 13000;
  return fake_leave(0);
}

cuda_result cuda_error_name(cuda_result error, const char **name) {
  *name = error == CUDA_RESULT_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_FAKE";
  return 0;
}

/* Processes that no test controls may ask for another number of devices. */
__attribute__((constructor)) static void read_devices(void) {
  const char *text = getenv("FAKE_DEVICES");
  int n = text ? atoi(text) : 0;
  if (n > 0 && n <= FAKE_MOST_DEVICES)
    fake_now.n_devices = n;
}

/* Returns the only device of the machine that this process sees, as launchers choose one for a
 * rank; -1: it sees all. The process numbers the devices that it sees from 0. */
static int only_device(void) {
  const char *device = getenv("CUDA_VISIBLE_DEVICES");
  return device ? atoi(device) : -1;
}
static int n_visible(void) { return only_device() < 0 ? fake_now.n_devices : 1; }
int fake_first_visible(void) { return only_device() < 0 ? 0 : only_device(); }

cuda_result cuda_device_count(int *n) {
  FAKE_CALL("cuDeviceGetCount", false, NULL);
  *n = n_visible();
  return fake_leave(0);
}

cuda_result cuda_device_get(int *device, int ordinal) {
  FAKE_CALL("cuDeviceGet", false, NULL);
  if (ordinal < 0 || ordinal >= n_visible())
    return fake_leave(FAKE_INVALID_VALUE);
  *device = ordinal;
  return fake_leave(0);
}

cuda_result cuda_device_uuid(cuda_uuid *uuid, int device) {
  FAKE_CALL("cuDeviceGetUuid", false, NULL);
  const char *host = getenv("FAKE_HOST"); /* a number, if ranks are emulated on several hosts */
  *uuid = (cuda_uuid){.bytes = {(unsigned char)(device + fake_first_visible()),
                                (unsigned char)(host ? atoi(host) : 0)}};
  return fake_leave(0);
}

/* ---- Contexts: one per device, in a stack of each thread ---- */

enum { DEEPEST = 8 };
struct CUctx_st {
  int device, references;
};
static struct CUctx_st contexts[FAKE_MOST_DEVICES];
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
  FAKE_CALL("cuDevicePrimaryCtxRetain", false, NULL);
  cuda_context retained = &contexts[device + fake_first_visible()];
  retained->device = device + fake_first_visible();
  retained->references++;
  fake_state.n_contexts++;
  *context = retained;
  return fake_leave(0);
}

cuda_result cuda_context_release(int device) {
  FAKE_END_CALL("cuDevicePrimaryCtxRelease", false);
  if (contexts[device + fake_first_visible()].references-- <= 0)
    fake_violation("the context of device %d is released more often than it was retained", device);
  fake_state.n_contexts--;
  return fake_leave(planned);
}

cuda_result cuda_context_current(cuda_context *context) {
  FAKE_CALL("cuCtxGetCurrent", false, NULL);
  *context = depth ? stack[depth - 1] : NULL;
  return fake_leave(0);
}

cuda_result cuda_context_device(int *device) {
  FAKE_CALL("cuCtxGetDevice", false, NULL);
  *device = fake_device() - fake_first_visible();
  return fake_leave(depth ? 0 : FAKE_INVALID_CONTEXT);
}

cuda_result cuda_context_push(cuda_context context) {
  FAKE_CALL("cuCtxPushCurrent", false, NULL);
  if (depth == DEEPEST || !context->references) {
    fake_violation("a context is pushed that does not exist, or too many are");
    return fake_leave(FAKE_INVALID_CONTEXT);
  }
  stack[depth++] = context;
  return fake_leave(0);
}

cuda_result cuda_context_pop(cuda_context *context) { /* fails if none was pushed */
  fake_enter();
  if (!depth) {
    fake_violation("a context is popped where none is");
    return fake_leave(FAKE_INVALID_CONTEXT);
  }
  *context = stack[--depth];
  return fake_leave(0);
}
