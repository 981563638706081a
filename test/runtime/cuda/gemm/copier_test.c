/* Tests copies of many runs: as one driver call, or one by one if the driver does not support
 * strides like these. */
#define _GNU_SOURCE 1
#include "cuda/gemm/copier.h"
#include "test/runtime/cuda/fake/fake_stream.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

static fake_stream_plan *plan;

/* Copies from scattered to contiguous and back; returns the number of driver calls. */
static long copy_there_and_back(size_t step, size_t n) {
  enum { BYTES = 48 };
  size_t reach = step * n;
  char near[3 * BYTES], *far = mmap(NULL, reach, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  tprt_cuda_copier *copier;
  assert_ptr_not_equal(far, MAP_FAILED);
  assert_int_equal(tprt_cuda_copier_create(&copier), TPRT_OK);
  for (size_t i = 0; i < n * BYTES; i++)
    near[i] = (char)(7 * i + 1);
  plan->n_copies = 0;
  const tprt__copier_runs
      there =
          {.to = far, .from = near, .to_step = step, .from_step = BYTES, .bytes = BYTES, .n = n},
      back = {.to = near, .from = far, .to_step = BYTES, .from_step = step, .bytes = BYTES, .n = n};
  assert_int_equal(tprt__copier_copy(copier, &there), TPRT_OK);
  memset(near, 0, sizeof near);
  assert_int_equal(tprt__copier_copy(copier, &back), TPRT_OK);
  for (size_t i = 0; i < n * BYTES; i++)
    assert_int_equal(near[i], (char)(7 * i + 1));
  tprt_cuda_copier_destroy(copier);
  munmap(far, reach);
  return plan->n_copies;
}

static void test_runs(void **state) {
  (void)state;
  assert_int_equal(copy_there_and_back(64, 1), 2);
  assert_int_equal(copy_there_and_back(64, 3), 2);
  assert_int_equal(copy_there_and_back(INT32_MAX, 2), 2);
  assert_int_equal(copy_there_and_back((size_t)INT32_MAX + 1, 1), 2);
  assert_int_equal(copy_there_and_back((size_t)INT32_MAX + 1, 3), 6);
}

static void test_failure(void **state) {
  char memory[128] = {0};
  const tprt__copier_runs runs[] = {
      {.to = memory, .from = memory + 64, .to_step = 32, .from_step = 32, .bytes = 16, .n = 2},
      {.to = memory, .from = memory + 64, .bytes = 16, .n = 1}};
  tprt_cuda_copier *copier;
  (void)state;
  assert_int_equal(tprt_cuda_copier_create(&copier), TPRT_OK);
  setenv("FAKE_CUDA", "copy of rows", 1);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(tprt__copier_copy(copier, &runs[i]), TPRT_DEVICE);
    assert_non_null(strstr(tprt_last_error(), "a copy of rows: CUDA_ERROR_STUB_LIBRARY"));
  }
  setenv("FAKE_CUDA", "", 1);
  tprt_cuda_copier_destroy(copier);
}

int main(void) {
  fake_streams_of_thread_fn *streams_of_thread;
  setenv("TPRT_CUDA_LIBRARY", FAKE_DRIVER, 1);
  void *library = dlopen(FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL),
       *found = library ? dlsym(library, "fake_streams_of_thread") : NULL;
  if (!found)
    return 1;
  memcpy(&streams_of_thread, &found, sizeof found);
  plan = streams_of_thread();
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_runs), cmocka_unit_test(test_failure)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
