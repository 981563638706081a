/* Tests contexts of GPU programs on a driver that runs PTX on the host: memory, launches, copies
 * through the host, and every failure. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/table.h"
#include "tprt/tprt.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Kernels: a[i] = n * a[i] + f for i < n with one block, and one that does nothing. */
static const char kernels[] =
    ".version 7.8\n"
    ".target sm_80\n"
    ".address_size 64\n"
    ".visible .entry tp_kernel0(.param .u64 p0, .param .u32 p1, .param .f32 p2)\n"
    "{\n"
    "  .reg .pred %p<2>;\n"
    "  .reg .b32 %r<8>;\n"
    "  .reg .b32 %f<5>;\n"
    "  .reg .b64 %d<5>;\n"
    "  ld.param.u64 %d1, [p0];\n"
    "  ld.param.u32 %r1, [p1];\n"
    "  ld.param.f32 %f1, [p2];\n"
    "  mov.u32 %r2, %tid.x;\n"
    "  mov.u32 %r3, %ctaid.x;\n"
    "  mov.u32 %r4, %ntid.x;\n"
    "  mad.lo.s32 %r5, %r3, %r4, %r2;\n"
    "  setp.ge.u32 %p1, %r5, %r1;\n"
    "  @%p1 ret;\n"
    "  mul.wide.u32 %d2, %r5, 4;\n"
    "  add.s64 %d3, %d1, %d2;\n"
    "  ld.global.f32 %f2, [%d3];\n"
    "  cvt.rn.f32.u32 %f3, %r1;\n"
    "  fma.rn.f32 %f4, %f2, %f3, %f1;\n"
    "  st.global.f32 [%d3], %f4;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry tp_kernel100() { ret; }\n";

enum { REDUCE, CONTRACT };

/* Two devices: an all-reduce of 8 f32, and c[2] += a[2][3] b[3]. */
static test_table make_program(int64_t n_devices) {
  static const int64_t axis[] = {0}, shape[] = {8}, loops[] = {2, 3, 0, 1, 3, 1, 1, 0};
  test_table t = table_make(1, &n_devices);
  table_site(&t, TPRT_SITE_ALL_REDUCE, TPRT_F32, TPRT_SUM, 1, axis, 1, shape, NULL, 0);
  table_contract(&t, TPRT_F32, 2, loops);
  t.words[12] = 100;
  t.words[13] = 200;
  table_header(&t)->target = TPRT_TARGET_CUDA;
  return t;
}

static void mode(const char *text) { setenv("FAKE_CUDA", text, 1); }

static tprt_comm *alone(void) {
  tprt_comm *world;
  tprt_config config = {.size = sizeof config, .backend = "self"};
  assert_int_equal(tprt_world_create_threads(1, &config, &world), TPRT_OK);
  return world;
}

static tprt_context *make_context(tprt_comm *world) {
  tprt_context *context = NULL;
  tprt_context_config config = {.size = sizeof config, .target = TPRT_TARGET_CUDA};
  assert_int_equal(tprt_context_create(world, &config, &context), TPRT_OK);
  return context;
}

#define EXPECT(call, status, text)                                                                 \
  do {                                                                                             \
    assert_int_equal(call, status);                                                                \
    if (!strstr(tprt_last_error(), text))                                                          \
      fail_msg("\"%s\" does not say \"%s\"", tprt_last_error(), text);                             \
  } while (0)

static uint64_t bits(float value) {
  uint32_t word;
  memcpy(&word, &value, sizeof word);
  return word;
}

/* ---- Success ---- */

static void test_memory_and_kernels(void **state) {
  (void)state;
  tprt_comm *world = alone();
  test_table program = make_program(1);
  tprt_context *context = make_context(world);
  float host[1000];
  void *memory;
  for (int i = 0; i < 1000; i++)
    host[i] = (float)i;
  assert_int_equal(tprt_context_alloc(context, sizeof host, &memory), TPRT_OK);
  assert_int_equal(tprt_context_upload(context, memory, host, sizeof host), TPRT_OK);
  for (int turn = 0; turn < 2; turn++) { /* bound once */
    assert_int_equal(tprt_abi_enter(context, program.words), TPRT_OK);
    assert_int_equal(tprt_abi_kernels(context, kernels), TPRT_OK);
  }
  uint64_t arguments[] = {(uint64_t)(uintptr_t)memory, 1000, bits(0.5f)};
  assert_int_equal(tprt_abi_launch(context, 0, 8, 128, arguments, 3), TPRT_OK);
  assert_int_equal(tprt_abi_launch(context, 100, 1, 32, NULL, 0), TPRT_OK);
  float *part = (float *)tprt_abi_private(context), one = 0;
  assert_int_equal((uintptr_t)part % 64, 0);
  assert_int_equal(tprt_abi_copy(context, memory, part, 100), TPRT_OK);
  assert_int_equal(tprt_abi_read(context, part + 3, &one, sizeof one), TPRT_OK);
  assert_true(one == 3000.5f);
  one = 7;
  assert_int_equal(tprt_abi_write(context, part + 4, &one, sizeof one), TPRT_OK);
  void *stream = NULL;
  assert_int_equal(tprt_context_stream(context, &stream), TPRT_OK);
  assert_non_null(stream);
  assert_int_equal(tprt_context_synchronize(context), TPRT_OK);
  assert_int_equal(tprt_context_download(context, host, part, 100), TPRT_OK);
  assert_true(host[4] == 7.0f && host[24] == 24000.5f);
  int32_t number = 5, *word = tprt_abi_assert_word(context);
  assert_int_equal(tprt_abi_asserted(context), 0);
  assert_int_equal(tprt_abi_write(context, word, &number, sizeof number), TPRT_OK);
  assert_ptr_equal(tprt_abi_assert_word(context), word);
  assert_int_equal(tprt_abi_asserted(context), 5);
  void *constant = tprt_abi_constant(context, kernels, 20);
  assert_ptr_equal(tprt_abi_constant(context, kernels, 20), constant);
  assert_ptr_not_equal(tprt_abi_constant(context, kernels, 21), constant);
  char text[20];
  assert_int_equal(tprt_context_download(context, text, constant, 20), TPRT_OK);
  assert_memory_equal(text, kernels, 20);
  tprt_context_free(context, memory);
  tprt_context_free(context, NULL);
  tprt_context_destroy(context);
  tprt_comm_destroy(world);
  table_free(&program);
}

typedef struct rank_of {
  tprt_comm *world;
  const test_table *program;
  float sum, product;
} rank_of;

static void *run_sites(void *argument) {
  rank_of *r = argument;
  float host[8], a[6] = {1, 2, 3, 4, 5, 6}, b[3] = {1, 10, 100}, c[2] = {0.5f, 0.25f};
  tprt_context *context = make_context(r->world);
  for (int i = 0; i < 8; i++)
    host[i] = (float)(tprt_comm_rank(r->world) + 1);
  if (tprt_abi_enter(context, r->program->words) == TPRT_OK) {
    float *at = tprt_abi_registered(context);
    (void)tprt_context_upload(context, at, host, sizeof host);
    (void)tprt_abi_collective(context, REDUCE, at, at);
    (void)tprt_abi_read(context, at + 7, &r->sum, sizeof r->sum);
    (void)tprt_context_upload(context, at, a, sizeof a);
    (void)tprt_context_upload(context, at + 16, b, sizeof b);
    (void)tprt_context_upload(context, at + 32, c, sizeof c);
    (void)tprt_abi_contract(context, CONTRACT, at, at + 16, at + 32);
    (void)tprt_abi_read(context, at + 33, &r->product, sizeof r->product);
  }
  tprt_context_destroy(context);
  return NULL;
}

/* Two ranks on one GPU. */
static void test_sites(void **state) {
  (void)state;
  tprt_comm *worlds[2];
  test_table program = make_program(2);
  rank_of ranks[2];
  pthread_t threads[2];
  assert_int_equal(tprt_world_create_threads(2, NULL, worlds), TPRT_OK);
  for (int r = 0; r < 2; r++) {
    ranks[r] = (rank_of){.world = worlds[r], .program = &program};
    assert_int_equal(pthread_create(&threads[r], NULL, run_sites, &ranks[r]), 0);
  }
  for (int r = 0; r < 2; r++)
    pthread_join(threads[r], NULL);
  for (int r = 0; r < 2; r++) {
    assert_true(ranks[r].sum == 3.0f);
    assert_true(ranks[r].product == 654.25f);
    tprt_comm_destroy(worlds[r]);
  }
  table_free(&program);
}

/* ---- Rejected calls ---- */

static void test_refused(void **state) {
  (void)state;
  tprt_comm *world = alone();
  test_table program = make_program(1);
  tprt_context *context = NULL;
  void *memory = NULL;
  char host[1];
  tprt_context_config config = {.size = sizeof config, .target = (tprt_target)7};
  EXPECT(tprt_context_create(world, &config, &context), TPRT_INVALID_ARGUMENT,
         "tprt_context_config.target is 7");
  assert_int_equal(tprt_context_create(world, NULL, &context), TPRT_OK);
  EXPECT(tprt_context_alloc(context, 1, &memory), TPRT_INVALID_ARGUMENT,
         "created for the host, it has no GPU");
  EXPECT(tprt_context_upload(context, memory, kernels, 1), TPRT_INVALID_ARGUMENT, "it has no GPU");
  EXPECT(tprt_context_download(context, memory, kernels, 1), TPRT_INVALID_ARGUMENT,
         "it has no GPU");
  EXPECT(tprt_context_synchronize(context), TPRT_INVALID_ARGUMENT, "it has no GPU");
  EXPECT(tprt_context_stream(context, &memory), TPRT_INVALID_ARGUMENT, "it has no GPU");
  EXPECT(tprt_abi_enter(context, program.words), TPRT_INVALID_ARGUMENT,
         "compiled for a CUDA GPU, the context was created for the host");
  tprt_context_destroy(context);
  context = make_context(world);
  EXPECT(tprt_context_upload(context, NULL, kernels, 1), TPRT_INVALID_ARGUMENT,
         "tprt_context_upload: to is NULL");
  EXPECT(tprt_context_download(context, host, NULL, 1), TPRT_INVALID_ARGUMENT,
         "tprt_context_download: from is NULL");
  assert_int_equal(tprt_context_upload(context, NULL, NULL, 0), TPRT_OK);
  tprt_context_destroy(context);
  tprt_comm_destroy(world);
  table_free(&program);
}

/* A failing call of a program, each in its own context, which stays failed. */
typedef tprt_status attempt(tprt_context *context);

static tprt_status launch(tprt_context *context, int32_t kernel, int64_t n_blocks,
                          int32_t n_threads, int32_t n_arguments) {
  static const uint64_t none[TPRT_KERNEL_ARGUMENTS + 1];
  return (tprt_status)tprt_abi_launch(context, kernel, n_blocks, n_threads, none, n_arguments);
}

static tprt_status early(tprt_context *context) { return launch(context, 0, 1, 32, 3); }
static tprt_status bound_kernels(tprt_context *context) {
  return (tprt_status)tprt_abi_kernels(context, kernels);
}
static tprt_status loaded(tprt_context *context, int32_t kernel, int64_t n_blocks,
                          int32_t n_threads, int32_t n_arguments) {
  tprt_status status = bound_kernels(context);
  return status ? status : launch(context, kernel, n_blocks, n_threads, n_arguments);
}
static tprt_status negative_kernel(tprt_context *context) { return loaded(context, -1, 1, 32, 0); }
static tprt_status no_blocks(tprt_context *context) { return loaded(context, 0, 0, 32, 3); }
static tprt_status too_many_blocks(tprt_context *context) {
  return loaded(context, 0, INT64_C(1) << 31, 32, 3);
}
static tprt_status too_many_threads(tprt_context *context) {
  return loaded(context, 0, 1, 1025, 3);
}
static tprt_status too_many_arguments(tprt_context *context) {
  return loaded(context, 0, 1, 32, TPRT_KERNEL_ARGUMENTS + 1);
}
static tprt_status no_such_kernel(tprt_context *context) { return loaded(context, 1, 1, 32, 0); }
static tprt_status no_ptx(tprt_context *context) {
  return (tprt_status)tprt_abi_kernels(context, "nonsense");
}
static tprt_status bad_address(tprt_context *context) {
  static const uint64_t arguments[] = {64, 1, 0};
  tprt_status status = bound_kernels(context);
  return status ? status : (tprt_status)tprt_abi_launch(context, 0, 1, 32, arguments, 3);
}
static tprt_status negative_copy(tprt_context *context) {
  return (tprt_status)tprt_abi_copy(context, tprt_abi_private(context), tprt_abi_private(context),
                                    -1);
}
static tprt_status negative_read(tprt_context *context) {
  char byte;
  return (tprt_status)tprt_abi_read(context, tprt_abi_private(context), &byte, -1);
}
static tprt_status negative_write(tprt_context *context) {
  return (tprt_status)tprt_abi_write(context, tprt_abi_private(context), kernels, -1);
}
static tprt_status negative_constant(tprt_context *context) {
  assert_null(tprt_abi_constant(context, kernels, -1));
  return (tprt_status)tprt_abi_status(context);
}
static tprt_status starts_twice(tprt_context *context) {
  void *buffer = tprt_abi_registered(context);
  assert_int_equal(tprt_abi_start(context, REDUCE, buffer, buffer), TPRT_OK);
  return (tprt_status)tprt_abi_start(context, REDUCE, buffer, buffer);
}
static tprt_status waits_unstarted(tprt_context *context) {
  void *buffer = tprt_abi_registered(context);
  return (tprt_status)tprt_abi_wait(context, REDUCE, buffer, buffer);
}

static void test_calls_that_fail(void **state) {
  (void)state;
  static const struct {
    attempt *call;
    tprt_status status;
    const char *text;
  } rows[] = {
      {early, TPRT_INVALID_ARGUMENT,
       "kernel 0 is launched before the program registered its kernels"},
      {negative_kernel, TPRT_INVALID_ARGUMENT,
       "launch of kernel -1 on 1 blocks of 32 threads with 0 arguments"},
      {no_blocks, TPRT_INVALID_ARGUMENT, "on 0 blocks"},
      {too_many_blocks, TPRT_INVALID_ARGUMENT, "on 2147483648 blocks"},
      {too_many_threads, TPRT_INVALID_ARGUMENT, "of 1025 threads"},
      {too_many_arguments, TPRT_INVALID_ARGUMENT, "with 65 arguments"},
      {no_such_kernel, TPRT_DEVICE, "tp_kernel1: CUDA_ERROR_NOT_FOUND"},
      {no_ptx, TPRT_DEVICE, "the program's kernels: CUDA_ERROR_INVALID_PTX"},
      {bad_address, TPRT_DEVICE, "tp_kernel0: CUDA_ERROR_ILLEGAL_ADDRESS"},
      {negative_copy, TPRT_INVALID_ARGUMENT, "invalid size of a copy: -1 bytes"},
      {negative_read, TPRT_INVALID_ARGUMENT, "invalid size of a copy: -1 bytes"},
      {negative_write, TPRT_INVALID_ARGUMENT, "invalid size of a copy: -1 bytes"},
      {negative_constant, TPRT_INVALID_ARGUMENT, "invalid size of a copy: -1 bytes"},
      {starts_twice, TPRT_INVALID_ARGUMENT, "site 0: it was already started and not waited for"},
      {waits_unstarted, TPRT_INVALID_ARGUMENT, "site 0: it was not started with these buffers"},
  };
  test_table program = make_program(1);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tprt_comm *world = alone();
    tprt_context *context = make_context(world);
    assert_int_equal(tprt_abi_enter(context, program.words), TPRT_OK);
    assert_int_equal(rows[i].call(context), rows[i].status);
    if (!strstr(tprt_context_error(context), rows[i].text))
      fail_msg("\"%s\" does not say \"%s\"", tprt_context_error(context), rows[i].text);
    assert_int_equal(tprt_abi_launch(context, 0, 1, 32, NULL, 0), rows[i].status);
    assert_int_equal(tprt_abi_kernels(context, kernels), rows[i].status);
    assert_int_equal(tprt_abi_copy(context, NULL, NULL, 8), rows[i].status);
    assert_int_equal(tprt_abi_read(context, NULL, NULL, 8), rows[i].status);
    assert_int_equal(tprt_abi_write(context, NULL, NULL, 8), rows[i].status);
    assert_null(tprt_abi_constant(context, kernels, 8));
    assert_null(tprt_abi_assert_word(context));
    assert_int_equal(tprt_abi_asserted(context), 0);
    tprt_context_destroy(context);
    tprt_comm_destroy(world);
  }
  tprt_comm *world = alone();
  tprt_context *context = make_context(world);
  assert_int_equal(tprt_abi_kernels(context, kernels), TPRT_INVALID_ARGUMENT);
  assert_non_null(strstr(tprt_context_error(context), "no program is bound to the context"));
  tprt_context_destroy(context);
  tprt_comm_destroy(world);
  table_free(&program);
}

/* Each driver call fails in turn. */
static tprt_status everything(tprt_comm *world, const test_table *program, char *error,
                              size_t size) {
  tprt_context *context = NULL;
  tprt_context_config config = {.size = sizeof config, .target = TPRT_TARGET_CUDA};
  float one = 1;
  uint64_t arguments[] = {0, 0, 0};
  tprt_status status = tprt_context_create(world, &config, &context);
  snprintf(error, size, "%s", tprt_last_error());
  if (status)
    return status;
  status = (tprt_status)tprt_abi_enter(context, program->words);
  (void)tprt_abi_kernels(context, kernels);
  (void)tprt_abi_launch(context, 0, 1, 32, arguments, 3);
  (void)tprt_abi_write(context, tprt_abi_private(context), &one, sizeof one);
  (void)tprt_abi_copy(context, tprt_abi_private(context), tprt_abi_registered(context), sizeof one);
  status = (tprt_status)tprt_abi_read(context, tprt_abi_registered(context), &one, sizeof one);
  snprintf(error, size, "%s", tprt_context_error(context));
  tprt_context_destroy(context);
  return status;
}

static void test_driver_that_fails(void **state) {
  (void)state;
  static const char *const modes[] = {"push",         "load",           "function",
                                      "launch",       "copy from host", "copy on device",
                                      "copy to host", "synchronize"};
  test_table program = make_program(1);
  char error[512];
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    tprt_comm *world = alone();
    mode(modes[i]);
    if (everything(world, &program, error, sizeof error) != TPRT_DEVICE ||
        !strstr(error, "CUDA_ERROR_STUB_LIBRARY"))
      fail_msg("%s: \"%s\"", modes[i], error);
    mode("");
    tprt_comm_destroy(world);
  }
  tprt_comm *world = alone();
  assert_int_equal(everything(world, &program, error, sizeof error), TPRT_OK);
  tprt_comm_destroy(world);
  table_free(&program);
}

/* Runs before a driver is found. */
static void test_no_driver(void **state) {
  (void)state;
  tprt_comm *world = alone();
  tprt_context *context = NULL;
  tprt_context_config config = {.size = sizeof config, .target = TPRT_TARGET_CUDA};
  setenv("TPRT_CUDA_LIBRARY", "/nonexistent/libcuda.so", 1);
  EXPECT(tprt_context_create(world, &config, &context), TPRT_UNSUPPORTED,
         "CUDA: /nonexistent/libcuda.so: cannot open");
  setenv("TPRT_CUDA_LIBRARY", FAKE_DRIVER, 1);
  tprt_comm_destroy(world);
}

int main(void) {
  mode("");
  setenv("TPRT_BLASLT_LIBRARY", FAKE_BLASLT, 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_driver),       cmocka_unit_test(test_memory_and_kernels),
      cmocka_unit_test(test_sites),           cmocka_unit_test(test_refused),
      cmocka_unit_test(test_calls_that_fail), cmocka_unit_test(test_driver_that_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
