/* Exhausted memory, and worlds that come and go: every allocation fails once. */
#define _GNU_SOURCE 1
#include "harness.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic int n_allocations, fail_at, n_alive;

static void *failing_allocate(void *user, size_t bytes) {
  (void)user;
  if (atomic_fetch_add(&n_allocations, 1) == atomic_load(&fail_at))
    return NULL;
  atomic_fetch_add(&n_alive, 1);
  return malloc(bytes);
}

static void counted_release(void *user, void *memory) {
  (void)user;
  atomic_fetch_sub(&n_alive, 1);
  free(memory);
}

/* Everything that takes memory of its own. A rank that fails in a collective call has aborted by then. */
static void more_work(tprt_comm *comm) {
  static const int ranks[] = {1, 0};
  static const int64_t sizes[] = {2, 1};
  static const int32_t dims[] = {0, -1};
  int n = tprt_comm_size(comm), me = tprt_comm_rank(comm);
  int32_t value = 1, other = 0, all[4];
  int64_t counts[] = {1, 1}, shape[] = {1};
  tprt_op ops[] = {tprt_op_send(&value, 1, TPRT_I32, (me + 1) % n, 1), tprt_op_recv(&other, 1, TPRT_I32, (me + 1) % n, 1)};
  tprt_event *event = NULL;
  tprt_window *window = NULL;
  tprt_schedule *schedule = NULL;
  tprt_comm *child = NULL;
  tprt_estimate estimate = {.size = sizeof estimate};
  bool failed =
      tprt_submit_batch(comm, ops, 2, NULL) || tprt_all_gather_v(comm, &value, all, counts, NULL, TPRT_I32, NULL, NULL) ||
      tprt_gather_all_axes(comm, 2, sizes, dims, &value, all, TPRT_I32, 1, shape) ||
      tprt_window_create(comm, NULL, 0, &window) || tprt_schedule_create(comm, ops, 2, &schedule) ||
      tprt_comm_named(comm, "both", ranks, 2, &child) || tprt_comm_set_hint(comm, "flight", "4") || tprt_comm_calibrate(comm) ||
      tprt_event_create(&event) || tprt_event_record(event, comm, NULL) || tprt_estimate_ops(comm, ops, 2, &estimate);
  if (failed)
    tprt_comm_abort(comm);
  if (window)
    (void)!tprt_window_destroy(window);
  tprt_schedule_destroy(schedule);
  tprt_event_destroy(event);
  if (tprt_comm_shrink(comm, 50000000, &child) == TPRT_OK)
    tprt_comm_destroy(child);
}

static int split_and_work(tprt_comm *comm, void *argument) {
  (void)argument;
  tprt_comm *child = NULL;
  int value = 1, sum;
  tprt_work *work = NULL;
  void *memory = NULL;
  (void)!tprt_mem_alloc(comm, 100, &memory);
  if (tprt_all_reduce(comm, &value, &sum, 1, TPRT_I32, TPRT_SUM, NULL, &work) == TPRT_OK) {
    tprt_work_wait(work, 0);
    tprt_work_destroy(work);
  } else {
    tprt_comm_abort(comm); /* this rank cannot take part, the others should not wait for it */
  }
  if (tprt_comm_split(comm, 0, 0, &child) == TPRT_OK) {
    tprt_barrier(child, NULL, NULL);
    tprt_comm_destroy(child);
  }
  tprt_mem_free(comm, memory);
  more_work(comm);
  return 0;
}

static int count_fds(void) {
  int n = 0;
  DIR *directory = opendir("/proc/self/fd");
  while (directory && readdir(directory))
    n++;
  if (directory)
    closedir(directory);
  return n;
}

/* Every allocation fails once; nothing crashes, hangs or leaks. */
static void test_no_memory(void **state) {
  (void)state;
  const tprt_allocator allocator = {failing_allocate, counted_release, NULL};
  tprt_config config = test_config();
  int fds = count_fds(), total = 1000;
  tprt_set_allocator(&allocator);
  for (int i = 0; i < total; i++) {
    atomic_store(&n_allocations, 0);
    atomic_store(&fail_at, i);
    run_threads(2, &config, split_and_work, NULL); /* that a world cannot be made is fine here */
    assert_int_equal(atomic_load(&n_alive), 0);
    if (atomic_load(&n_allocations) <= i)
      total = i; /* this time nothing failed */
  }
  tprt_set_allocator(NULL);
  assert_in_range(total, 60, 300);
  assert_int_equal(count_fds(), fds);
}

/* A world of one takes its memory in the same way. */
static void test_no_memory_alone(void **state) {
  (void)state;
  const tprt_allocator allocator = {failing_allocate, counted_release, NULL};
  tprt_config config = test_config();
  config.backend = "self";
  tprt_comm *comm;
  void *memory;
  tprt_set_allocator(&allocator);
  atomic_store(&fail_at, -1);
  assert_int_equal(tprt_world_create(1, 0, &config, &comm), TPRT_OK);
  atomic_store(&n_allocations, 0);
  atomic_store(&fail_at, 0);
  assert_int_equal(tprt_mem_alloc(comm, 1000, &memory), TPRT_NO_MEMORY);
  assert_int_equal(tprt_mem_alloc(comm, SIZE_MAX - 8, &memory), TPRT_NO_MEMORY);
  assert_int_equal(tprt_mem_alloc(comm, 1000, &memory), TPRT_OK);
  assert_int_equal((uintptr_t)memory % 64, 0);
  for (int i = 0; i < 1000; i++)
    assert_int_equal(((unsigned char *)memory)[i], 0);
  tprt_mem_free(comm, memory);
  tprt_comm_destroy(comm);
  assert_int_equal(atomic_load(&n_alive), 0);
  tprt_set_allocator(NULL);
}

static int nothing(tprt_comm *comm, void *argument) {
  (void)argument;
  return tprt_barrier(comm, NULL, NULL) != TPRT_OK;
}

static void test_many_worlds(void **state) {
  (void)state;
  tprt_config config = test_config();
  int fds = count_fds();
  for (int i = 0; i < 200; i++)
    assert_int_equal(run_threads(2, &config, nothing, NULL), 0);
  assert_int_equal(count_fds(), fds);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_memory),
      cmocka_unit_test(test_no_memory_alone),
      cmocka_unit_test(test_many_worlds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
