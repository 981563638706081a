/* Tests collectives of GPU programs: virtual ranks of one GPU, and ranks of several. All kinds,
 * types and reductions must be bitwise equal to the same program on the host, with late streams:
 * work before a collective in a rank's stream runs only when it is waited for, and so does work
 * after it. Collectives in two calls run in a second stream, in orders in which one stream is ahead
 * of the other. */
#define _GNU_SOURCE 1
#include "collective_cases.h"
#include "test/runtime/cuda/fake/fake_stream.h"
#include "tprt/tprt.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void run_in_calls(const program *p, tprt_target target, const char *backend, bool splits,
                         rank *ranks) {
  run_in_turns(p, target, backend, splits, -1, NULL, ranks);
}

static void run(const program *p, tprt_target target, const char *backend, rank *ranks) {
  run_in_calls(p, target, backend, false, ranks);
}

static void compare(const program *p, const char *backend, bool splits) {
  rank *got = calloc(MOST_RANKS, sizeof *got), *expected = calloc(MOST_RANKS, sizeof *expected);
  run_in_calls(p, TPRT_TARGET_CUDA, backend, splits, got);
  run(p, TPRT_TARGET_HOST, "loopback", expected);
  for (int i = 0; i < p->n_ranks; i++) {
    if (got[i].status || expected[i].status)
      fail_msg("rank %d of %d: %s%s", i, p->n_ranks, got[i].error, expected[i].error);
    for (int site = 0; site < p->n_sites; site++) {
      const row *r = &p->rows[site];
      if (memcmp(got[i].results[site], expected[i].results[site], recv_bytes(p, r)) != 0)
        fail_msg("site %d, kind %d, %s %s: rank %d of %d has other bits than on the host", site,
                 r->kind, tprt_dtype_name(r->dtype), tprt_reduction_name(r->reduction), i,
                 p->n_ranks);
      assert_int_equal(got[i].stats[site].bytes, expected[i].stats[site].bytes);
      assert_int_equal(got[i].stats[site].calls, 1);
    }
  }
  free_results(p, got);
  free_results(p, expected);
  free(got);
  free(expected);
}

static void compare_meshes(const char *backend, bool all, bool splits) {
  static const int meshes[][2] = {{1, 2}, {1, 3}, {2, 2}, {5, 1}};
  for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++) {
    program *p = make_program(meshes[i][0], meshes[i][1], all && i == 1);
    compare(p, backend, splits);
    free_program(p);
  }
}

static void set(const char *name, const char *value) {
  if (value)
    setenv(name, value, 1);
  else
    unsetenv(name);
}

static void test_virtual_ranks(void **state) {
  (void)state;
  compare_meshes("loopback", true, false);
}

static void test_late_streams(void **state) {
  (void)state;
  set("FAKE_LATE", "2");
  compare_meshes("loopback", false, false);
  set("FAKE_LATE", NULL);
}

static void test_several_gpus(void **state) {
  (void)state;
  set("FAKE_LATE", "2");
  set("FAKE_DEVICES", "3");    /* so some ranks share a device */
  set("FAKE_NO_CONTEXT", "1"); /* else they would use the thread's context */
  compare_meshes("loopback", false, false);
  /* the contexts differ, but access to the memory is enabled already */
  compare_meshes("loopback", false, false);
  set("FAKE_NO_CONTEXT", NULL);
  set("FAKE_DEVICES", NULL);
  set("FAKE_LATE", NULL);
}

/* A host backend: data is copied. */
static void test_through_the_host(void **state) {
  (void)state;
  set("FAKE_LATE", "2");
  compare_meshes("shm", false, false);
  compare_meshes("shm", false, true);
  set("FAKE_LATE", NULL);
}

/* ---- In two calls ---- */

/* Two ranks have four streams: all combinations of late ones. */
enum { N_ORDERS = 16 };

static void set_order(int number) {
  const char order[] = {number & 1 ? '1' : '0', number & 2 ? '1' : '0', number & 4 ? '1' : '0',
                        number & 8 ? '1' : '0', 0};
  set("FAKE_ORDER", order);
}

static void test_split_calls(void **state) {
  (void)state;
  compare_meshes("loopback", true, true);
  set("FAKE_LATE", "2");
  compare_meshes("loopback", false, true);
  set("FAKE_LATE", NULL);
  for (int i = 0; i < 4; i++) {
    static const char *const ways[] = {"01", "?", "001", "0?1"};
    set("FAKE_ORDER", ways[i]);
    set("FAKE_DEVICES", i % 2 ? "3" : NULL);
    set("FAKE_NO_CONTEXT", i % 2 ? "1" : NULL);
    compare_meshes("loopback", false, true);
  }
  set("FAKE_NO_CONTEXT", NULL);
  set("FAKE_DEVICES", NULL);
  set("FAKE_ORDER", NULL);
}

/* Of two ranks. */
static bool is_right(const program *p, int ahead, int first, const rank *expected) {
  rank *got = calloc(MOST_RANKS, sizeof *got);
  turns in_turns = {.first = first};
  bool right = true;
  pthread_barrier_init(&in_turns.enqueued, NULL, 2);
  pthread_barrier_init(&in_turns.read, NULL, 2);
  run_in_turns(p, TPRT_TARGET_CUDA, "loopback", true, ahead, &in_turns, got);
  pthread_barrier_destroy(&in_turns.enqueued);
  pthread_barrier_destroy(&in_turns.read);
  for (int i = 0; i < p->n_ranks; i++)
    for (int site = 0; site < p->n_sites; site++) {
      right &= !got[i].status && memcmp(got[i].results[site], expected[i].results[site],
                                        recv_bytes(p, &p->rows[site])) == 0;
    }
  free_results(p, got);
  free(got);
  return right;
}

/* Checks that each stream wait for an event is needed: without it results are wrong in some order,
 * and the fake driver detects every missing wait. */
static void test_each_wait_counts(void **state) {
  (void)state;
#if defined(__SANITIZE_THREAD__) /* the races that this test makes on purpose would be reported */
  skip();
#endif
  static const row rows[] = {
      {TPRT_SITE_ALL_REDUCE, TPRT_F32, TPRT_SUM, {64, 48}, 0, 0, IN_PLACE, RING, true},
      {TPRT_SITE_PERMUTE, TPRT_F32, TPRT_NO_REDUCTION, {6, 5}, 0, 0, APART, RING, true}};
  void *library = dlopen(FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL),
       *found = dlsym(library, "fake_waits_of_all");
  fake_waits_of_all_fn *waits_of_all;
  assert_non_null(found);
  memcpy(&waits_of_all, &found, sizeof found);
  fake_wait_plan *waits = waits_of_all();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    program *p = make_empty(1, 2);
    rank *expected = calloc(MOST_RANKS, sizeof *expected);
    add_site(p, &rows[i]);
    run(p, TPRT_TARGET_HOST, "loopback", expected);
    set_order(0);
    waits->n = waits->lose = 0;
    assert_true(is_right(p, -1, 0, expected));
    long n_waits = waits->n;
    /* Two waits of each rank with its second stream, and two for each synchronization of two
     * ranks. */
    assert_int_equal(n_waits, 4 + 2 * (rows[i].kind == TPRT_SITE_ALL_REDUCE ? 3 : 2));
    for (long lost = 1; lost <= n_waits; lost++) {
      bool right = true;
      for (int k = 0; k < 4 * N_ORDERS && right; k++) {
        set_order(k % N_ORDERS);
        waits->n = 0;
        waits->lose = lost;
        right = is_right(p, k / N_ORDERS % 2, k / N_ORDERS / 2, expected);
      }
      if (right)
        fail_msg("kind %d: nobody sees that wait %ld of %ld is not done", rows[i].kind, lost,
                 n_waits);
    }
    waits->lose = 0;
    free_results(p, expected);
    free(expected);
    free_program(p);
  }
  set("FAKE_ORDER", NULL);
  dlclose(library);
}

/* ---- Failures ---- */

static void expect_failure(const program *p, tprt_status status, const char *text) {
  rank *ranks = calloc(MOST_RANKS, sizeof *ranks);
  bool said = false;
  run(p, TPRT_TARGET_CUDA, "loopback", ranks);
  for (int i = 0; i < p->n_ranks; i++) {
    if (ranks[i].status != status)
      fail_msg("rank %d: status %d: %s", i, ranks[i].status, ranks[i].error);
    said |= strstr(ranks[i].error, text) != NULL;
  }
  if (!said)
    fail_msg("\"%s\" does not say \"%s\"", ranks[0].error, text);
  free_results(p, ranks);
  free(ranks);
}

/* All ranks get the error of the rank that failed. */
static void test_driver_that_fails(void **state) {
  (void)state;
  static const struct {
    const char *mode, *devices, *text;
    tprt_status status;
  } cases[] = {
      {"event", NULL, "CUDA: an event", TPRT_DEVICE},
      {"record", NULL, "site 0: CUDA: an event: CUDA_ERROR_STUB_LIBRARY", TPRT_DEVICE},
      {"wait", NULL, "site 0: CUDA: waiting for an event", TPRT_DEVICE},
      {"load", NULL, "site 0: CUDA: the kernels of sites", TPRT_DEVICE},
      {"function", NULL, "site 0: CUDA: tprt_reduce_f32", TPRT_DEVICE},
      {"launch", NULL, "site 0: CUDA: tprt_reduce_f32", TPRT_DEVICE},
      {"can reach", "2", "site 0: CUDA: whether a GPU reaches another's memory", TPRT_DEVICE},
      {"reach", "2", "site 0: CUDA: reaching another GPU's memory", TPRT_DEVICE},
      {"no peer", "2",
       "GPU 0 cannot access the memory of GPU 1; ranks on these GPUs need backend nccl",
       TPRT_UNSUPPORTED},
  };
  program *p = make_program(1, 3, false);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    set("FAKE_DEVICES", cases[i].devices);
    set("FAKE_NO_CONTEXT", cases[i].devices);
    set("FAKE_CUDA", cases[i].mode);
    expect_failure(p, cases[i].status, cases[i].text);
  }
  set("FAKE_CUDA", "");
  set("FAKE_DEVICES", NULL);
  set("FAKE_NO_CONTEXT", NULL);
  free_program(p);
}

/* ---- One call for all ranks ---- */

typedef struct member {
  pthread_t thread;
  tprt_comm *world;
  void *memory;
  tprt_status status, result;
  char error[256];
  float sum;
} member;

static int n_calls;
static void *given;

/* Adds the values of all ranks to the first number of rank 0, with the driver. */
static tprt_status add_all(const void *const *arguments, int n_ranks, void *stream) {
  typedef int copy_fn(uint64_t to, uint64_t from, size_t bytes, void *stream);
  void *library = dlopen(FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL),
       *found = dlsym(library, "cuMemcpyDtoDAsync_v2");
  copy_fn *copy_there;
  memcpy(&copy_there, &found, sizeof found);
  const member *first = arguments[0];
  n_calls++;
  given = stream;
  for (int i = 0; i < n_ranks; i++) {
    const member *m = arguments[i];
    if (copy_there((uint64_t)(uintptr_t)first->memory + (uint64_t)i * 4,
                   (uint64_t)(uintptr_t)m->memory + 64, 4, stream))
      return TPRT_DEVICE;
  }
  return first->result;
}

static void *run_member(void *argument) {
  member *m = argument;
  tprt_context *context = NULL;
  const tprt_context_config config = {.size = sizeof config, .target = TPRT_TARGET_CUDA};
  float mine[17] = {[16] = (float)tprt_comm_rank(m->world) + 1}, all[4] = {0};
  assert_int_equal(tprt_context_create(m->world, &config, &context), TPRT_OK);
  void *data;
  (void)tprt_context_alloc(context, 128, &data);
  (void)tprt_context_alloc(context, 128, &m->memory);
  (void)tprt_context_upload(context, data, mine, sizeof mine);
  (void)tprt_abi_copy(context, data, m->memory, sizeof mine); /* executed late */
  m->status = tprt_context_together(context, m->world, add_all, m);
  snprintf(m->error, sizeof m->error, "%s", m->status ? tprt_last_error() : "");
  if (!m->status && tprt_comm_rank(m->world) == 0)
    (void)tprt_context_download(context, all, m->memory, sizeof all);
  (void)tprt_context_synchronize(context);
  (void)tprt_barrier(m->world, NULL, NULL); /* rank 0 has read its memory by then */
  m->sum = all[0] + 10 * all[1] + 100 * all[2];
  tprt_context_free(context, data);
  tprt_context_free(context, m->memory);
  tprt_context_destroy(context);
  return NULL;
}

static void run_together(int n, const char *backend, tprt_status result, member *members) {
  tprt_comm *worlds[MOST_RANKS];
  const tprt_config config = {.size = sizeof config, .backend = backend};
  assert_int_equal(tprt_world_create_threads(n, &config, worlds), TPRT_OK);
  n_calls = 0;
  for (int i = 0; i < n; i++) {
    members[i] = (member){.world = worlds[i], .result = result};
    assert_int_equal(pthread_create(&members[i].thread, NULL, run_member, &members[i]), 0);
  }
  for (int i = 0; i < n; i++)
    pthread_join(members[i].thread, NULL);
  for (int i = 0; i < n; i++)
    tprt_comm_destroy(worlds[i]);
}

static void test_together(void **state) {
  (void)state;
  member members[MOST_RANKS];
  set("FAKE_LATE", "2");
  run_together(3, "loopback", TPRT_OK, members);
  assert_int_equal(n_calls, 1);
  assert_non_null(given);
  assert_true(members[0].status == TPRT_OK && members[0].sum == 321.0f);
  run_together(1, "self", TPRT_OK, members);
  assert_true(members[0].status == TPRT_OK && members[0].sum == 1.0f);
  set("FAKE_LATE", NULL);
  run_together(2, "shm", TPRT_OK, members);
  assert_int_equal(members[1].status, TPRT_UNSUPPORTED);
  assert_non_null(strstr(members[1].error,
                         "backend shm does not support virtual ranks of one GPU; use loopback"));
  run_together(2, "loopback", TPRT_DEVICE, members);
  assert_int_equal(members[0].status, TPRT_DEVICE);
  assert_int_equal(members[1].status, TPRT_DEVICE);
  set("FAKE_DEVICES", "2");
  set("FAKE_NO_CONTEXT", "1");
  run_together(2, "loopback", TPRT_OK, members);
  set("FAKE_NO_CONTEXT", NULL);
  set("FAKE_DEVICES", NULL);
  assert_int_equal(members[0].status, TPRT_UNSUPPORTED);
  assert_non_null(strstr(members[0].error,
                         "ranks 0 and 1 are on different GPUs, but one kernel must serve both"));
}

int main(void) {
  set("FAKE_CUDA", "");
  set("TPRT_CUDA_LIBRARY", FAKE_DRIVER);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_virtual_ranks),     cmocka_unit_test(test_late_streams),
      cmocka_unit_test(test_several_gpus),      cmocka_unit_test(test_through_the_host),
      cmocka_unit_test(test_driver_that_fails), cmocka_unit_test(test_together),
      cmocka_unit_test(test_split_calls),       cmocka_unit_test(test_each_wait_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
