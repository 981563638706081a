/* Backend nccl on the made-up machine: worlds, a first operation, what is refused. */
#define _GNU_SOURCE 1
#include "machine.h"
#include "tprt/abi.h"

#include <string.h>

static int sum(tprt_comm *comm, void *argument) {
  (void)argument;
  enum { COUNT = 1000 };
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm);
  float *data = machine_alloc(me, COUNT * sizeof *data);
  for (int i = 0; i < COUNT; i++)
    data[i] = (float)(me + i);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, COUNT, TPRT_F32, TPRT_SUM, NULL, NULL), TPRT_OK);
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

/* What is refused does no harm. */
static int refusals(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, me = tprt_comm_rank(comm), on_host = 0;
  float *data = machine_alloc(me, 64), *elsewhere = machine_alloc((me + 1) % 2, 64);
  tprt_context *context;
  tprt_window *window;
  tprt_op tagged = tprt_op_send(data, 1, TPRT_F32, 1 - me, 3);
  CHECK_STATUS(errors, tprt_all_reduce(comm, &on_host, &on_host, 1, TPRT_I32, TPRT_SUM, NULL, NULL), TPRT_INVALID_ARGUMENT);
  CHECK(errors,
        strstr(tprt_last_error(), "all_reduce: send is memory of the host; backend nccl works on memory of its device"));
  CHECK_STATUS(errors, tprt_all_gather(comm, data, &on_host, 0, TPRT_I32, NULL, NULL), TPRT_OK); /* nothing is read */
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, elsewhere, 1, TPRT_F32, TPRT_SUM, NULL, NULL), TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(), "recv is memory of device"));
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 1, TPRT_I16, TPRT_SUM, NULL, NULL), TPRT_UNSUPPORTED);
  CHECK(errors, strstr(tprt_last_error(), "all_reduce: NCCL has no sum of i16"));
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 1, TPRT_F32, TPRT_MAX, NULL, NULL), TPRT_UNSUPPORTED);
  CHECK(errors, strstr(tprt_last_error(), "NCCL's max of f32 is another where there are NaN"));
  CHECK_STATUS(errors, tprt_submit(comm, &tagged, NULL), TPRT_UNSUPPORTED);
  CHECK(errors, strstr(tprt_last_error(), "send: tag 3: NCCL has no tags"));
  CHECK_STATUS(errors, tprt_comm_set_hint(comm, "nan_check", "1"), TPRT_UNSUPPORTED);
  CHECK_STATUS(errors, tprt_context_create(comm, NULL, &context), TPRT_UNSUPPORTED);
  CHECK(errors, strstr(tprt_last_error(), "programs for the host work on its memory; backend nccl has that of a device"));
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
  assert_non_null(strstr(tprt_last_error(), "backend nccl: 5 ranks need as many devices; there are 4"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sum), cmocka_unit_test(test_refusals)};
  machine_start();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
