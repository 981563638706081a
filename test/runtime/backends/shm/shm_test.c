/* Tests data paths of shared memory that the cases of all backends do not reach. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/harness.h"

#include <sched.h>
#include <unistd.h>

/* ---- Two ranks that the scheduler put on one processor ---- */

/* Puts both ranks on one processor. Rank 1 then waits there for rank 0, which is known to be there
 * from its last step. Returns whether rank 1 left the processor. */
static bool parts(tprt_comm *comm, const cpu_set_t *all, int *errors) {
  int me = tprt_comm_rank(comm), home = 0;
  float value = 1, sum;
  cpu_set_t one;
  while (!CPU_ISSET(home, all))
    home++;
  CPU_ZERO(&one);
  CPU_SET(home, &one);
  CHECK(*errors, sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK_STATUS(*errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  CHECK(*errors, sched_setaffinity(0, sizeof *all, all) == 0);
  if (me == 0)
    usleep(20000);
  CHECK_STATUS(*errors, tprt_all_reduce(comm, &value, &sum, 1, TPRT_F32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  return me == 1 && sched_getcpu() != home;
}

static int share_processor(tprt_comm *comm, void *argument) {
  int errors = 0;
  const cpu_set_t *all = argument;
  float left = 0, any;
  cpu_set_t now;
  for (int i = 0; i < 20; i++)
    left += parts(comm, all, &errors);
  CHECK_STATUS(errors, tprt_all_reduce(comm, &left, &any, 1, TPRT_F32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  CHECK(errors, any > 0);
  CHECK(errors, sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, all));
  return errors;
}

static void test_shared_processor(void **state) {
  (void)state;
  tprt_config config = test_config();
  cpu_set_t all;
  assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2)
    skip();
  assert_int_equal(run_threads(2, &config, share_processor, &all), 0);
  assert_int_equal(run_processes(2, &config, share_processor, &all, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shared_processor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
