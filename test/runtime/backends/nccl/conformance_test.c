/* Conformance tests of all backends, for backend nccl on the emulated machine. Reductions that NCCL
 * lacks, or computes differently, give the same as on other backends. */
#define _GNU_SOURCE 1
#include "machine.h"
#include "test/runtime/harness/cases.h"

#include <stdlib.h>
#include <string.h>

static int ordinal_of(const tprt_comm *comm) {
  return tprt_comm_world_rank(comm, tprt_comm_rank(comm));
}
static void *take(tprt_comm *comm, size_t bytes) { return machine_alloc(ordinal_of(comm), bytes); }
static void give(tprt_comm *comm, void *block) { machine_free(ordinal_of(comm), block); }

static void copy(tprt_comm *comm, void *to, const void *from, size_t bytes) {
  (void)comm;
  memcpy(to, from, bytes);
}

/* Tries every reduction of every type without elements: the answer is the same. */
static int ask_all(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0;
  for (int t = 1; t < TPRT_N_DTYPES; t++) {
    for (int r = 1; r < TPRT_N_REDUCTIONS; r++) {
      const unsigned char scalar[16] = {0};
      tprt_op op = tprt_op_flat(TPRT_OP_ALL_REDUCE, NULL, NULL, 0, (tprt_dtype)t, NULL);
      op.reduction = (tprt_reduction)r;
      op.scalar = scalar;
      bool defined = tprt_reduction_supports((tprt_reduction)r, (tprt_dtype)t);
      CHECK_STATUS(errors, tprt_submit(comm, &op, NULL), defined ? TPRT_OK : TPRT_UNSUPPORTED);
    }
  }
  return errors;
}

static void test_matrix(void **state) {
  (void)state;
  const tprt_config config = machine_config();
  machine_begin((fake_plan){.most_delay_us = 0});
  assert_int_equal(run_threads(1, &config, ask_all, NULL), 0);
  setenv("TPRT_NCCL_RELAXED", "1", 1);
  assert_int_equal(run_threads(2, &config, ask_all, NULL), 0);
  unsetenv("TPRT_NCCL_RELAXED");
  machine_expect_clean();
}

static void run_all(int n_ranks, int delay_us) {
  tprt_config config = machine_config();
  config.timeout_ns = INT64_C(120000000000);
  uint64_t stride = cases_stride(n_ranks) / (delay_us || cases_are_long() ? 1 : 8) + 1;
  machine_begin((fake_plan){.n_devices = n_ranks, .most_delay_us = delay_us});
  assert_int_equal(run_threads(n_ranks, &config, cases_types, &stride), 0);
  assert_int_equal(run_threads(n_ranks, &config, cases_sizes, &stride), 0);
  assert_int_equal(run_threads(n_ranks, &config, cases_groups, &stride), 0);
  machine_expect_clean();
}

static void test_cases(void **state) {
  (void)state;
  long before = scenario_count();
  for (int n = 1; n <= (cases_are_long() ? 16 : 5); n++)
    run_all(n, 0);
  run_all(4, 100);
  print_message("nccl, made-up machine: %ld cases\n", scenario_count() - before);
}

int main(void) {
  static const scenario_place place = {take, give, copy, copy};
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_matrix), cmocka_unit_test(test_cases)};
  machine_start();
  scenario_set_place(&place);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
