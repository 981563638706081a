/* The fakes of the driver and of cuBLASLt for tests. */
#define _GNU_SOURCE 1
#include "blas_fakes.h"

#include "test/runtime/harness/table.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

fake_blaslt_begin_fn *blas_begin;
static fake_blaslt_look_fn *look;
const fake_blaslt_plan blas_without_faults = {0};

int blas_fakes_setup(void **state) {
  (void)state;
  setenv("FAKE_CUDA", "", 1);
  setenv("TPRT_CUDA_LIBRARY", FAKE_DRIVER, 1);
  setenv("TPRT_BLASLT_LIBRARY", FAKE_BLASLT, 1);
  void *library = dlopen(FAKE_BLASLT, RTLD_NOW | RTLD_LOCAL);
  void *found = library ? dlsym(library, "fake_blaslt_begin") : NULL;
  memcpy(&blas_begin, &found, sizeof found);
  found = library ? dlsym(library, "fake_blaslt_look") : NULL;
  memcpy(&look, &found, sizeof found);
  return !blas_begin || !look;
}

fake_blaslt_report blas_report(void) {
  fake_blaslt_report r;
  look(&r);
  return r;
}

tprt_comm *blas_world(void) {
  tprt_comm *world;
  tprt_config config = {.size = sizeof config, .backend = "self"};
  assert_int_equal(tprt_world_create_threads(1, &config, &world), TPRT_OK);
  return world;
}

tprt_context *blas_context(tprt_comm *world, tprt_target target) {
  tprt_context *context = NULL;
  tprt_context_config config = {.size = sizeof config, .target = target};
  assert_int_equal(tprt_context_create(world, &config, &context), TPRT_OK);
  return context;
}

void blas_fill(tprt_dtype dtype, void *memory, uint32_t seed) {
  for (int i = 0; i < BLAS_ELEMENTS; i++) {
    seed = seed * 1664525u + 1013904223u;
    int number = (int)(seed >> 24) % 7;
    float f = (float)(number - 3);
    double d = (double)f;
    uint64_t word = (uint64_t)number;
    uint16_t half = dtype == TPRT_F16 ? tprt_f32_to_f16(f) : tprt_f32_to_bf16(f);
    const void *from = dtype == TPRT_F32                         ? (const void *)&f
                       : dtype == TPRT_F64                       ? (const void *)&d
                       : dtype == TPRT_F16 || dtype == TPRT_BF16 ? (const void *)&half
                                                                 : (const void *)&word;
    memcpy((char *)memory + (size_t)i * tprt_dtype_size(dtype), from, tprt_dtype_size(dtype));
  }
}

void blas_buffers(tprt_dtype dtype, int n, uint32_t seed, char **memory) {
  for (int i = 0; i < n; i++) {
    memory[i] = malloc(BLAS_ELEMENTS * tprt_dtype_size(dtype));
    blas_fill(dtype, memory[i], seed + (uint32_t)i);
  }
}

void blas_buffers_free(int n, char **memory) {
  for (int i = 0; i < n; i++)
    free(memory[i]);
}

void blas_memory(tprt_dtype dtype, char *memory[3]) { blas_buffers(dtype, 3, 3, memory); }

void blas_memory_free(char *memory[3]) { blas_buffers_free(3, memory); }

void blas_on_host(tprt_dtype dtype, bool overwrite, int n_loops, const int64_t *loops,
                  const void *a, const void *b, void *c) {
  int64_t one = 1;
  test_table t = table_make(1, &one);
  table_contract(&t, dtype, n_loops, loops)->dim = overwrite;
  tprt_comm *world = blas_world();
  tprt_context *context = blas_context(world, TPRT_TARGET_HOST);
  assert_int_equal(tprt_abi_enter(context, t.words), TPRT_OK);
  assert_int_equal(tprt_abi_contract(context, 0, a, b, c), TPRT_OK);
  tprt_context_destroy(context);
  tprt_comm_destroy(world);
  table_free(&t);
}
