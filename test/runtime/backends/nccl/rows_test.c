/* Tests sites that reduce rows, given or GEMM results, in programs of ranks connected by NCCL, on
 * the emulated machine. Peer-to-peer kernels must be bitwise equal to those of ranks that are
 * threads and exchange addresses; NCCL collectives are used if kernels cannot access peer
 * memory. */
#define _GNU_SOURCE 1
#include "machine.h"

#include "test/runtime/cuda/program/rows_cases.h"

#include <stdlib.h>
#include <string.h>

static const char across[] = "a kernel on each GPU that accesses the other GPUs",
                  apart[] = "collectives and a kernel on each GPU";

typedef struct rows_run {
  const test_table *program;
  const char *way, *why;
  uint64_t digests[4]; /* per rank */
} rows_run;

static int run_rows(tprt_comm *comm, void *argument) {
  rows_run *run = argument;
  int errors = 0;
  uint64_t *digest = &run->digests[tprt_comm_rank(comm)];
  tprt_context *context = make_context(comm);
  *digest = 0;
  CHECK_STATUS(errors, (tprt_status)tprt_abi_enter(context, run->program->words), TPRT_OK);
  for (int i = 0; i < n_shape_cases && !errors; i++) {
    const char *why = NULL, *way = tprt_context_rows(context, i, &why);
    CHECK(errors, way && strcmp(way, run->way) == 0);
    CHECK(errors,
          strstr(why, run->way == across && !is_sliced(&shape_cases[i], tprt_comm_size(comm))
                          ? "is not sliced"
                          : run->why));
    errors += run_case(context, comm, i, digest);
  }
  if (!errors)
    errors += check_bytes(context, tprt_comm_size(comm));
  tprt_context_destroy(context);
  return errors;
}

static void run_on(int n, const char *backend, rows_run *run) {
  tprt_config config = machine_config();
  test_table program = make_program(n);
  config.backend = backend;
  run->program = &program;
  assert_int_equal(run_threads(n, &config, run_rows, run), 0);
  machine_expect_clean();
  table_free(&program);
}

static void test_kernels_across(void **state) {
  (void)state;
  for (int n = 2; n <= 4; n += 2) {
    rows_run threads = {.way = across, .why = ""}, of_nccl = {.way = across, .why = ""};
    machine_begin((fake_plan){.n_devices = n});
    run_on(n, "loopback", &threads);
    for (int delay = 0; delay <= 300; delay += 300) {
      machine_begin((fake_plan){.n_devices = n, .most_delay_us = delay});
      run_on(n, "nccl", &of_nccl);
      assert_memory_equal(of_nccl.digests, threads.digests, sizeof threads.digests);
    }
  }
}

static void test_collectives(void **state) {
  rows_run run = {.way = apart,
                  .why = "GPU 0 cannot access the memory of GPU 1: they are not peers"};
  (void)state;
  machine_begin((fake_plan){.no_peers = true, .most_delay_us = 300});
  run_on(2, "nccl", &run);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels_across),
                                     cmocka_unit_test(test_collectives)};
  setenv("TPRT_BLASLT_LIBRARY", FAKE_BLASLT, 1);
  machine_start();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
