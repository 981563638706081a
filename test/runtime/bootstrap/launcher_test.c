/* Tests launcher detection from the environment, and its errors. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/harness.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_VARIABLES = 8 };

/* Sets "NAME=VALUE" texts and clears all other launcher variables. */
static void set_environment(const char *const *texts) {
  static const char *const others[] = {"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_USE_AGENT_STORE",
                                       "TPRT_STORE"};
  size_t n;
  const tprt_launcher *rows = tprt_launchers(&n);
  for (size_t i = 0; i < n; i++) {
    const char *names[] = {rows[i].rank,        rows[i].n_ranks, rows[i].local_rank,
                           rows[i].local_ranks, rows[i].n_hosts, rows[i].epoch,
                           rows[i].job[0],      rows[i].job[1]};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
      if (names[k])
        unsetenv(names[k]);
    }
  }
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    unsetenv(others[i]);
  for (int i = 0; i < MOST_VARIABLES && texts[i]; i++) {
    char text[128];
    snprintf(text, sizeof text, "%s", texts[i]);
    char *equals = strchr(text, '=');
    assert_non_null(equals);
    *equals = 0;
    setenv(text, equals + 1, 1);
  }
}

static void test_found(void **state) {
  (void)state;
  char unix_name[64];
  static const struct {
    const char *variables[MOST_VARIABLES];
    const char *launcher;
    int rank, n_ranks, local_rank, local_ranks, epoch;
    const char *job, *store; /* "unix" stands for the socket named by launcher, job and epoch */
  } rows[] = {
      {{"TPRT_RANK=1", "TPRT_SIZE=4", "TPRT_JOB=j", "TPRT_EPOCH=2"},
       "tprt",
       1,
       4,
       -1,
       0,
       2,
       "j",
       ""},
      {{"TPRT_RANK=0", "TPRT_SIZE=1", "TPRT_STORE=unix:x"}, "tprt", 0, 1, -1, 0, 0, "", "unix:x"},
      {{"RANK=3", "WORLD_SIZE=8", "LOCAL_RANK=3", "LOCAL_WORLD_SIZE=4", "MASTER_ADDR=h1",
        "MASTER_PORT=29500", "TORCHELASTIC_RESTART_COUNT=1", "TORCHELASTIC_RUN_ID=none"},
       "torchrun",
       3,
       8,
       3,
       4,
       1,
       "none",
       "tcp://h1:29500"},
      {{"RANK=3", "WORLD_SIZE=8", "MASTER_ADDR=h1", "MASTER_PORT=29500",
        "TORCHELASTIC_USE_AGENT_STORE=True"},
       "torchrun",
       3,
       8,
       -1,
       0,
       0,
       "",
       "tcp://h1:29501"},
      {{"RANK=3", "WORLD_SIZE=8", "MASTER_ADDR=fe80::1", "MASTER_PORT=29500",
        "TORCHELASTIC_USE_AGENT_STORE=False"},
       "torchrun",
       3,
       8,
       -1,
       0,
       0,
       "",
       "tcp://[fe80::1]:29500"},
      {{"RANK=1", "WORLD_SIZE=2", "LOCAL_WORLD_SIZE=2", "TORCHELASTIC_RUN_ID=r",
        "TORCHELASTIC_RESTART_COUNT=5"},
       "torchrun",
       1,
       2,
       -1,
       2,
       5,
       "r",
       "unix"},
      {{"OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=3", "OMPI_COMM_WORLD_LOCAL_RANK=2",
        "OMPI_COMM_WORLD_LOCAL_SIZE=3", "PMIX_NAMESPACE=77", "PMIX_RANK=2"},
       "openmpi",
       2,
       3,
       2,
       3,
       0,
       "77",
       "unix"},
      {{"OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=6", "OMPI_COMM_WORLD_LOCAL_RANK=2",
        "OMPI_COMM_WORLD_LOCAL_SIZE=3", "PMIX_NAMESPACE=77"},
       "openmpi",
       2,
       6,
       2,
       3,
       0,
       "77",
       ""},
      {{"PMI_RANK=0", "PMI_SIZE=2", "MPI_LOCALRANKID=0", "MPI_LOCALNRANKS=2", "PMI_JOBID=k"},
       "pmi",
       0,
       2,
       0,
       2,
       0,
       "k",
       "unix"},
      {{"PMI_RANK=0", "PMI_SIZE=2", "MPI_LOCALRANKID=0", "MPI_LOCALNRANKS=2"},
       "pmi",
       0,
       2,
       0,
       2,
       0,
       "",
       ""},
      {{"SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2", "SLURM_LOCALID=1", "SLURM_STEP_NUM_NODES=1",
        "SLURM_JOB_ID=12", "SLURM_STEP_ID=3"},
       "slurm",
       1,
       2,
       1,
       2,
       0,
       "12.3",
       "unix"},
      {{"SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2", "SLURM_LOCALID=0", "SLURM_STEP_NUM_NODES=2",
        "SLURM_JOB_ID=12"},
       "slurm",
       1,
       2,
       0,
       0,
       0,
       "12",
       ""},
      {{"PMIX_RANK=1", "TPRT_SIZE=2", "PMIX_NAMESPACE=n"}, "pmix", 1, 2, -1, 0, 0, "n", ""},
      /* The inner launcher takes precedence. */
      {{"RANK=0", "WORLD_SIZE=2", "SLURM_PROCID=5", "SLURM_STEP_NUM_TASKS=9"},
       "torchrun",
       0,
       2,
       -1,
       0,
       0,
       "",
       ""},
      {{"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2", "SLURM_PROCID=5",
        "SLURM_STEP_NUM_TASKS=9", "RANK=7"},
       "openmpi",
       0,
       2,
       -1,
       0,
       0,
       "",
       ""},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tprt_launch launch = {.size = sizeof launch};
    set_environment(rows[i].variables);
    assert_int_equal(tprt_launch_find(&launch), TPRT_OK);
    assert_string_equal(launch.launcher, rows[i].launcher);
    assert_int_equal(launch.rank, rows[i].rank);
    assert_int_equal(launch.n_ranks, rows[i].n_ranks);
    assert_int_equal(launch.local_rank, rows[i].local_rank);
    assert_int_equal(launch.local_ranks, rows[i].local_ranks);
    assert_int_equal(launch.epoch, rows[i].epoch);
    assert_string_equal(launch.job, rows[i].job);
    snprintf(unix_name, sizeof unix_name, "unix:tprt-%u-%s-%s-%d", (unsigned)geteuid(),
             rows[i].launcher, rows[i].job, rows[i].epoch);
    assert_string_equal(launch.store,
                        strcmp(rows[i].store, "unix") == 0 ? unix_name : rows[i].store);
  }
}

static void test_refused(void **state) {
  (void)state;
  static const struct {
    const char *variables[MOST_VARIABLES];
    tprt_status status;
    const char *text;
  } rows[] = {
      {{NULL}, TPRT_INVALID_STATE, "no launcher started this process"},
      {{"RANK=1"}, TPRT_INVALID_STATE, "RANK is set without WORLD_SIZE"},
      /* a batch script */
      {{"SLURM_PROCID=0", "SLURM_NTASKS=4"}, TPRT_INVALID_STATE, "no launcher"},
      {{"RANK=one", "WORLD_SIZE=2"},
       TPRT_INVALID_ARGUMENT,
       "RANK is \"one\"; it must be an integer >= 0"},
      {{"RANK=-1", "WORLD_SIZE=2"}, TPRT_INVALID_ARGUMENT, "RANK is \"-1\""},
      {{"RANK= 1", "WORLD_SIZE=2"}, TPRT_INVALID_ARGUMENT, "RANK is \" 1\""},
      {{"RANK=1", "WORLD_SIZE=0"},
       TPRT_INVALID_ARGUMENT,
       "WORLD_SIZE is \"0\"; it must be an integer >= 1"},
      {{"RANK=1", "WORLD_SIZE=2x"}, TPRT_INVALID_ARGUMENT, "WORLD_SIZE is \"2x\""},
      {{"RANK=1", "WORLD_SIZE=99999999999"}, TPRT_INVALID_ARGUMENT, "WORLD_SIZE is"},
      {{"RANK=2", "WORLD_SIZE=2"},
       TPRT_INVALID_ARGUMENT,
       "RANK is 2; it must be below WORLD_SIZE, which is 2"},
      {{"RANK=1", "WORLD_SIZE=4", "LOCAL_RANK=2", "LOCAL_WORLD_SIZE=2"},
       TPRT_INVALID_ARGUMENT,
       "LOCAL_RANK is 2"},
      {{"RANK=1", "WORLD_SIZE=2", "LOCAL_WORLD_SIZE=3"},
       TPRT_INVALID_ARGUMENT,
       "3 ranks on this host"},
      {{"RANK=1", "WORLD_SIZE=2", "LOCAL_RANK=b"}, TPRT_INVALID_ARGUMENT, "LOCAL_RANK is \"b\""},
      {{"RANK=1", "WORLD_SIZE=2", "TORCHELASTIC_RESTART_COUNT=x"},
       TPRT_INVALID_ARGUMENT,
       "TORCHELASTIC_RESTART_COUNT is \"x\""},
      {{"RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=h"},
       TPRT_INVALID_ARGUMENT,
       "MASTER_ADDR is set without MASTER_PORT"},
      {{"RANK=1", "WORLD_SIZE=2", "MASTER_PORT=5"},
       TPRT_INVALID_ARGUMENT,
       "MASTER_PORT is set without MASTER_ADDR"},
      {{"RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=h", "MASTER_PORT=0x50"},
       TPRT_INVALID_ARGUMENT,
       "MASTER_PORT is \"0x50\""},
      {{"RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=h", "MASTER_PORT=65536"},
       TPRT_INVALID_ARGUMENT,
       "MASTER_PORT is \"65536\""},
      {{"RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=h", "MASTER_PORT=65535",
        "TORCHELASTIC_USE_AGENT_STORE=True"},
       TPRT_INVALID_ARGUMENT,
       "below 65535 if torchrun's agent uses it"},
      {{"OMPI_COMM_WORLD_RANK=q", "OMPI_COMM_WORLD_SIZE=2"},
       TPRT_INVALID_ARGUMENT,
       "OMPI_COMM_WORLD_RANK is \"q\""},
      {{"PMI_RANK=1", "PMI_SIZE="}, TPRT_INVALID_STATE, "no launcher"},
      {{"PMI_RANK=1", "PMI_SIZE=two"}, TPRT_INVALID_ARGUMENT, "PMI_SIZE is \"two\""},
      {{"SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=4", "SLURM_STEP_NUM_NODES=0"},
       TPRT_INVALID_ARGUMENT,
       "SLURM_STEP_NUM_NODES is"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tprt_launch launch = {.size = sizeof launch, .rank = 77};
    set_environment(rows[i].variables);
    assert_int_equal(tprt_launch_find(&launch), rows[i].status);
    if (!strstr(tprt_last_error(), rows[i].text))
      print_error("row %zu: %s\n", i, tprt_last_error());
    assert_non_null(strstr(tprt_last_error(), rows[i].text));
    assert_int_equal(launch.rank, 77); /* outputs are written only on success */
  }
}

/* A world needs a rendezvous, unless it has a single rank. */
static void test_world(void **state) {
  (void)state;
  static const char *const nowhere[MOST_VARIABLES] = {"RANK=0", "WORLD_SIZE=2"},
                           *const alone[MOST_VARIABLES] = {"RANK=0", "WORLD_SIZE=1"};
  tprt_config config = test_config();
  tprt_comm *comm;
  set_environment(nowhere);
  assert_int_equal(tprt_world_create(0, 0, &config, &comm), TPRT_INVALID_ARGUMENT);
  assert_non_null(
      strstr(tprt_last_error(),
             "launcher torchrun provides no rendezvous address for its 2 ranks: set TPRT_STORE"));
  set_environment(alone);
  assert_int_equal(tprt_world_create(0, 0, &config, &comm), TPRT_OK);
  assert_int_equal(tprt_comm_size(comm), 1);
  assert_int_equal(tprt_barrier(comm, NULL, NULL), TPRT_OK);
  tprt_comm_destroy(comm);
}

/* A launcher that starts a rank and is killed once the rank has its world. Returns the end of a
 * pipe that closes when the rank ends. */
static int lose_launcher(void) {
  static const char *const alone[MOST_VARIABLES] = {"RANK=0", "WORLD_SIZE=1"};
  int ready[2], alive[2];
  char byte;
  assert_int_equal(pipe(ready) | pipe(alive), 0);
  set_environment(alone);
  pid_t launcher = fork();
  if (launcher == 0 && fork() == 0) {
    tprt_config config = test_config();
    tprt_comm *comm;
    if (tprt_world_create(0, 0, &config, &comm) == TPRT_OK)
      (void)!write(ready[1], "", 1);
    sleep(1); /* and ends, if nobody ends it */
    (void)!write(alive[1], "", 1);
    _exit(0);
  }
  if (launcher == 0)
    for (;;)
      pause();
  assert_int_equal(read(ready[0], &byte, 1), 1);
  kill(launcher, SIGKILL);
  waitpid(launcher, NULL, 0);
  close(ready[0]);
  close(ready[1]);
  close(alive[1]);
  return alive[0];
}

/* On request a rank does not outlive its launcher. */
static void test_end_with_launcher(void **state) {
  (void)state;
  char byte;
  for (int follows = 0; follows < 2; follows++) {
    setenv("TPRT_END_WITH_LAUNCHER", follows ? "1" : "0", 1);
    int alive = lose_launcher();
    assert_int_equal(read(alive, &byte, 1), !follows);
    close(alive);
  }
  unsetenv("TPRT_END_WITH_LAUNCHER");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_found),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_world),
      cmocka_unit_test(test_end_with_launcher),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
