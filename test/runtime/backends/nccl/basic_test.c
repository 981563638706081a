/* Tests backend nccl on the emulated machine: worlds, a first operation, rejected calls. */
#define _GNU_SOURCE 1
#include "machine.h"
#include "test/runtime/harness/table.h"
#include "tprt/abi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int sum(tprt_comm *comm, void *argument) {
  (void)argument;
  enum { COUNT = 1000 };
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm);
  float *data = machine_alloc(me, COUNT * sizeof *data);
  for (int i = 0; i < COUNT; i++)
    data[i] = (float)(me + i);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, COUNT, TPRT_F32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  for (int i = 0; i < COUNT; i++)
    errors += data[i] != (float)(n * i + n * (n - 1) / 2);
  CHECK(errors, errors == 0);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  machine_free(me, data);
  return errors;
}

static void test_sum(void **state) {
  (void)state;
  for (int delay = 0; delay <= 300; delay += 300) {
    for (int n = 1; n <= 4; n++) {
      const tprt_config config = machine_config();
      machine_begin((fake_plan){.most_delay_us = delay});
      assert_int_equal(run_threads(n, &config, sum, NULL), 0);
      machine_expect_clean();
    }
  }
}

/* One rank: products with a factor, and averages, for which NCCL 2.28 has a kernel that leaves out
 * the last element of this count. */
static int multiply_alone(tprt_comm *comm, void *argument) {
  (void)argument;
  enum { COUNT = 4099 };
  int errors = 0;
  const double factor = 3;
  double *data = machine_alloc(0, COUNT * sizeof *data);
  double *result = machine_alloc(0, COUNT * sizeof *result);
  for (int i = 0; i < COUNT; i++)
    data[i] = i + 1;
  CHECK_STATUS(errors,
               tprt_all_reduce_premul(comm, data, result, COUNT, TPRT_F64, &factor, NULL, NULL),
               TPRT_OK);
  for (int i = 0; i < COUNT; i++)
    errors += result[i] != factor * data[i];
  memset(result, 0, COUNT * sizeof *result);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, result, COUNT, TPRT_F64, TPRT_AVG, NULL, NULL),
               TPRT_OK);
  for (int i = 0; i < COUNT; i++)
    errors += result[i] != data[i];
  machine_free(0, result);
  machine_free(0, data);
  return errors;
}

static void test_one_rank(void **state) {
  (void)state;
  const tprt_config config = machine_config();
  machine_begin((fake_plan){.most_delay_us = 0});
  assert_int_equal(run_threads(1, &config, multiply_alone, NULL), 0);
  setenv("TPRT_NCCL_RELAXED", "1", 1);
  assert_int_equal(run_threads(1, &config, multiply_alone, NULL), 0);
  unsetenv("TPRT_NCCL_RELAXED");
  machine_expect_clean();
}

/* Rejected calls have no side effects. */
static int refusals(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, me = tprt_comm_rank(comm), on_host = 0;
  float *data = machine_alloc(me, 64), *elsewhere = machine_alloc((me + 1) % 2, 64);
  tprt_context *context;
  tprt_window *window;
  tprt_op tagged = tprt_op_send(data, 1, TPRT_F32, 1 - me, 3);
  CHECK_STATUS(errors, tprt_all_reduce(comm, &on_host, &on_host, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
               TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(),
                       "all_reduce: send is host memory; backend nccl needs memory of its device"));
  /* no data is read */
  CHECK_STATUS(errors, tprt_all_gather(comm, data, &on_host, 0, TPRT_I32, NULL, NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, elsewhere, 1, TPRT_F32, TPRT_SUM, NULL, NULL),
               TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(), "recv is memory of device"));
  CHECK_STATUS(errors, tprt_submit(comm, &tagged, NULL), TPRT_UNSUPPORTED);
  CHECK(errors, strstr(tprt_last_error(), "send: tag 3: NCCL has no tags"));
  CHECK_STATUS(errors, tprt_comm_set_hint(comm, "nan_check", "1"), TPRT_UNSUPPORTED);
  CHECK_STATUS(errors, tprt_context_create(comm, NULL, &context), TPRT_UNSUPPORTED);
  CHECK(errors,
        strstr(tprt_last_error(),
               "programs for the host need host memory; backend nccl operates on device memory"));
  CHECK_STATUS(errors, tprt_mem_register(comm, data, 64), TPRT_OK);
  CHECK_STATUS(errors, tprt_mem_deregister(comm, data), TPRT_OK);
  CHECK_STATUS(errors, tprt_mem_deregister(comm, data), TPRT_INVALID_ARGUMENT);
  CHECK_STATUS(errors, tprt_mem_register(comm, &on_host, 4), TPRT_INVALID_ARGUMENT);
  CHECK_STATUS(errors, tprt_window_create(comm, data, 64, &window), TPRT_UNSUPPORTED);
  errors += sum(comm, NULL);
  machine_free((me + 1) % 2, elsewhere);
  machine_free(me, data);
  return errors;
}

static void test_refusals(void **state) {
  (void)state;
  const tprt_config config = machine_config();
  machine_begin((fake_plan){.most_delay_us = 0});
  assert_int_equal(run_threads(2, &config, refusals, NULL), 0);
  machine_expect_clean();
  tprt_comm *comms[5];
  assert_int_equal(tprt_world_create_threads(5, &config, comms), TPRT_UNSUPPORTED);
  assert_non_null(
      strstr(tprt_last_error(), "backend nccl: 5 ranks need as many devices; there are 4"));
}

/* ---- GPU programs: their collectives run in NCCL, in their streams ---- */

enum { REDUCE, GATHER, SHIFT, N_SITES, COUNT = 8 };

static test_table make_program(int64_t n, tprt_reduction reduction) {
  const int64_t axis[] = {0}, shape[] = {COUNT}, pair[] = {0, n - 1};
  test_table t = table_make(1, &n);
  table_site(&t, TPRT_SITE_ALL_REDUCE, TPRT_F32, reduction, 1, axis, 1, shape, NULL, 0);
  table_site(&t, TPRT_SITE_ALL_GATHER, TPRT_F32, TPRT_NO_REDUCTION, 1, axis, 1, shape, NULL, 0);
  table_site(&t, TPRT_SITE_PERMUTE, TPRT_F32, TPRT_NO_REDUCTION, 0, axis, 1, shape, pair, 2);
  table_header(&t)->target = TPRT_TARGET_CUDA;
  return t;
}

/* Runs the sites one after the other, or starts all before the first wait; overwrites the sent data
 * as soon as it is released. */
static int call_sites(tprt_context *context, bool splits, void **at) {
  int errors = 0;
  for (int site = 0; site < N_SITES && !splits; site++)
    CHECK_STATUS(errors, (tprt_status)tprt_abi_collective(context, site, at[N_SITES], at[site]),
                 TPRT_OK);
  for (int site = 0; site < N_SITES && splits; site++)
    CHECK_STATUS(errors, (tprt_status)tprt_abi_start(context, site, at[N_SITES], at[site]),
                 TPRT_OK);
  for (int site = N_SITES - 1; site >= 0 && splits; site--)
    CHECK_STATUS(errors, (tprt_status)tprt_abi_wait(context, site, at[N_SITES], at[site]), TPRT_OK);
  CHECK_STATUS(errors,
               (tprt_status)tprt_abi_copy(context, at[SHIFT], at[N_SITES], COUNT * sizeof(float)),
               TPRT_OK);
  return errors;
}

static int32_t summing(tprt_context *context, void *const *inputs, void *const *outputs) {
  return tprt_abi_collective(context, REDUCE, inputs[0], outputs[0]);
}

/* Runs directly, and captured; this machine launches a graph once. The last rank has 0, 1, ..., the
 * others have zeros. */
static int replay(tprt_context *context, void **at) {
  int errors = 0;
  float got[COUNT];
  const char *why = "?";
  void *const inputs[] = {at[N_SITES]}, *const outputs[] = {at[REDUCE]};
  for (int i = 0; i < 2; i++) {
    CHECK_STATUS(errors, (tprt_status)tprt_abi_copy(context, at[GATHER], at[REDUCE], sizeof got),
                 TPRT_OK);
    CHECK_STATUS(errors, tprt_context_replay(context, summing, 1, inputs, 1, outputs, &why),
                 TPRT_OK);
    CHECK(errors, !*why);
    CHECK_STATUS(errors, tprt_context_download(context, got, at[REDUCE], sizeof got), TPRT_OK);
    for (int k = 0; k < COUNT; k++)
      CHECK(errors, got[k] == (float)k);
  }
  return errors;
}

typedef struct program_run {
  const test_table *program;
  bool splits;
} program_run;

static int run_program(tprt_comm *comm, void *argument) {
  const program_run *run = argument;
  const test_table *program = run->program;
  const tprt_context_config config = {.size = sizeof config, .target = TPRT_TARGET_CUDA};
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm);
  float host[4 * COUNT], got[N_SITES][4 * COUNT];
  tprt_context *context = NULL;
  void *at[1 + N_SITES];
  for (int i = 0; i < COUNT; i++)
    host[i] = (float)(me + i);
  CHECK_STATUS(errors, tprt_context_create(comm, &config, &context), TPRT_OK);
  CHECK_STATUS(errors, (tprt_status)tprt_abi_enter(context, program->words), TPRT_OK);
  for (int i = 0; i <= N_SITES; i++)
    CHECK_STATUS(errors, tprt_context_alloc(context, sizeof host, &at[i]), TPRT_OK);
  CHECK_STATUS(errors, tprt_context_upload(context, at[N_SITES], host, sizeof host), TPRT_OK);
  errors += call_sites(context, run->splits, at);
  for (int site = 0; site < N_SITES; site++)
    CHECK_STATUS(errors, tprt_context_download(context, got[site], at[site], sizeof host), TPRT_OK);
  for (int i = 0; i < COUNT; i++) {
    CHECK(errors, got[REDUCE][i] == (float)(n * i + n * (n - 1) / 2));
    CHECK(errors, got[SHIFT][i] == (me == n - 1 ? (float)i : 0.0f));
    for (int k = 0; k < n; k++)
      CHECK(errors, got[GATHER][k * COUNT + i] == (float)(k + i));
  }
  errors += replay(context, at);
  CHECK_STATUS(errors, tprt_context_synchronize(context), TPRT_OK);
  for (int i = 0; i <= N_SITES; i++)
    tprt_context_free(context, at[i]);
  tprt_context_destroy(context);
  return errors;
}

static void test_programs(void **state) {
  (void)state;
  for (int n = 1; n <= 4; n++) {
    const tprt_config config = machine_config();
    test_table program = make_program(n, TPRT_SUM);
    for (int splits = 0; splits < 2; splits++) {
      program_run run = {&program, splits};
      machine_begin((fake_plan){.most_delay_us = 300});
      assert_int_equal(run_threads(n, &config, run_program, &run), 0);
      machine_expect_clean();
    }
    table_free(&program);
  }
}

/* A missing rank: the program has enqueued its collective by then, and the wait for the results
 * reports it. */
static int miss_program(tprt_comm *comm, void *argument) {
  const test_table *program = argument;
  const tprt_context_config config = {.size = sizeof config, .target = TPRT_TARGET_CUDA};
  int errors = 0;
  tprt_context *context = NULL;
  void *at = NULL;
  CHECK_STATUS(errors, tprt_context_create(comm, &config, &context), TPRT_OK);
  CHECK_STATUS(errors, (tprt_status)tprt_abi_enter(context, program->words), TPRT_OK);
  CHECK_STATUS(errors, tprt_context_alloc(context, COUNT * sizeof(float), &at), TPRT_OK);
  /* the first collective connects the ranks, and waits for them */
  CHECK_STATUS(errors, (tprt_status)tprt_abi_collective(context, REDUCE, at, at), TPRT_OK);
  CHECK_STATUS(errors, tprt_context_synchronize(context), TPRT_OK);
  if (tprt_comm_rank(comm) == 0) {
    CHECK_STATUS(errors, (tprt_status)tprt_abi_collective(context, REDUCE, at, at), TPRT_OK);
    CHECK_STATUS(errors, tprt_context_synchronize(context), TPRT_TIMEOUT);
    CHECK(errors, strstr(tprt_last_error(), "all_reduce, did not finish in time"));
    float host[COUNT];
    CHECK_STATUS(errors, tprt_context_download(context, host, at, sizeof host), TPRT_TIMEOUT);
    CHECK_STATUS(errors, (tprt_status)tprt_abi_read(context, at, host, sizeof host), TPRT_TIMEOUT);
  }
  tprt_context_free(context, at);
  tprt_context_destroy(context);
  return errors;
}

static void test_missing_rank(void **state) {
  (void)state;
  tprt_config config = machine_config();
  test_table program = make_program(2, TPRT_SUM);
  config.timeout_ns = 500000000;
  machine_begin((fake_plan){.most_delay_us = 0});
  assert_int_equal(run_threads(2, &config, miss_program, &program), 0);
  machine_expect_clean();
  table_free(&program);
}

/* A max that keeps NaN, which NCCL lacks: rank r has r + i, and rank 0 has NaN in front. */
static int run_max(tprt_comm *comm, void *argument) {
  const test_table *program = argument;
  const tprt_context_config config = {.size = sizeof config, .target = TPRT_TARGET_CUDA};
  int errors = 0, n = tprt_comm_size(comm), me = tprt_comm_rank(comm);
  float host[COUNT];
  tprt_context *context = NULL;
  void *at = NULL;
  for (int i = 0; i < COUNT; i++)
    host[i] = i == 0 && me == 0 ? NAN : (float)(me + i);
  CHECK_STATUS(errors, tprt_context_create(comm, &config, &context), TPRT_OK);
  CHECK_STATUS(errors, (tprt_status)tprt_abi_enter(context, program->words), TPRT_OK);
  CHECK_STATUS(errors, tprt_context_alloc(context, sizeof host, &at), TPRT_OK);
  CHECK_STATUS(errors, tprt_context_upload(context, at, host, sizeof host), TPRT_OK);
  CHECK_STATUS(errors, (tprt_status)tprt_abi_collective(context, REDUCE, at, at), TPRT_OK);
  CHECK_STATUS(errors, tprt_context_download(context, host, at, sizeof host), TPRT_OK);
  CHECK(errors, isnan(host[0]));
  for (int i = 1; i < COUNT; i++)
    CHECK(errors, host[i] == (float)(n - 1 + i));
  tprt_context_free(context, at);
  tprt_context_destroy(context);
  return errors;
}

static void test_max(void **state) {
  (void)state;
  const tprt_config config = machine_config();
  for (int n = 1; n <= 4; n++) {
    test_table program = make_program(n, TPRT_MAX);
    machine_begin((fake_plan){.most_delay_us = n == 4 ? 100 : 0});
    assert_int_equal(run_threads(n, &config, run_max, &program), 0);
    machine_expect_clean();
    table_free(&program);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sum),          cmocka_unit_test(test_one_rank),
      cmocka_unit_test(test_refusals),     cmocka_unit_test(test_programs),
      cmocka_unit_test(test_missing_rank), cmocka_unit_test(test_max)};
  machine_start();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
