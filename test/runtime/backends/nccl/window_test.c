/* Tests memory that all ranks register: as an NCCL window if NCCL and the memory support it, else
 * per rank; rejections have no side effects. */
#define _GNU_SOURCE 1
#include "machine.h"
#include "tprt/nccl.h"

#include <string.h>
#include <time.h>

enum { N = 3, BYTES = 8192 };

static void run(rank_fn *fn, fake_plan plan, int64_t timeout_ns) {
  tprt_config config = machine_config();
  config.timeout_ns = timeout_ns;
  machine_begin(plan);
  assert_int_equal(run_threads(N, &config, fn, NULL), 0);
  machine_expect_clean();
}

static const int64_t long_ns = INT64_C(20000000000);

/* Sums the contents of the memory. */
static int sum(tprt_comm *comm, float *data, int me) {
  int errors = 0;
  data[8] = (float)me;
  CHECK_STATUS(errors, tprt_all_reduce(comm, data + 8, data + 8, 1, TPRT_F32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  CHECK(errors, data[8] == 3);
  return errors;
}

/* n_windows: the expected number, over all ranks. */
static int expect_windows(tprt_comm *comm, int n_windows) {
  int errors = 0;
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  CHECK(errors, machine_look().n_windows == n_windows);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  return errors;
}

static int n_expected;

/* With the communicator that the memory is from, and with a split one. */
static int both(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, me = tprt_comm_rank(comm);
  void *memory;
  tprt_comm *child;
  CHECK_STATUS(errors, tprt_comm_split(comm, 0, 0, &child), TPRT_OK);
  CHECK_STATUS(errors, tprt_mem_alloc(comm, BYTES, &memory), TPRT_OK);
  if (errors)
    return errors;
  CHECK_STATUS(errors, tprt_mem_register_all(comm, memory, BYTES), TPRT_OK);
  errors += expect_windows(comm, n_expected);
  CHECK_STATUS(errors, tprt_mem_register_all(child, (char *)memory + 4096, 4096), TPRT_OK);
  errors += expect_windows(comm, 2 * n_expected);
  errors += sum(comm, memory, me) + sum(child, (float *)memory + 1024, me);
  CHECK_STATUS(errors, tprt_mem_deregister(comm, memory), TPRT_OK);
  CHECK_STATUS(errors, tprt_mem_deregister(comm, memory), TPRT_INVALID_ARGUMENT);
  errors += expect_windows(comm, n_expected);
  tprt_comm_destroy(child); /* its window ends with it */
  tprt_mem_free(comm, memory);
  return errors;
}

static void test_windows(void **state) {
  (void)state;
  tprt_nccl_info info;
  assert_int_equal(tprt_nccl_probe(&info), TPRT_OK);
  n_expected = info.version >= 22700 ? N : 0;
  run(both, (fake_plan){.most_delay_us = 0}, long_ns);
  run(both, (fake_plan){.most_delay_us = 200}, long_ns);
}

/* Memory that is not from NCCL, or not at a valid start of a window, on one rank: all ranks
 * register without a window. */
static int no_window(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, me = tprt_comm_rank(comm);
  void *memory;
  float *own = machine_alloc(me, BYTES);
  CHECK_STATUS(errors, tprt_mem_alloc(comm, BYTES, &memory), TPRT_OK);
  void *const places[] = {own, (char *)memory + 64, me == 1 ? own : memory};
  for (int i = 0; i < 3 && !errors; i++) {
    CHECK_STATUS(errors, tprt_mem_register_all(comm, places[i], 1024), TPRT_OK);
    errors += expect_windows(comm, 0) + sum(comm, places[i], me);
    CHECK_STATUS(errors, tprt_mem_deregister(comm, places[i]), TPRT_OK);
  }
  tprt_mem_free(comm, memory);
  machine_free(me, own);
  return errors;
}

static int refused(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, me = tprt_comm_rank(comm);
  static float on_host[16];
  void *memory;
  CHECK_STATUS(errors, tprt_mem_alloc(comm, BYTES, &memory), TPRT_OK);
  CHECK_STATUS(errors, tprt_mem_register_all(comm, me == 1 ? NULL : memory, 64),
               TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(), me == 1 ? "registration of 64 bytes at NULL"
                                                  : "rank 1 could not register its memory"));
  CHECK_STATUS(errors, tprt_mem_register_all(comm, memory, me == 2 ? 128 : 64), TPRT_MISMATCH);
  CHECK(errors, strstr(tprt_last_error(), "registration: rank 2 has 128 bytes, rank 0 64"));
  CHECK_STATUS(errors, tprt_mem_register_all(comm, me == 0 ? on_host : memory, 64),
               TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(), me == 0 ? "registration: memory is host memory"
                                                  : "rank 0 could not register"));
  /* it is not registered */
  CHECK_STATUS(errors, tprt_mem_deregister(comm, memory), TPRT_INVALID_ARGUMENT);
  errors += expect_windows(comm, 0) + sum(comm, memory, me);
  tprt_mem_free(comm, memory);
  return errors;
}

static void test_others(void **state) {
  (void)state;
  run(no_window, (fake_plan){.most_delay_us = 50}, long_ns);
  run(refused, (fake_plan){.most_delay_us = 50}, long_ns);
}

/* NCCL does not finish. */
static int hangs(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0;
  void *memory;
  CHECK_STATUS(errors, tprt_mem_alloc(comm, BYTES, &memory), TPRT_OK);
  tprt_status status = tprt_mem_register_all(comm, memory, BYTES);
  CHECK(errors, status == TPRT_TIMEOUT);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_TIMEOUT);
  tprt_mem_free(comm, memory);
  return errors;
}

static void test_hang(void **state) {
  (void)state;
  if (n_expected)
    run(hangs, (fake_plan){.hang_on = "ncclCommWindowRegister"}, 200000000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_windows), cmocka_unit_test(test_others),
                                     cmocka_unit_test(test_hang)};
  machine_start();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
