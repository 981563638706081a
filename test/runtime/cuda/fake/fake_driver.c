/* A fake libcuda.so.1. Device memory is host memory (fake_memory.c). A launch runs the kernel
 * (fake_launch.c) and returns when it has ended, unless streams are late (fake_stream.h).
 * FAKE_CUDA: "none" has no device, "broken" fails to start; each other word makes a function fail
 * that a group needs, see fake_fails_at. FAKE_DEVICES: the number of devices, default 1.
 * FAKE_NO_CONTEXT: threads have no current context except those they push. */
#define _GNU_SOURCE 1
#include "fake_driver.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __thread const char *mode_of_thread;

TPRT_API fake_set_mode_fn fake_set_mode;
void fake_set_mode(const char *mode) { mode_of_thread = mode; }

bool fake_mode_is(const char *mode) {
  const char *text = mode_of_thread ? mode_of_thread : getenv("FAKE_CUDA");
  return text && strcmp(text, mode) == 0;
}

cuda_result fake_fails_at(const char *mode) {
  return fake_mode_is(mode) ? FAKE_STUB_LIBRARY : CUDA_RESULT_SUCCESS;
}

cuda_result fake_init(unsigned flags) {
  (void)flags;
  return fake_mode_is("none") ? CUDA_RESULT_NO_DEVICE : fake_fails_at("broken");
}

cuda_result fake_driver_version(int *version) {
  *version = 13000;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_error_name(cuda_result error, const char **name) {
  static const struct {
    cuda_result number;
    const char *name;
  } rows[] = {
#define ROW(constant, number, name) {number, name},
      FAKE_RESULTS(ROW)
#undef ROW
  };
  *name = NULL;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].number == error)
      *name = rows[i].name;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_device_count(int *n) {
  const char *text = getenv("FAKE_DEVICES");
  *n = text ? atoi(text) : 1;
  return CUDA_RESULT_SUCCESS;
}

/* ---- Context ---- */

enum { MOST_DEVICES = 16 };
static char contexts[MOST_DEVICES];
static __thread int current; /* every thread starts with the context of device 0 */

int fake_current_device(void) { return current; }

bool fake_set_current(cuda_context context) {
  ptrdiff_t number = (char *)context - contexts;
  if (number < 0 || number >= MOST_DEVICES)
    return false;
  current = (int)number;
  return true;
}

cuda_result fake_context_current(cuda_context *context) {
  *context = fake_mode_is("no context") || (getenv("FAKE_NO_CONTEXT") && !fake_has_pushed())
                 ? NULL
                 : (cuda_context)&contexts[current];
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_context_device(int *number) {
  *number = current;
  return fake_fails_at("context device");
}

cuda_result fake_device_attribute(int *value, int attribute, int number) {
  int major, minor;
  (void)number;
  fake_capability(&major, &minor);
  *value = attribute == CUDA_MULTIPROCESSORS    ? FAKE_MULTIPROCESSORS
           : attribute == CUDA_CAPABILITY_MAJOR ? (fake_mode_is("old") ? 7 : major)
           : attribute == CUDA_CAPABILITY_MINOR ? (fake_mode_is("old") ? 5 : minor)
           : attribute == CUDA_COOPERATIVE      ? !fake_mode_is("not cooperative")
                                                : -1;
  return fake_fails_at("attributes");
}

/* ---- Functions only for tests ---- */

cuda_result fake_name(char *name, int bytes, int number) {
  const char *names = getenv("FAKE_NAMES"); /* set: devices have different names */
  snprintf(name, (size_t)bytes, names ? "emulated %d" : "emulated", number);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_context_retain(cuda_context *retained, int number) {
  *retained = (cuda_context)&contexts[number % MOST_DEVICES];
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_context_set(cuda_context context) {
  return fake_set_current(context) ? CUDA_RESULT_SUCCESS : FAKE_INVALID_VALUE;
}

cuda_result fake_can_reach(int *reaches, int number, int peer) {
  *reaches = number != peer && !fake_mode_is("no peer");
  return fake_fails_at("can reach");
}

/* Enables access once per peer. */
cuda_result fake_reach(cuda_context peer, unsigned flags) {
  static _Atomic uint32_t reached[MOST_DEVICES];
  ptrdiff_t number = (char *)peer - contexts;
  if (flags || number < 0 || number >= MOST_DEVICES || number == current)
    return FAKE_INVALID_VALUE;
  if (fake_mode_is("reach"))
    return FAKE_STUB_LIBRARY;
  bool again = atomic_fetch_or(&reached[current], 1u << number) >> number & 1;
  return again ? CUDA_RESULT_PEER_ACCESS_ALREADY_ENABLED : CUDA_RESULT_SUCCESS;
}

/* ---- Counting ---- */

static _Atomic long n_copies;
static __thread long n_since; /* until the last launch of this thread */
static __thread bool launches;

void fake_note_copy(void) { n_since += launches; }

void fake_note_launch(void) {
  n_copies += n_since;
  n_since = 0;
  launches = true;
}

__attribute__((destructor)) static void report_copies(void) {
  const char *path = getenv("FAKE_COPIES");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file)
    return;
  fprintf(file, "%ld\n", n_copies);
  fclose(file);
}
