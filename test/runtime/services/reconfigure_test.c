/* Tests tprt_comm_reconfigure: spares replace ranks that have ended, ranks join and leave, and
 * processes end while this happens. Each rank and each spare is a process. */
#define _GNU_SOURCE 1
#include "jobs.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const int64_t second = 1000000000;

/* Checks that all members are there, and for each since when. */
static int check_members(tprt_comm *comm, int n, int epoch, const int *joined) {
  int errors = 0;
  CHECK(errors, tprt_comm_size(comm) == n);
  CHECK(errors, tprt_comm_epoch(comm) == epoch);
  for (int i = 0; i < n; i++)
    CHECK(errors, tprt_comm_joined(comm, i) == joined[i] && tprt_comm_world_rank(comm, i) == i);
  CHECK(errors, tprt_comm_joined(comm, -1) == -1 && tprt_comm_joined(comm, n) == -1);
  return errors + job_check(comm);
}

/* ---- a spare replaces a rank that was killed ---- */

static int replaced(test_job *job, tprt_comm *comm, tprt_config *config) {
  int errors = job_check(comm), me = tprt_comm_rank(comm), joined[4] = {0};
  char text[32];
  tprt_comm *next = NULL;
  joined[job->parameter] = 1;
  CHECK(errors, tprt_comm_epoch(comm) == 0 && tprt_comm_joined(comm, me) == 0);
  if (me == job->parameter)
    raise(SIGKILL);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_PEER_DEAD);
  snprintf(text, sizeof text, "rank %d ended", job->parameter);
  errors += job_says(text);
  CHECK_STATUS(errors, tprt_comm_reconfigure(comm, NULL, 0, config, 0, &next), TPRT_OK);
  tprt_comm_destroy(comm);
  if (!next)
    return errors + 1;
  CHECK(errors, tprt_comm_rank(next) == me);
  CHECK(errors, strcmp(tprt_comm_name(next), job->name ? job->name : "world") == 0);
  errors += check_members(next, 4, 1, joined);
  tprt_comm_destroy(next);
  return errors;
}

static int replaces(test_job *job, int number, tprt_config *config) {
  int errors = 0, joined[4] = {0};
  tprt_comm *comm = NULL;
  (void)number;
  joined[job->parameter] = 1;
  CHECK_STATUS(errors, tprt_comm_join(config, 0, &comm), TPRT_OK);
  if (!comm)
    return errors + 1;
  CHECK(errors, tprt_comm_rank(comm) == job->parameter);
  CHECK(errors, strcmp(tprt_comm_name(comm), job->name ? job->name : "world") == 0);
  errors += check_members(comm, 4, 1, joined);
  tprt_comm_destroy(comm);
  return errors;
}

static void test_replaced(void **state) {
  (void)state;
  static const int kinds[] = {STORE_UNIX, STORE_TCP, STORE_FILE, STORE_UNIX};
  for (int victim = 0; victim < 4; victim++) {
    test_job job = {.n_ranks = 4,
                    .n_spares = 1,
                    .rank = replaced,
                    .spare = replaces,
                    .kind = kinds[victim],
                    .name = victim % 2 ? "trainer" : NULL,
                    .parameter = victim};
    assert_int_equal(job_run(&job), 0);
  }
}

/* ---- more ranks join a communicator that has not failed ---- */

static int grows(test_job *job, tprt_comm *comm, tprt_config *config) {
  static const int joined[] = {0, 0, 1, 1};
  int errors = 0, value = 1, sum;
  tprt_comm *next = NULL, *again = NULL;
  tprt_work *work;
  (void)job;
  if (tprt_comm_rank(comm) == 0)
    usleep(50000); /* the other rank waits until this one has done its work */
  CHECK_STATUS(errors, tprt_all_reduce(comm, &value, &sum, 1, TPRT_I32, TPRT_SUM, NULL, &work),
               TPRT_OK);
  CHECK_STATUS(errors, tprt_comm_reconfigure(comm, NULL, 4, config, 0, &next), TPRT_OK);
  CHECK_STATUS(errors, tprt_work_wait(work, 0), TPRT_OK);
  tprt_work_destroy(work);
  CHECK(errors, sum == 2);
  tprt_comm_destroy(comm);
  if (!next)
    return errors + 1;
  errors += check_members(next, 4, 1, joined);
  /* the same ranks in another order, without a store */
  static const int reversed[] = {3, 2, 1, 0}, then[] = {1, 1, 0, 0};
  tprt_config plain = test_config();
  CHECK_STATUS(errors, tprt_comm_reconfigure(next, reversed, 4, &plain, 0, &again), TPRT_OK);
  if (again)
    errors += check_members(again, 4, 2, then);
  tprt_comm_destroy(next);
  tprt_comm_destroy(again);
  return errors;
}

static int joins_growing(test_job *job, int number, tprt_config *config) {
  static const int joined[] = {0, 0, 1, 1}, reversed[] = {3, 2, 1, 0}, then[] = {1, 1, 0, 0};
  int errors = 0;
  tprt_comm *comm = NULL, *again = NULL;
  tprt_config plain = test_config();
  (void)job;
  (void)number;
  CHECK_STATUS(errors, tprt_comm_join(config, 0, &comm), TPRT_OK);
  if (!comm)
    return errors + 1;
  errors += check_members(comm, 4, 1, joined);
  CHECK_STATUS(errors, tprt_comm_reconfigure(comm, reversed, 4, &plain, 0, &again), TPRT_OK);
  if (again)
    errors += check_members(again, 4, 2, then);
  tprt_comm_destroy(comm);
  tprt_comm_destroy(again);
  return errors;
}

static void test_grows(void **state) {
  (void)state;
  test_job job = {
      .n_ranks = 2, .n_spares = 2, .rank = grows, .spare = joins_growing, .kind = STORE_UNIX};
  assert_int_equal(job_run(&job), 0);
}

/* ---- another set: some leave, one joins, one dies meanwhile ---- */

static const int other_set[] = {3, TPRT_SPARE, 1, 0};

/* Of 5 ranks, 0 is killed, and 2 and 4 have no place. */
static int moves(test_job *job, tprt_comm *comm, tprt_config *config) {
  static const int places[] = {3, 2, -1, 0, -1}, joined[] = {0, 1, 0, 1};
  int errors = 0, me = tprt_comm_rank(comm);
  tprt_comm *next = comm;
  (void)job;
  if (me == 0)
    raise(SIGKILL);
  CHECK_STATUS(errors, tprt_comm_reconfigure(comm, other_set, 4, config, 0, &next), TPRT_OK);
  tprt_comm_destroy(comm);
  if (places[me] < 0) {
    CHECK(errors, next == NULL);
    return errors;
  }
  CHECK(errors, next && tprt_comm_rank(next) == places[me]);
  if (next && next != comm)
    errors += check_members(next, 4, 1, joined);
  tprt_comm_destroy(next);
  return errors;
}

static int joins_others(test_job *job, int number, tprt_config *config) {
  static const int joined[] = {0, 1, 0, 1};
  int errors = 0;
  tprt_comm *comm = NULL;
  (void)job;
  (void)number;
  CHECK_STATUS(errors, tprt_comm_join(config, 0, &comm), TPRT_OK);
  if (comm)
    errors += check_members(comm, 4, 1, joined);
  tprt_comm_destroy(comm);
  return errors;
}

static void test_other_set(void **state) {
  (void)state;
  test_job job = {
      .n_ranks = 5, .n_spares = 2, .rank = moves, .spare = joins_others, .kind = STORE_UNIX};
  assert_int_equal(job_run(&job), 0);
}

/* ---- a rank that is late is left out, and comes back as a spare ---- */

static int is_late(test_job *job, tprt_comm *comm, tprt_config *config) {
  static const int joined[] = {0, 1, 0}, later[] = {0, 1, 0, 2};
  int errors = 0, me = tprt_comm_rank(comm);
  tprt_comm *next = NULL, *again = NULL;
  if (me == 1) {
    raise(SIGSTOP); /* until rank 0 continues it */
    CHECK(errors, tprt_barrier(comm, NULL, NULL) != TPRT_OK);
    CHECK_STATUS(errors, tprt_comm_reconfigure(comm, NULL, 0, config, 2 * second, &next),
                 TPRT_INVALID_STATE);
    errors += job_says("rank 1 arrived too late: the others have continued without it");
    tprt_comm_destroy(comm);
    CHECK_STATUS(errors, tprt_comm_join(config, 0, &again), TPRT_OK);
    if (again)
      errors += check_members(again, 4, 2, later);
    tprt_comm_destroy(again);
    return errors;
  }
  int32_t value = 0;
  tprt_op op = tprt_op_flat(TPRT_OP_BROADCAST, &value, &value, 1, TPRT_I32, NULL);
  op.timeout_ns = second / 2;
  op.root = 1;
  tprt_status status = tprt_submit(comm, &op, NULL);
  CHECK(errors, status == TPRT_TIMEOUT);
  errors += job_says("rank 1 did not arrive in time");
  CHECK_STATUS(errors, tprt_comm_reconfigure(comm, NULL, 0, config, 6 * second, &next), TPRT_OK);
  tprt_comm_destroy(comm);
  if (!next)
    return errors + 1;
  errors += check_members(next, 3, 1, joined);
  if (me == 0)
    kill(atomic_load(&job->board->pid[1]), SIGCONT);
  CHECK_STATUS(errors, tprt_comm_reconfigure(next, NULL, 4, config, 0, &again), TPRT_OK);
  tprt_comm_destroy(next);
  if (again)
    errors += check_members(again, 4, 2, later);
  tprt_comm_destroy(again);
  return errors;
}

static int joins_twice(test_job *job, int number, tprt_config *config) {
  static const int joined[] = {0, 1, 0}, later[] = {0, 1, 0, 2};
  int errors = 0;
  tprt_comm *comm = NULL, *again = NULL;
  (void)job;
  (void)number;
  CHECK_STATUS(errors, tprt_comm_join(config, 0, &comm), TPRT_OK);
  if (!comm)
    return errors + 1;
  errors += check_members(comm, 3, 1, joined);
  CHECK_STATUS(errors, tprt_comm_reconfigure(comm, NULL, 4, config, 0, &again), TPRT_OK);
  tprt_comm_destroy(comm);
  if (again)
    errors += check_members(again, 4, 2, later);
  tprt_comm_destroy(again);
  return errors;
}

static void test_late(void **state) {
  (void)state;
  test_job job = {
      .n_ranks = 3, .n_spares = 1, .rank = is_late, .spare = joins_twice, .kind = STORE_UNIX};
  assert_int_equal(job_run(&job), 0);
}

/* ---- spares that end, or come to nothing at first ---- */

/* The first spare is killed while it waits, the second one is stopped, the third one is of another
 * backend, and the fourth one comes. */
static int waits_somehow(test_job *job, int number, tprt_config *config) {
  static const char *const backends[] = {"shm", "tcp"};
  const char *own = getenv("TPRT_BACKEND");
  int errors = 0;
  tprt_comm *comm;
  while (atomic_load(&job->board->marks[0]) < number)
    usleep(1000);
  if (number < 2) { /* announces itself */
    pid_t child = fork();
    if (child == 0) {
      tprt_store *store;
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (job_open(job, NULL, &store) == TPRT_OK) {
        config->store = store;
        (void)tprt_comm_join(config, 0, &comm);
      }
      _exit(0);
    }
    usleep(300000);
    kill(child, number ? SIGSTOP : SIGKILL);
    atomic_store(&job->board->marks[0], number + 1);
    for (int i = 0; i < 200 && atomic_load(&job->board->marks[1]) == 0; i++)
      usleep(100000);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0;
  }
  if (number == 2) {
    config->backend = backends[!own || strcmp(own, "tcp") != 0];
    atomic_store(&job->board->marks[0], 3);
    CHECK_STATUS(errors, tprt_comm_join(config, 0, &comm), TPRT_MISMATCH);
    errors += job_says("communicator \"world\" is of backend");
    return errors;
  }
  usleep(300000); /* the third one has announced itself */
  CHECK_STATUS(errors, tprt_comm_join(config, 0, &comm), TPRT_OK);
  if (errors)
    return errors;
  errors += job_check(comm);
  atomic_store(&job->board->marks[1], 1);
  tprt_comm_destroy(comm);
  return errors;
}

static int needs_one(test_job *job, tprt_comm *comm, tprt_config *config) {
  int errors = 0;
  tprt_comm *next = NULL;
  while (atomic_load(&job->board->marks[0]) < 3)
    usleep(1000);
  usleep(500000);
  CHECK_STATUS(errors, tprt_comm_reconfigure(comm, NULL, 3, config, 0, &next), TPRT_OK);
  if (next)
    errors += job_check(next);
  tprt_comm_destroy(next);
  tprt_comm_destroy(comm);
  return errors;
}

static void test_dead_spares(void **state) {
  (void)state;
  test_job job = {
      .n_ranks = 2, .n_spares = 4, .rank = needs_one, .spare = waits_somehow, .kind = STORE_UNIX};
  assert_int_equal(job_run(&job), 0);
}

/* Two places, one spare: it waits on as long as the ranks do, and gets a place later. */
static int needs_two(test_job *job, tprt_comm *comm, tprt_config *config) {
  int errors = 0;
  tprt_comm *next = NULL;
  (void)job;
  CHECK_STATUS(errors, tprt_comm_reconfigure(comm, NULL, 4, config, 2 * second, &next),
               TPRT_TIMEOUT);
  errors += job_says("no spare came for rank 3 of communicator \"world\", a new rank");
  CHECK_STATUS(errors, tprt_comm_reconfigure(comm, NULL, 3, config, 0, &next), TPRT_OK);
  if (next)
    errors += job_check(next);
  tprt_comm_destroy(next);
  tprt_comm_destroy(comm);
  return errors;
}

static int waits_on(test_job *job, int number, tprt_config *config) {
  int errors = 0;
  tprt_comm *comm = NULL;
  (void)job;
  (void)number;
  CHECK_STATUS(errors, tprt_comm_join(config, 0, &comm), TPRT_OK);
  if (comm)
    errors += job_check(comm);
  tprt_comm_destroy(comm);
  return errors;
}

static void test_waits_on(void **state) {
  (void)state;
  test_job job = {
      .n_ranks = 2, .n_spares = 1, .rank = needs_two, .spare = waits_on, .kind = STORE_UNIX};
  assert_int_equal(job_run(&job), 0);
}

/* The spare comes shortly before the end of the time, and a rank is stopped until after it. */
static int needs_time(test_job *job, tprt_comm *comm, tprt_config *config) {
  int errors = 0;
  tprt_comm *next = NULL;
  pid_t child = -1, me = getpid();
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  if (tprt_comm_rank(comm) == 1)
    child = fork();
  if (child == 0) {
    usleep(300000);
    kill(me, SIGSTOP);
    atomic_store(&job->board->marks[0], 1);
    usleep(900000);
    kill(me, SIGCONT);
    _exit(0);
  }
  CHECK_STATUS(errors, tprt_comm_reconfigure(comm, NULL, 3, config, second, &next), TPRT_OK);
  if (next)
    errors += job_check(next);
  tprt_comm_destroy(next);
  tprt_comm_destroy(comm);
  if (child > 0)
    waitpid(child, NULL, 0);
  return errors;
}

static int comes_late(test_job *job, int number, tprt_config *config) {
  while (!atomic_load(&job->board->marks[0]))
    usleep(1000);
  return waits_on(job, number, config);
}

static void test_time_of_creation(void **state) {
  (void)state;
  test_job job = {
      .n_ranks = 2, .n_spares = 1, .rank = needs_time, .spare = comes_late, .kind = STORE_UNIX};
  assert_int_equal(job_run(&job), 0);
}

/* ---- secrets ---- */

static const unsigned char secret[TPRT_SECRET_BYTES] = "the secret of the job .........",
                           another[TPRT_SECRET_BYTES] = "another secret ................";

/* The first spare does not know the secret. */
static int knows(test_job *job, int number, tprt_config *config) {
  tprt_store *store;
  int errors = 0;
  if (number) {
    while (!atomic_load(&job->board->marks[0]))
      usleep(1000);
    return replaces(job, number, config);
  }
  CHECK_STATUS(errors, job_open(job, another, &store), TPRT_AUTH);
  errors += job_says("could not prove that it knows the secret");
  CHECK_STATUS(errors, job_open(job, NULL, &store), TPRT_AUTH);
  atomic_store(&job->board->marks[0], 1);
  return errors;
}

static void test_secret(void **state) {
  (void)state;
  test_job job = {.n_ranks = 4,
                  .n_spares = 2,
                  .rank = replaced,
                  .spare = knows,
                  .kind = STORE_TCP,
                  .secret = secret,
                  .parameter = 3};
  assert_int_equal(job_run(&job), 0);
}

/* ---- deaths during the change ---- */

static int dies_meanwhile(test_job *job, tprt_comm *comm, tprt_config *config) {
  int errors = 0, me = tprt_comm_rank(comm);
  tprt_comm *next = NULL;
  if (me == job->parameter) {
    usleep(300000);
    raise(SIGKILL);
  }
  /* waits for a spare while the rank ends */
  CHECK_STATUS(errors, tprt_comm_reconfigure(comm, NULL, 4, config, 0, &next), TPRT_OK);
  if (next)
    errors += job_check(next);
  tprt_comm_destroy(next);
  tprt_comm_destroy(comm);
  return errors;
}

/* The leader, rank 0, or another rank ends while all wait for a spare: two are needed then. */
static int leader_dies(test_job *job, tprt_comm *comm, tprt_config *config) {
  int errors = 0, me = tprt_comm_rank(comm);
  tprt_comm *next = NULL;
  if (me == job->parameter) {
    pid_t child = fork();
    if (child == 0) {
      usleep(300000);
      kill(getppid(), SIGKILL);
      _exit(0);
    }
  }
  CHECK_STATUS(errors, tprt_comm_reconfigure(comm, NULL, 4, config, 0, &next), TPRT_OK);
  if (next)
    errors += job_check(next);
  tprt_comm_destroy(next);
  tprt_comm_destroy(comm);
  return errors;
}

static int comes_later(test_job *job, int number, tprt_config *config) {
  usleep(700000);
  return waits_on(job, number, config);
}

static void test_deaths_meanwhile(void **state) {
  (void)state;
  for (int victim = 0; victim < 3; victim++) {
    test_job before = {.n_ranks = 3,
                       .n_spares = 2,
                       .rank = dies_meanwhile,
                       .spare = waits_on,
                       .kind = STORE_UNIX,
                       .parameter = victim};
    assert_int_equal(job_run(&before), 0);
    test_job during = {.n_ranks = 3,
                       .n_spares = 2,
                       .rank = leader_dies,
                       .spare = comes_later,
                       .kind = STORE_UNIX,
                       .parameter = victim};
    assert_int_equal(job_run(&during), 0);
  }
}

/* ---- ranks that are threads, with a store of callbacks ---- */

typedef struct thread_rank {
  pthread_t thread;
  store_board *board;
  tprt_comm *comm; /* NULL: a spare */
  int errors;
} thread_rank;

static void *thread_main(void *data) {
  static const int joined[] = {0, 0, 1};
  thread_rank *own = data;
  const tprt_store_callbacks calls = store_board_callbacks(own->board);
  tprt_config config = test_config();
  tprt_comm *next = NULL;
  CHECK_STATUS(own->errors, tprt_store_create(&calls, &config.store), TPRT_OK);
  if (own->comm)
    CHECK_STATUS(own->errors, tprt_comm_reconfigure(own->comm, NULL, 3, &config, 0, &next),
                 TPRT_OK);
  else
    CHECK_STATUS(own->errors, tprt_comm_join(&config, 0, &next), TPRT_OK);
  tprt_comm_destroy(own->comm);
  if (next)
    own->errors += check_members(next, 3, 1, joined);
  tprt_comm_destroy(next);
  tprt_store_destroy(config.store);
  return NULL;
}

static void test_threads(void **state) {
  (void)state;
  NEEDS_SHM();
  store_board *board = store_board_make();
  tprt_config config = test_config();
  tprt_comm *comms[2];
  thread_rank ranks[3] = {{.board = board}, {.board = board}, {.board = board}};
  assert_int_equal(tprt_world_create_threads(2, &config, comms), TPRT_OK);
  for (int i = 0; i < 2; i++)
    ranks[i].comm = comms[i];
  for (int i = 0; i < 3; i++)
    assert_int_equal(pthread_create(&ranks[i].thread, NULL, thread_main, &ranks[i]), 0);
  for (int i = 0; i < 3; i++) {
    pthread_join(ranks[i].thread, NULL);
    assert_int_equal(ranks[i].errors, 0);
  }
  store_board_free(board);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_replaced),         cmocka_unit_test(test_grows),
      cmocka_unit_test(test_other_set),        cmocka_unit_test(test_late),
      cmocka_unit_test(test_dead_spares),      cmocka_unit_test(test_waits_on),
      cmocka_unit_test(test_time_of_creation), cmocka_unit_test(test_secret),
      cmocka_unit_test(test_deaths_meanwhile), cmocka_unit_test(test_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
