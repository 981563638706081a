/* Tests what NCCL is told of the configuration of communicators: names, thread blocks, traffic
 * class, priority and device. */
#define _GNU_SOURCE 1
#include "machine.h"
#include "tprt/nccl.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { N = 2 };

static tprt_comm_config with_hints(const tprt_hint *hints, size_t n) {
  return (tprt_comm_config){.size = sizeof(tprt_comm_config),
                            .version = TPRT_COMM_CONFIG_VERSION,
                            .hints = hints,
                            .n_hints = n};
}

static tprt_status reduce(tprt_comm *comm, tprt_dtype dtype, tprt_reduction reduction,
                          const char *deterministic) {
  int ordinal = tprt_comm_world_rank(comm, tprt_comm_rank(comm));
  const tprt_hint hint = {"deterministic", deterministic};
  void *data = machine_alloc(ordinal, 64);
  memset(data, 0, 64);
  tprt_op op = tprt_op_flat(TPRT_OP_ALL_REDUCE, data, data, 8, dtype, NULL);
  op.reduction = reduction;
  op.hints = &hint;
  op.n_hints = 1;
  tprt_status status = tprt_submit(comm, &op, NULL);
  machine_free(ordinal, data);
  return status;
}

/* Waits for the other rank, so that a look at the machine sees what both did. */
static fake_report look_together(tprt_comm *comm, int *errors) {
  CHECK_STATUS(*errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  fake_report report = machine_look();
  CHECK_STATUS(*errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  return report;
}

static int configured(tprt_comm *comm, void *argument) {
  bool has_name = *(const bool *)argument;
  int errors = 0;
  fake_report seen = look_together(comm, &errors);
  CHECK(errors, seen.min_ctas == 2 && seen.max_ctas == 16 && seen.traffic_class == 5);
  CHECK(errors, strcmp(seen.comm_name, has_name ? "trainer" : "") == 0);
  CHECK(errors, seen.stream_priority < 0); /* the greatest priority is the least number */

  tprt_comm *child, *group;
  const tprt_hint own[] = {{"max_ctas", "4"}, {"priority", "low"}};
  tprt_comm_config config = with_hints(own, 2);
  config.name = "pipeline";
  CHECK_STATUS(errors, tprt_comm_split_with(comm, 0, 0, &config, &child), TPRT_OK);
  if (errors)
    return errors;
  seen = look_together(child, &errors);
  CHECK(errors, seen.min_ctas == 2 && seen.max_ctas == 4 && seen.traffic_class == 5);
  CHECK(errors, strcmp(seen.comm_name, has_name ? "pipeline" : "") == 0);
  CHECK(errors, seen.stream_priority > 0);

  static const int ranks[] = {1, 0};
  CHECK_STATUS(errors, tprt_comm_named(comm, "backward", ranks, 2, &group), TPRT_OK);
  if (errors)
    return errors;
  seen = look_together(group, &errors);
  CHECK(errors, seen.max_ctas == 16 && strcmp(seen.comm_name, has_name ? "backward" : "") == 0);

  CHECK_STATUS(errors, reduce(comm, TPRT_F32, TPRT_SUM, "0"), TPRT_OK);
  CHECK_STATUS(errors, reduce(comm, TPRT_I32, TPRT_SUM, "1"), TPRT_OK);
  CHECK_STATUS(errors, reduce(comm, TPRT_F32, TPRT_MAXNUM, "1"), TPRT_OK);
  CHECK_STATUS(errors, reduce(comm, TPRT_F32, TPRT_SUM, "1"), TPRT_OK);
  const tprt_hint device = {"device", "1"};
  config = with_hints(&device, 1);
  tprt_comm *other;
  CHECK_STATUS(errors, tprt_comm_split_with(comm, 0, 0, &config, &other), TPRT_UNSUPPORTED);
  CHECK(errors, strstr(tprt_last_error(),
                       "hint device: with backend nccl it is set for the world") != NULL);
  tprt_comm_destroy(child);
  return errors;
}

/* NCCL has names since 2.27 and a traffic class since 2.25. */
static int version(void) {
  tprt_nccl_info info;
  machine_begin((fake_plan){0});
  return tprt_nccl_probe(&info) ? 0 : info.version;
}

static void test_configured(void **state) {
  (void)state;
  bool has_name = version() >= 22700;
  const tprt_hint hints[] = {
      {"min_ctas", "2"}, {"max_ctas", "16"}, {"traffic_class", "5"}, {"priority", "high"}};
  tprt_comm_config of_comm = with_hints(hints, 4);
  of_comm.name = "trainer";
  tprt_config config = machine_config();
  config.comm = &of_comm;
  tprt_comm *comms[N];
  if (version() < 22500) { /* refused with both versions */
    assert_int_equal(tprt_world_create_threads(N, &config, comms), TPRT_UNSUPPORTED);
    assert_non_null(
        strstr(tprt_last_error(), "hint traffic_class: NCCL has it from 2.25 on; this is 2.23"));
  } else {
    assert_int_equal(run_threads(N, &config, configured, &has_name), 0);
  }
  machine_expect_clean();
}

static void test_one_rank(void **state) {
  (void)state;
  const tprt_hint hint = {"device", "3"};
  tprt_comm_config of_comm = with_hints(&hint, 1);
  tprt_config config = machine_config();
  tprt_comm *comm, *comms[N];
  config.comm = &of_comm;
  machine_begin((fake_plan){0});
  assert_int_equal(tprt_world_create_threads(N, &config, comms), TPRT_INVALID_ARGUMENT);
  assert_non_null(strstr(tprt_last_error(), "hint device is that of one rank"));
  assert_int_equal(tprt_world_create(1, 0, &config, &comm), TPRT_OK);
  void *data = machine_alloc(3, 64); /* only memory of its own device is accepted */
  assert_int_equal(tprt_all_reduce(comm, data, data, 4, TPRT_F32, TPRT_SUM, NULL, NULL), TPRT_OK);
  tprt_comm_destroy(comm);
  machine_free(3, data);

  /* operations that name no stream run in that of the communicator, and are only enqueued */
  void *stream = machine_stream(0);
  of_comm = with_hints(NULL, 0);
  of_comm.stream = stream;
  assert_int_equal(tprt_world_create_threads(N, &config, comms), TPRT_INVALID_ARGUMENT);
  assert_int_equal(tprt_world_create(1, 0, &config, &comm), TPRT_OK);
  data = machine_alloc(0, 64);
  tprt_work *work;
  machine_delay(stream, 50);
  assert_int_equal(tprt_all_reduce(comm, data, data, 4, TPRT_F32, TPRT_SUM, NULL, &work), TPRT_OK);
  assert_int_equal(tprt_work_test(work), TPRT_IN_PROGRESS);
  assert_int_equal(tprt_work_wait(work, 0), TPRT_OK);
  tprt_work_destroy(work);
  tprt_comm_destroy(comm);
  machine_free(0, data);
  machine_stream_destroy(0, stream);
  machine_expect_clean();
}

int main(void) {
  machine_start();
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_configured),
                                     cmocka_unit_test(test_one_rank)};
  return cmocka_run_group_tests_name("nccl config", tests, NULL, NULL);
}
