/* Tests PTX on the fake driver: modules, launches in streams and graphs, cooperative launches, and
 * the errors that a program gets. */
#define _GNU_SOURCE 1
#include "fake_driver.h"
#include "fake_module.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { N = 1000, MOST_CTAS = 8 };

extern cuda_result copy_async(cuda_address to, cuda_address from, size_t bytes,
                              cuda_stream stream) __asm__("cuMemcpyAsync");

static const char scale[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry scale(.param .u64 data, .param .f32 factor, .param .u32 n)\n{\n"
    ".reg .pred %p1;\n.reg .b32 %r<5>;\n.reg .f32 %f<4>;\n.reg .b64 %d<4>;\n"
    "ld.param.u64 %d1, [data];\nld.param.f32 %f1, [factor];\nld.param.u32 %r1, [n];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"
    "mad.lo.s32 %r2, %r2, %r3, %r4;\nsetp.ge.u32 %p1, %r2, %r1;\n@%p1 ret;\n"
    "mul.wide.u32 %d2, %r2, 4;\nadd.u64 %d1, %d1, %d2;\nld.global.f32 %f2, [%d1];\n"
    "mul.f32 %f2, %f2, %f1;\nst.global.f32 [%d1], %f2;\nret;\n}\n";

static cuda_module module;
static cuda_function function;

static cuda_result launch(cuda_address data, float factor, unsigned n, unsigned n_ctas) {
  void *parameters[] = {&data, &factor, &n};
  return fake_kernel(function, n_ctas, 1, 1, 128, 1, 1, 0, NULL, parameters, NULL);
}

static int setup(void **state) {
  (void)state;
  return fake_module_load(&module, scale) || fake_module_function(&function, module, "scale");
}

static int teardown(void **state) {
  (void)state;
  return fake_module_unload(module);
}

static cuda_address numbers(void) {
  float host[N];
  cuda_address data;
  for (int i = 0; i < N; i++)
    host[i] = (float)i;
  assert_int_equal(fake_allocate(&data, sizeof host), 0);
  assert_int_equal(fake_upload(data, host, sizeof host), 0);
  return data;
}

static void expect(cuda_address data, float factor) {
  float host[N];
  assert_int_equal(fake_copy_to_host(host, data, sizeof host), 0);
  for (int i = 0; i < N; i++)
    assert_true(host[i] == (float)i * factor);
}

/* A copy and a set without a stream come late: a created stream, which does not block, reads what
 * was there before, unless the default stream was waited for. */
static void test_late_writes(void **state) {
  float host = 3, got;
  cuda_address data, copy;
  cuda_stream stream;
  (void)state;
  assert_int_equal(fake_stream_create(&stream, CUDA_STREAM_NON_BLOCKING), 0);
  assert_int_equal(fake_allocate(&data, sizeof host), 0);
  assert_int_equal(fake_allocate(&copy, sizeof host), 0);
  for (int waits = 0; waits < 2; waits++)
    for (int uploads = 0; uploads < 2; uploads++) {
      assert_int_equal(fake_set(data, 0xff, sizeof host), 0);
      assert_int_equal(fake_stream_synchronize(NULL), 0);
      assert_int_equal(
          uploads ? fake_upload(data, &host, sizeof host) : fake_set(data, 0, sizeof host), 0);
      if (waits)
        assert_int_equal(fake_stream_synchronize(NULL), 0);
      assert_int_equal(copy_async(copy, data, sizeof host, stream), 0);
      assert_int_equal(fake_copy_to_host(&got, copy, sizeof got), 0);
      assert_true(waits ? got == (uploads ? host : 0) : isnan(got));
      assert_int_equal(fake_copy_to_host(&got, data, sizeof got), 0); /* waits */
      assert_true(got == (uploads ? host : 0));
    }
  assert_int_equal(fake_stream_destroy(stream), 0);
  assert_int_equal(fake_release(data), 0);
  assert_int_equal(fake_release(copy), 0);
}

static void test_launches(void **state) {
  cuda_address data = numbers();
  cuda_function again;
  (void)state;
  assert_int_equal(launch(data, 2, N, 8), 0);
  expect(data, 2);
  /* CTAs without work; more than run concurrently */
  assert_int_equal(launch(data, 2, N, 100), 0);
  expect(data, 4);
  assert_int_equal(fake_module_function(&again, module, "scale"), 0);
  assert_ptr_equal(again, function);
  float factor = 0.5f;
  unsigned n = N;
  void *parameters[] = {&data, &factor, &n};
  assert_int_equal(
      fake_cooperative_kernel(function, MOST_CTAS, 1, 1, 128, 1, 1, 0, NULL, parameters), 0);
  expect(data, 2);
  assert_int_equal(
      fake_cooperative_kernel(function, MOST_CTAS + 1, 1, 1, 128, 1, 1, 0, NULL, parameters),
      FAKE_TOO_LARGE);
  assert_int_equal(fake_release(data), 0);
}

/* Launches ask for at most 48 KiB of dynamic shared memory, or for what their function may. */
static void test_shared(void **state) {
  enum { LITTLE = 48 << 10, MUCH = 160 << 10, TOO_MUCH = 228 << 10 };
  cuda_address data = numbers();
  float factor = 2;
  unsigned n = N;
  void *parameters[] = {&data, &factor, &n};
  (void)state;
#define LAUNCH(bytes) fake_kernel(function, 8, 1, 1, 128, 1, 1, bytes, NULL, parameters, NULL)
  assert_int_equal(LAUNCH(LITTLE), 0);
  assert_int_equal(LAUNCH(LITTLE + 1), FAKE_INVALID_VALUE);
  assert_int_equal(fake_set_attribute(function, CUDA_MOST_DYNAMIC_SHARED_BYTES, TOO_MUCH),
                   FAKE_INVALID_VALUE);
  assert_int_equal(fake_set_attribute(function, CUDA_MULTIPROCESSORS, 1), FAKE_INVALID_VALUE);
  assert_int_equal(fake_set_attribute(function, CUDA_MOST_DYNAMIC_SHARED_BYTES, MUCH), 0);
  assert_int_equal(LAUNCH(MUCH), 0);
  assert_int_equal(LAUNCH(MUCH + 1), FAKE_INVALID_VALUE);
  expect(data, 4);
  assert_int_equal(fake_release(data), 0);
}

/* A graph copies the arguments of its launches. */
static void test_graph(void **state) {
  cuda_address data = numbers();
  cuda_graph graph;
  cuda_program program;
  (void)state;
  assert_int_equal(fake_capture_begin(NULL, 0), 0);
  assert_int_equal(launch(data, 2, N, 8), 0);
  assert_int_equal(launch(data, 3, N, 8), 0);
  assert_int_equal(fake_capture_end(NULL, &graph), 0);
  expect(data, 1);
  assert_int_equal(fake_instantiate(&program, graph, 0), 0);
  assert_int_equal(fake_graph_destroy(graph), 0);
  assert_int_equal(fake_replay(program, NULL), 0);
  expect(data, 6);
  assert_int_equal(fake_replay(program, NULL), 0);
  expect(data, 36);
  assert_int_equal(fake_program_destroy(program), 0);
  assert_int_equal(fake_release(data), 0);
}

/* ---- Late streams ---- */

extern cuda_result wait_event(cuda_stream stream, cuda_event event,
                              unsigned flags) __asm__("cuStreamWaitEvent");

static void add_one(void *data) { ++*(int *)data; }
static void add_ten_of_one(void *data) { *(int *)data += *(int *)data == 1 ? 10 : 100; }

static void test_streams(void **state) {
  cuda_stream first, second;
  cuda_event event;
  cuda_graph graph;
  int n = 0;
  (void)state;
  setenv("FAKE_LATE", "2", 1);
  assert_int_equal(fake_stream_create(&first, 0), FAKE_INVALID_VALUE);
  assert_int_equal(fake_stream_create(&first, CUDA_STREAM_NON_BLOCKING), 0);
  assert_int_equal(fake_stream_create(&second, CUDA_STREAM_NON_BLOCKING), 0);
  assert_int_equal(fake_event_create(&event, CUDA_EVENT_DISABLE_TIMING), 0);
  /* No work runs before it is waited for; without the wait for the event, the second stream runs
   * too early. */
  for (int waits = 0; waits < 2; waits++) {
    n = 0;
    assert_int_equal(fake_host_call(first, add_one, &n), 0);
    assert_int_equal(fake_event_record(event, first), 0);
    assert_int_equal(waits ? wait_event(second, event, 0) : 0, 0);
    assert_int_equal(fake_host_call(second, add_ten_of_one, &n), 0);
    assert_int_equal(n, 0);
    assert_int_equal(fake_stream_synchronize(second), 0);
    assert_int_equal(n, waits ? 11 : 100);
    assert_int_equal(fake_stream_synchronize(first), 0);
    assert_int_equal(n, waits ? 11 : 101);
  }
  /* A stream that waits for a capture joins it, and must be waited for by it. */
  for (int joins = 0; joins < 2; joins++) {
    assert_int_equal(fake_capture_begin(first, 0), 0);
    assert_int_equal(fake_event_record(event, first), 0);
    assert_int_equal(wait_event(second, event, 0), 0);
    assert_int_equal(fake_host_call(second, add_one, &n), 0);
    assert_int_equal(fake_event_record(event, second), 0);
    assert_int_equal(joins ? wait_event(first, event, 0) : 0, 0);
    assert_int_equal(fake_capture_end(first, &graph), joins ? 0 : FAKE_UNJOINED);
  }
  assert_int_equal(fake_graph_destroy(graph), 0);
  /* Work that was not captured cannot be waited for in the capture. */
  assert_int_equal(fake_event_record(event, second), 0);
  assert_int_equal(fake_capture_begin(first, 0), 0);
  assert_int_equal(wait_event(first, event, 0), FAKE_ISOLATION);
  assert_int_equal(fake_capture_end(first, &graph), 0);
  assert_int_equal(fake_graph_destroy(graph), 0);
  assert_int_equal(fake_event_destroy(event), 0);
  assert_int_equal(fake_stream_destroy(first), 0);
  assert_int_equal(fake_stream_synchronize(first), FAKE_INVALID_VALUE);
  assert_int_equal(fake_stream_destroy(second), 0);
  unsetenv("FAKE_LATE");
}

/* ---- Modes of captures ---- */

extern cuda_result exchange_mode(int *mode) __asm__("cuThreadExchangeStreamCaptureMode");
extern cuda_result query_event(cuda_event event) __asm__("cuEventQuery");

typedef struct query {
  cuda_event event;
  int mode; /* of the thread that asks */
  cuda_result result;
} query;

static void *ask(void *argument) {
  query *q = argument;
  int mode = q->mode;
  assert_int_equal(exchange_mode(&mode), 0);
  q->result = query_event(q->event);
  assert_int_equal(exchange_mode(&mode), 0);
  return NULL;
}

/* A capture prohibits unsafe calls to its thread, in mode 0 also to others, unless their mode is
 * another one; such a call breaks it. */
static void test_modes(void **state) {
  enum { GLOBAL, THREAD_LOCAL, N_MODES = 3 };
  cuda_stream stream;
  query q;
  (void)state;
  assert_int_equal(fake_stream_create(&stream, CUDA_STREAM_NON_BLOCKING), 0);
  assert_int_equal(fake_event_create(&q.event, CUDA_EVENT_DISABLE_TIMING), 0);
  for (int mode = 0; mode < N_MODES; mode++) {
    for (q.mode = 0; q.mode < N_MODES; q.mode++) {
      for (int by_other = 0; by_other < 2; by_other++) {
        bool breaks = mode != CUDA_CAPTURE_RELAXED && q.mode != CUDA_CAPTURE_RELAXED &&
                      (!by_other || (mode == GLOBAL && q.mode == GLOBAL));
        pthread_t thread;
        cuda_graph graph;
        assert_int_equal(fake_capture_begin(stream, mode), 0);
        if (by_other) {
          assert_int_equal(pthread_create(&thread, NULL, ask, &q), 0);
          pthread_join(thread, NULL);
        } else {
          ask(&q);
        }
        assert_int_equal(q.result, breaks ? FAKE_CAPTURE_UNSUPPORTED : 0);
        assert_int_equal(fake_capture_end(stream, &graph), breaks ? FAKE_CAPTURE_INVALID : 0);
        if (!breaks)
          assert_int_equal(fake_graph_destroy(graph), 0);
      }
    }
  }
  q.mode = N_MODES;
  assert_int_equal(exchange_mode(&q.mode), FAKE_INVALID_VALUE);
  assert_int_equal(fake_event_destroy(q.event), 0);
  assert_int_equal(fake_stream_destroy(stream), 0);
}

static void test_mistakes(void **state) {
  cuda_address data = numbers();
  cuda_module other;
  cuda_function none;
  const char *name;
  (void)state;
  assert_int_equal(launch(data, 2, N + 1, 8), FAKE_ILLEGAL_ADDRESS);
  assert_int_equal(launch(data + 2, 2, N - 1, 8), FAKE_MISALIGNED_ADDRESS);
  assert_int_equal(launch(data, 2, N, 0), FAKE_INVALID_VALUE);
  assert_int_equal(fake_module_load(&other, "no PTX"), FAKE_INVALID_PTX);
  assert_int_equal(fake_module_function(&none, module, "scales"), FAKE_NOT_FOUND);
  assert_int_equal(fake_error_name(FAKE_ILLEGAL_ADDRESS, &name), 0);
  assert_string_equal(name, "CUDA_ERROR_ILLEGAL_ADDRESS");
  assert_int_equal(fake_allocate(&data, 0), FAKE_INVALID_VALUE);
  assert_int_equal(fake_release(data + 1), FAKE_INVALID_VALUE);
  assert_int_equal(fake_release(data), 0);
  assert_int_equal(launch(data, 2, N, 8), FAKE_ILLEGAL_ADDRESS); /* the memory was freed */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_launches),   cmocka_unit_test(test_shared),
      cmocka_unit_test(test_graph),      cmocka_unit_test(test_mistakes),
      cmocka_unit_test(test_streams),    cmocka_unit_test(test_modes),
      cmocka_unit_test(test_late_writes)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
