/* Tests memory exhaustion, where every allocation fails once, and repeated creation of worlds. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/harness.h"
#include "test/runtime/harness/long.h"

#include "tprt/bootstrap.h"
#include "tprt/event.h"
#include "tprt/schedule.h"
#include "tprt/window.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

/* Runs everything that allocates memory. A rank that fails in a collective call has aborted by
 * then. */
static void more_work(tprt_comm *comm) {
  static const int ranks[] = {1, 0};
  static const int64_t sizes[] = {2, 1};
  static const int32_t dims[] = {0, -1};
  int n = tprt_comm_size(comm), me = tprt_comm_rank(comm);
  int32_t value = 1, other = 0, all[4];
  int64_t counts[] = {1, 1}, shape[] = {1};
  tprt_op ops[] = {tprt_op_send(&value, 1, TPRT_I32, (me + 1) % n, 1),
                   tprt_op_recv(&other, 1, TPRT_I32, (me + 1) % n, 1)};
  tprt_event *event = NULL;
  void *memory = NULL;
  tprt_window *window = NULL;
  tprt_schedule *schedule = NULL;
  tprt_comm *child = NULL;
  tprt_estimate estimate = {.size = sizeof estimate};
  bool failed = tprt_submit_batch(comm, ops, 2, NULL) ||
                tprt_all_gather_v(comm, &value, all, counts, NULL, TPRT_I32, NULL, NULL) ||
                tprt_gather_all_axes(comm, 2, sizes, dims, &value, all, TPRT_I32, 1, shape) ||
                tprt_mem_alloc(comm, sizeof value, &memory) ||
                tprt_window_create(comm, memory, sizeof value, &window) ||
                tprt_window_put(window, (me + 1) % n, 0, &value, sizeof value) ||
                tprt_window_get(window, (me + 1) % n, 0, &other, sizeof other) ||
                tprt_schedule_create(comm, ops, 2, &schedule) ||
                tprt_comm_named(comm, "both", ranks, 2, &child) ||
                tprt_comm_set_hint(comm, "flight", "4") || tprt_comm_calibrate(comm) ||
                tprt_event_create(&event) || tprt_event_record(event, comm, NULL) ||
                tprt_estimate_ops(comm, ops, 2, &estimate);
  if (failed)
    tprt_comm_abort(comm);
  if (window)
    (void)!tprt_window_destroy(window);
  tprt_mem_free(comm, memory);
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
    tprt_comm_abort(comm); /* this rank cannot take part, so the others should not wait for it */
  }
  if (tprt_comm_split(comm, 0, 0, &child) == TPRT_OK) {
    tprt_barrier(child, NULL, NULL);
    tprt_comm_destroy(child);
  }
  tprt_mem_free(comm, memory);
  more_work(comm);
  return 0;
}

/* Counts the entries of a folder of /proc. */
static int count_entries(const char *path) {
  int n = 0;
  DIR *directory = opendir(path);
  while (directory && readdir(directory))
    n++;
  if (directory)
    closedir(directory);
  return n;
}

/* Every allocation fails once; the library must not crash, hang or leak. */
/* What releases something takes NULL. */
static void test_release_nothing(void **state) {
  (void)state;
  tprt_comm *comm;
  assert_int_equal(tprt_world_create(1, 0, NULL, &comm), TPRT_OK);
  tprt_mem_free(comm, NULL);
  tprt_comm_destroy(comm);
  tprt_mem_free(NULL, NULL);
  tprt_comm_destroy(NULL);
  tprt_store_destroy(NULL);
  tprt_work_destroy(NULL);
  tprt_schedule_destroy(NULL);
  tprt_event_destroy(NULL);
  assert_int_equal(tprt_window_destroy(NULL), TPRT_OK);
}

static void test_no_memory(void **state) {
  (void)state;
  const tprt_allocator allocator = {failing_allocate, counted_release, NULL};
  tprt_config config = test_config();
  int fds = count_entries("/proc/self/fd"), total = 1000;
  tprt_set_allocator(&allocator);
  for (int i = 0; i < total; i++) {
    atomic_store(&n_allocations, 0);
    atomic_store(&fail_at, i);
    run_threads(2, &config, split_and_work, NULL); /* creating the world may fail here */
    assert_int_equal(atomic_load(&n_alive), 0);
    if (atomic_load(&n_allocations) <= i)
      total = i; /* no allocation failed this time */
  }
  tprt_set_allocator(NULL);
  assert_in_range(total, 60, 500);
  assert_int_equal(count_entries("/proc/self/fd"), fds);
}

/* The same for a world of one rank. */
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

/* ---- Stores ---- */

typedef struct store_end {
  pthread_t thread;
  const char *address, *backend;
  int rank;
  bool is_done; /* the world was created and used */
} store_end;

/* A rank of a world of two that meets through a store. Either rank may lack memory; then the other
 * should not wait long. */
static void *meet(void *data) {
  store_end *end = data;
  const int64_t timeout_ns = 100000000;
  tprt_store_config store_config = {
      .size = sizeof store_config, .n_ranks = 2, .rank = end->rank, .timeout_ns = timeout_ns};
  tprt_config config = test_config();
  tprt_store *store = NULL;
  tprt_comm *comm = NULL;
  int64_t sum;
  if (tprt_store_open(end->address, &store_config, &store))
    return NULL;
  config.store = store;
  config.timeout_ns = timeout_ns;
  config.backend = end->backend;
  if (tprt_store_add(store, "sum", 1, &sum) == TPRT_OK &&
      tprt_world_create(2, end->rank, &config, &comm) == TPRT_OK) {
    split_and_work(comm, NULL);
    tprt_comm_destroy(comm);
    end->is_done = true;
  }
  tprt_store_destroy(store);
  return NULL;
}

static void test_no_memory_store(void **state) {
  (void)state;
  static const struct {
    const char *backend, *address;
  } rows[] = {{"shm", "unix:tprt-memory-%d-%d"},
              {"shm", "file:/tmp/tprt-memory-%d"},
              {"tcp", "unix:tprt-memory-%d-%d"}};
  if (getenv("TPRT_BACKEND"))
    skip();
  const tprt_allocator allocator = {failing_allocate, counted_release, NULL};
  for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
    bool is_file = rows[row].address[0] == 'f';
    char address[64];
    int fds = count_entries("/proc/self/fd"), total = 1000;
    tprt_set_allocator(&allocator);
    for (int i = 0; i < total; i += 1 + (test_is_long() ? 0 : i / 64)) {
      /* the first rows are those of a world */
      store_end ends[2];
      snprintf(address, sizeof address, rows[row].address, (int)getpid(), i);
      atomic_store(&n_allocations, 0);
      atomic_store(&fail_at, i);
      for (int rank = 0; rank < 2; rank++) {
        ends[rank] = (store_end){.address = address, .backend = rows[row].backend, .rank = rank};
        assert_int_equal(pthread_create(&ends[rank].thread, NULL, meet, &ends[rank]), 0);
      }
      for (int rank = 0; rank < 2; rank++)
        pthread_join(ends[rank].thread, NULL);
      if (is_file)
        unlink(address + 5);
      assert_int_equal(atomic_load(&n_alive), 0);
      /* on a busy machine a deadline may end a world before its last allocation */
      if (atomic_load(&n_allocations) <= i && ends[0].is_done && ends[1].is_done)
        total = i;
    }
    tprt_set_allocator(NULL);
    assert_in_range(total, 20, 999);
    assert_int_equal(count_entries("/proc/self/fd"), fds);
  }
}

/* ---- Repeated creation of worlds and groups ---- */

static int count_maps(void) {
  int n = 0;
  FILE *file = fopen("/proc/self/maps", "r");
  for (int c; file && (c = getc(file)) != EOF;)
    n += c == '\n';
  if (file)
    fclose(file);
  return n;
}

static int use_groups(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, value = 1, sum = 0;
  tprt_comm *child, *pair;
  tprt_work *work;
  static const int both[] = {1, 0};
  CHECK_STATUS(errors, tprt_comm_split(comm, 0, 0, &child), TPRT_OK);
  CHECK_STATUS(errors, tprt_comm_split_ranks(child, both, 2, &pair), TPRT_OK);
  CHECK_STATUS(errors, tprt_all_reduce(pair, &value, &sum, 1, TPRT_I32, TPRT_SUM, NULL, &work),
               TPRT_OK);
  /* its worker thread ends with the communicator */
  CHECK_STATUS(errors, tprt_work_wait(work, 0), TPRT_OK);
  CHECK(errors, sum == 2);
  tprt_work_destroy(work);
  tprt_comm_destroy(pair);
  tprt_comm_destroy(child);
  return errors;
}

/* TP_LONG=1: ten thousand. Each world has its own address range, which must be unmapped with it. */
static void test_many_worlds(void **state) {
  (void)state;
  tprt_config config = test_config();
  int cycles = test_is_long() ? 10000 : 200, fds = 0, maps = 0, threads = 0;
  for (int i = 0; i < cycles; i++) {
    assert_int_equal(run_threads(2, &config, use_groups, NULL), 0);
    if (i == 20) { /* the C library has made its permanent allocations */
      fds = count_entries("/proc/self/fd");
      maps = count_maps();
      threads = count_entries("/proc/self/task");
    }
  }
  int more_fds = count_entries("/proc/self/fd") - fds, more_maps = count_maps() - maps,
      more_threads = count_entries("/proc/self/task") - threads;
  print_message("%d worlds with groups: %d descriptors, %d mappings, %d threads more\n", cycles,
                more_fds, more_maps, more_threads);
  assert_int_equal(more_fds, 0);
  assert_int_equal(more_threads, 0);
  /* mappings of the heap and of sanitizers vary; a leak would occur for every world */
  assert_true(more_maps <= 40);
}

/* Creates more groups in one world than can exist at once, one after the other. */
static int many_groups(tprt_comm *comm, void *argument) {
  int errors = 0, cycles = *(int *)argument;
  for (int i = 0; i < cycles && !errors; i++)
    errors = use_groups(comm, NULL);
  return errors;
}

static void test_many_groups(void **state) {
  (void)state;
  tprt_config config = test_config();
  int cycles = test_is_long() ? 10000 : 500;
  config.max_comms = 4;
  assert_int_equal(run_threads(2, &config, many_groups, &cycles), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_release_nothing), cmocka_unit_test(test_no_memory),
      cmocka_unit_test(test_no_memory_alone), cmocka_unit_test(test_no_memory_store),
      cmocka_unit_test(test_many_worlds),     cmocka_unit_test(test_many_groups),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
