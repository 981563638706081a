/* Tests what tprt_comm_reconfigure and tprt_comm_join refuse: spares that do not come or are not
 * needed, a store that ends, ranks that disagree, wrong calls. Ranks and spares are processes. */
#define _GNU_SOURCE 1
#include "jobs.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int64_t second = 1000000000;

/* ---- no spare comes ---- */

static int alone(test_job *job, tprt_comm *comm, tprt_config *config) {
  static const int others[] = {0, 2};
  int errors = 0, me = tprt_comm_rank(comm), sum = 0, one = 1;
  tprt_comm *next = NULL;
  if (me == 1)
    raise(SIGKILL);
  double begin = test_seconds();
  CHECK_STATUS(errors, tprt_comm_reconfigure(comm, NULL, 0, config, second, &next), TPRT_TIMEOUT);
  errors +=
      job_says("no spare came for rank 1 of communicator \"world\", in place of rank 1, which has "
               "ended or is late");
  CHECK(errors, test_seconds() - begin < 5);
  CHECK_STATUS(errors, tprt_comm_reconfigure(comm, NULL, 4, config, second, &next), TPRT_TIMEOUT);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_PEER_DEAD);
  /* two ways to continue without one */
  if (job->parameter)
    CHECK_STATUS(errors, tprt_comm_shrink(comm, 0, &next), TPRT_OK);
  else
    CHECK_STATUS(errors, tprt_comm_reconfigure(comm, others, 2, config, 0, &next), TPRT_OK);
  if (!next)
    return errors + 1;
  CHECK(errors, tprt_comm_size(next) == 2 && tprt_comm_epoch(next) == (job->parameter ? 0 : 3));
  CHECK_STATUS(errors, tprt_all_reduce(next, &one, &sum, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  CHECK(errors, sum == 2);
  tprt_comm_destroy(next);
  tprt_comm_destroy(comm);
  return errors;
}

static void test_no_spare(void **state) {
  (void)state;
  for (int shrinks = 0; shrinks < 2; shrinks++) {
    test_job job = {.n_ranks = 3, .rank = alone, .kind = STORE_UNIX, .parameter = shrinks};
    assert_int_equal(job_run(&job), 0);
  }
}

/* ---- a spare that is not needed, or whose store ends ---- */

static int not_needed(test_job *job, int number, tprt_config *config) {
  int errors = 0;
  tprt_comm *comm;
  double begin = test_seconds();
  (void)job;
  (void)number;
  CHECK_STATUS(errors, tprt_comm_join(config, second, &comm), TPRT_TIMEOUT);
  errors += job_says("communicator \"world\" had no place for this spare in time");
  CHECK(errors, test_seconds() - begin < 5);
  return errors;
}

static void test_not_needed(void **state) {
  (void)state;
  for (int kind = STORE_UNIX; kind <= STORE_FILE; kind++) {
    test_job job = {.n_spares = 2, .spare = not_needed, .kind = kind};
    assert_int_equal(job_run(&job), 0);
  }
}

/* The end of the store is the end of the wait. */
static void test_store_ends(void **state) {
  (void)state;
  test_job job = {.kind = STORE_UNIX};
  pid_t server = job_serve(&job), child = fork();
  if (child == 0) {
    int errors = 0;
    tprt_config config = test_config();
    tprt_comm *comm;
    CHECK_STATUS(errors, job_open(&job, NULL, &config.store), TPRT_OK);
    CHECK_STATUS(errors, tprt_comm_join(&config, 0, &comm), TPRT_PEER_DEAD);
    errors += job_says("ended or closed the store");
    tprt_store_destroy(config.store);
    _exit(errors);
  }
  int status;
  double begin = test_seconds();
  usleep(200000);
  job_end(&job, server);
  waitpid(child, &status, 0);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  assert_true(test_seconds() - begin < 5);
}

/* ---- arguments ---- */

static int disagrees(test_job *job, tprt_comm *comm, tprt_config *config) {
  static const int sets[2][2] = {{0, 1}, {1, 0}};
  int errors = 0;
  tprt_comm *next;
  (void)job;
  CHECK_STATUS(errors, tprt_comm_reconfigure(comm, sets[tprt_comm_rank(comm)], 2, config, 0, &next),
               TPRT_MISMATCH);
  errors += job_says("ranks 0 and 1 want other sets of ranks for the next epoch");
  tprt_comm_destroy(comm);
  return errors;
}

static int no_store(test_job *job, tprt_comm *comm, tprt_config *config) {
  int errors = 0;
  tprt_comm *next;
  tprt_config plain = test_config();
  (void)job;
  (void)config;
  CHECK_STATUS(errors, tprt_comm_reconfigure(comm, NULL, 3, &plain, 0, &next),
               TPRT_INVALID_ARGUMENT);
  errors += job_says("rank 2 of the next epoch, a new rank, must be a spare: set the store");
  tprt_comm_destroy(comm);
  return errors;
}

/* The only rank with a place has ended. */
static int nobody_stays(test_job *job, tprt_comm *comm, tprt_config *config) {
  static const int gone[] = {0};
  int errors = 0;
  tprt_comm *next;
  (void)job;
  if (tprt_comm_rank(comm) == 0)
    raise(SIGKILL);
  CHECK_STATUS(errors, tprt_comm_reconfigure(comm, gone, 1, config, 0, &next),
               TPRT_INVALID_ARGUMENT);
  errors += job_says("none of the ranks that are left has a place");
  tprt_comm_destroy(comm);
  return errors;
}

static void test_disagreement(void **state) {
  (void)state;
  test_job jobs[] = {{.n_ranks = 2, .rank = disagrees, .kind = STORE_UNIX},
                     {.n_ranks = 2, .rank = no_store, .kind = STORE_UNIX},
                     {.n_ranks = 3, .rank = nobody_stays, .kind = STORE_UNIX}};
  for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
    assert_int_equal(job_run(&jobs[i]), 0);
}

/* A wrong call changes nothing: the communicator can be used. */
static int wrong_calls(test_job *job, tprt_comm *comm, tprt_config *config) {
  static const int low[] = {0, -2}, high[] = {0, 2}, twice[] = {0, 0}, spares[] = {-1, -1};
  static const struct {
    const int *ranks;
    int n;
    int64_t timeout_ns;
    const char *text;
  } rows[] = {{NULL, -1, 0, "the next epoch has -1 ranks; it must have at least 1"},
              {low, 0, 0, "the next epoch has 0 ranks"},
              {NULL, 1, 0, "the next epoch has 1 ranks, this one 2: list those that stay"},
              {low, 2, 0, "rank 1 of the next epoch is -2; the communicator has 2 ranks"},
              {high, 2, 0, "rank 1 of the next epoch is 2; the communicator has 2 ranks"},
              {twice, 2, 0, "ranks 0 and 1 of the next epoch are both 0"},
              {spares, 2, 0, "the next epoch has only spares"},
              {NULL, 0, -1, "timeout_ns is -1; it must be >= 0"}};
  int errors = 0;
  tprt_comm *next;
  (void)job;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    CHECK_STATUS(
        errors,
        tprt_comm_reconfigure(comm, rows[i].ranks, rows[i].n, config, rows[i].timeout_ns, &next),
        TPRT_INVALID_ARGUMENT);
    errors += job_says(rows[i].text);
  }
  tprt_config other = *config;
  other.backend = "self";
  CHECK_STATUS(errors, tprt_comm_reconfigure(comm, NULL, 0, &other, 0, &next),
               TPRT_INVALID_ARGUMENT);
  errors += job_says("cannot be of backend self");
  CHECK_STATUS(errors, tprt_comm_join(config, -1, &next), TPRT_INVALID_ARGUMENT);
  other = test_config();
  CHECK_STATUS(errors, tprt_comm_join(&other, 0, &next), TPRT_INVALID_ARGUMENT);
  errors += job_says("tprt_comm_join needs the store in which spares wait");
  other.backend = "self";
  CHECK_STATUS(errors, tprt_comm_join(&other, 0, &next), TPRT_UNSUPPORTED);
  errors += job_check(comm);
  tprt_comm_destroy(comm);
  return errors;
}

static void test_wrong_calls(void **state) {
  (void)state;
  test_job job = {.n_ranks = 2, .rank = wrong_calls, .kind = STORE_UNIX};
  assert_int_equal(job_run(&job), 0);
}

static void test_unsupported(void **state) {
  (void)state;
  static const char *const names[] = {"loopback", "self"};
  for (size_t i = 0; i < 2; i++) {
    tprt_config config = test_config();
    tprt_comm *comm, *next;
    config.backend = names[i];
    assert_int_equal(tprt_world_create_threads(1, &config, &comm), TPRT_OK);
    assert_false(tprt_comm_capabilities(comm) & TPRT_CAP_ELASTIC);
    assert_int_equal(tprt_comm_reconfigure(comm, NULL, 2, &config, 0, &next), TPRT_UNSUPPORTED);
    assert_int_equal(job_says("use backend shm or tcp"), 0);
    tprt_comm_destroy(comm);
  }
}

/* ---- two groups that lost each other: the store lets only one continue ---- */

/* In the store another group has claimed the next epoch. Notes what this one leaves there. */
static tprt_store_callbacks honest;
static int64_t left_in_store;
static tprt_status claim_before(void *user, const char *key, int64_t delta, int64_t *sum,
                                int64_t timeout_ns) {
  tprt_status status = honest.add(user, key, delta, sum, timeout_ns);
  if (strncmp(key, "tprt/epoch/", 11) == 0) {
    left_in_store = *sum;
    *sum += 12345;
  }
  return status;
}

static void test_fence(void **state) {
  (void)state;
  NEEDS_SHM();
  store_board *board = store_board_make();
  tprt_config config = test_config();
  tprt_comm *comm, *next;
  honest = store_board_callbacks(board);
  tprt_store_callbacks more = honest;
  more.add = claim_before;
  assert_int_equal(tprt_store_create(&more, &config.store), TPRT_OK);
  assert_int_equal(tprt_world_create_threads(1, &config, &comm), TPRT_OK);
  assert_int_equal(tprt_comm_reconfigure(comm, NULL, 0, &config, 0, &next), TPRT_INVALID_STATE);
  assert_int_equal(job_says("other ranks of this communicator have continued without this one"), 0);
  assert_int_equal(left_in_store, 0); /* so that the other group is not disturbed */
  tprt_comm_destroy(comm);
  tprt_store_destroy(config.store);
  store_board_free(board);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_spare),    cmocka_unit_test(test_not_needed),
      cmocka_unit_test(test_store_ends),  cmocka_unit_test(test_disagreement),
      cmocka_unit_test(test_wrong_calls), cmocka_unit_test(test_unsupported),
      cmocka_unit_test(test_fence)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
