/* Tests sites that all-gather rows and multiply them, in programs of ranks connected by NCCL, on
 * the emulated machine. Each GPU copies slices from the others, directly and as graphs, and must be
 * bitwise equal to ranks that are threads and exchange addresses. If GPUs cannot access each other,
 * NCCL's all_gather is used. */
#define _GNU_SOURCE 1
#include "machine.h"

#include "test/runtime/cuda/program/gathering_cases.h"

#include <stdlib.h>
#include <string.h>

static const char across[] = "matmuls in slices, which each GPU copies from the others",
                  apart[] = "an all_gather, then the matmuls";

typedef struct rows_run {
  bool replays;
  const test_table *program;
  const char *way, *why;
  uint64_t digests[4]; /* per rank */
} rows_run;

static int run_rows(tprt_comm *comm, void *argument) {
  enum { TURNS = 4 };
  rows_run *run = argument;
  int errors = 0, n = tprt_comm_size(comm);
  uint64_t *digest = &run->digests[tprt_comm_rank(comm)];
  tprt_context *context = make_context(comm);
  *digest = 0;
  gather_program = run->program;
  CHECK_STATUS(errors, (tprt_status)tprt_abi_enter(context, run->program->words), TPRT_OK);
  for (int i = 0; i < n_gather_cases && !errors; i++) {
    bool sliced = run->way == across && has_slices(&gather_cases[i], n);
    const char *why = NULL, *way = tprt_context_rows(context, i, &why);
    CHECK(errors, way && strcmp(way, sliced ? across : apart) == 0);
    CHECK(errors,
          strstr(why, run->way == across && !sliced ? "are not multiples of 16 bytes" : run->why));
    errors += run_gather_case(context, comm, i, TURNS, run->replays ? "" : NULL, digest);
    CHECK(errors, n_runs == (run->replays ? 2 : TURNS));
  }
  tprt_context_destroy(context);
  return errors;
}

static void run_on(int n, const char *backend, rows_run *run) {
  tprt_config config = machine_config();
  test_table program = make_gather_program(n);
  config.backend = backend;
  run->program = &program;
  assert_int_equal(run_threads(n, &config, run_rows, run), 0);
  machine_expect_clean();
  table_free(&program);
}

static void test_slices_across(void **state) {
  (void)state;
  for (int n = 2; n <= 4; n += 2) {
    rows_run threads = {.way = across, .why = ""}, of_nccl = threads, graphs = threads;
    graphs.replays = true;
    machine_begin((fake_plan){.n_devices = n});
    run_on(n, "loopback", &threads);
    for (int delay = 0; delay <= 300; delay += 300) {
      machine_begin((fake_plan){.n_devices = n, .most_delay_us = delay});
      run_on(n, "nccl", &of_nccl);
      assert_memory_equal(of_nccl.digests, threads.digests, sizeof threads.digests);
      machine_begin((fake_plan){.n_devices = n, .most_delay_us = delay});
      run_on(n, "nccl", &graphs);
      assert_memory_equal(graphs.digests, threads.digests, sizeof threads.digests);
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_slices_across),
                                     cmocka_unit_test(test_collectives)};
  setenv("TPRT_BLASLT_LIBRARY", FAKE_BLASLT, 1);
  machine_start();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
