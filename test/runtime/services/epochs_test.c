/* Many epochs of a communicator whose ranks change places leave nothing behind in its processes.
 * TP_LONG=1: 10,000 epochs. */
#define _GNU_SOURCE 1
#include "jobs.h"

#include "test/runtime/harness/long.h"

#include <unistd.h>

enum { N = 2 };

/* In kilobytes; without what is shared with others. */
static long private_memory(void) {
  long kilobytes, shared, all;
  FILE *file = fopen("/proc/self/statm", "re");
  int n = fscanf(file, "%*d %ld %ld", &all, &shared);
  kilobytes = n == 2 ? (all - shared) * (sysconf(_SC_PAGESIZE) / 1024) : 0;
  fclose(file);
  return kilobytes;
}

static int changes(test_job *job, tprt_comm *comm, tprt_config *config) {
  enum { FIRST = 20 }; /* epochs after which everything that is kept is there */
  static const int crossed[] = {1, 0};
  int errors = 0, n = test_is_long() ? 10000 : 100;
  job_holdings before = {0};
  long memory = 0;
  (void)job;
  for (int i = 1; i <= n && !errors; i++) {
    tprt_comm *next = NULL;
    int32_t one = 1, sum = 0;
    CHECK_STATUS(errors, tprt_comm_reconfigure(comm, crossed, N, config, 0, &next), TPRT_OK);
    tprt_comm_destroy(comm);
    comm = next;
    if (!comm)
      return errors + 1;
    CHECK_STATUS(errors, tprt_all_reduce(comm, &one, &sum, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
                 TPRT_OK);
    CHECK(errors, sum == N && tprt_comm_epoch(comm) == i);
    if (i == FIRST) {
      before = job_holds();
      memory = private_memory();
    }
  }
  job_holdings after = job_holds();
  if (errors)
    return errors;
  fprintf(stderr, "%d epochs: %d descriptors, %d mappings, %d threads, %ld KB more\n", n - FIRST,
          after.descriptors - before.descriptors, after.maps - before.maps,
          after.threads - before.threads, private_memory() - memory);
  CHECK(errors, after.descriptors <= before.descriptors && after.threads <= before.threads);
  /* malloc may take a few */
  CHECK(errors, JOB_SANITIZED || after.maps <= before.maps + 8);
  CHECK(errors, JOB_SANITIZED || private_memory() - memory < 4096);
  tprt_comm_destroy(comm);
  return errors;
}

static void test_epochs(void **state) {
  (void)state;
  test_job job = {.n_ranks = N, .rank = changes, .kind = STORE_UNIX, .seconds = 600};
  assert_int_equal(job_run(&job), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_epochs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
