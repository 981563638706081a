/* Tests that messages of ranks that fail at once are whole lines: 8 processes that share stderr
 * synchronize, and then print their messages. */
#include "tools/cli/cli.h"
#include "tools/shard-run/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 8, ROUNDS = 250, LONG_ROUNDS = 1000, MAX_LINES = 2, MANY = 60 };

const cli_tool cli_program = {.name = "shard-run"};

static int rank, n_rounds;

/* Required by faults.c, instead of launch.c. */
int launch_rank_in_program(void) { return rank; }

static void say_complaint(void) {
  complain("rank %d failed: %s", rank, "the ranks cannot continue");
}

static void say_usage(void) { cli_usage("option '%s' of rank %d needs a value", "--mesh", rank); }

static void say_two_lines(void) {
  cli_print("model.mlir:%d: error: no\nmodel.mlir:%d: note: %s\n", rank, rank, "because");
}

/* Prints more than a pipe takes at once. */
static void say_many_lines(void) {
  char text[MANY * 100 + 1], *at = text;
  for (int i = 0; i < MANY; i++)
    at += sprintf(
        at,
        "model.mlir:%d: remark: the axis \"tp\" does not divide dimension 1 of this operation\n",
        rank);
  cli_write(text, (size_t)(at - text));
}

#ifndef __SANITIZE_ADDRESS__ /* the sanitizer has its own handlers */
static void divide(void) { raise(SIGFPE); }

static void reach(void) { raise(SIGSEGV); }
#endif

/* The action of all ranks, and the resulting lines of each, with its number. */
static const struct row {
  const char *name;
  void (*act)(void);
  bool ends; /* ends the process */
  int times; /* occurrences of the lines per round */
  const char *lines[MAX_LINES];
} rows[] = {
    {"complain",
     say_complaint,
     false,
     1,
     {"shard-run: error: rank %d failed: the ranks cannot continue\n"}},
    {"usage",
     say_usage,
     false,
     1,
     {"shard-run: error: option '--mesh' of rank %d needs a value; see shard-run --help\n"}},
    {"two lines",
     say_two_lines,
     false,
     1,
     {"model.mlir:%d: error: no\n", "model.mlir:%d: note: because\n"}},
    {"many lines",
     say_many_lines,
     false,
     MANY,
     {"model.mlir:%d: remark: the axis \"tp\" does not divide dimension 1 of this operation\n"}},
#ifndef __SANITIZE_ADDRESS__
    {"division",
     divide,
     true,
     1,
     {"shard-run: error: the program, on rank %d, divided an integer by 0, or the smallest integer "
      "by "
      "-1\n"}},
    {"bounds",
     reach,
     true,
     1,
     {"shard-run: error: the program, on rank %d, accessed memory out of bounds: an index exceeds "
      "its tensor\n"}},
#endif
};

static void *share(size_t n) {
  void *memory = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(memory, MAP_FAILED);
  return memory;
}

static void meet_and_act(const struct row *row, pthread_barrier_t *barrier) {
  pthread_barrier_wait(barrier);
  row->act();
}

/* Runs the action in a new process, which ends with the exit code of failures. */
static bool act_and_end(const struct row *row, pthread_barrier_t *barrier) {
  int state;
  pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    meet_and_act(row, barrier);
    _exit(EXIT_VERIFIED); /* the action did not end the process */
  }
  return pid > 0 && waitpid(pid, &state, 0) == pid && WIFEXITED(state) &&
         WEXITSTATUS(state) == EXIT_FAILED;
}

static void rank_main(const struct row *row, pthread_barrier_t *barrier) {
  bool ok = true;
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* the child must not outlive the ranks */
  faults_catch();
  for (int round = 0; round < n_rounds && ok; round++)
    if (row->ends)
      ok = act_and_end(row, barrier);
    else
      meet_and_act(row, barrier);
  _exit(!ok);
}

/* Checks that every line is one of the expected ones, with the right number of occurrences, and
 * that the lines of a text are contiguous. */
static void check_lines(const struct row *row, FILE *file) {
  char wanted[RANKS][MAX_LINES][160] = {{{0}}}, *line = NULL;
  /* next: of the lines of rank `at`; 0: any rank may follow */
  int seen[RANKS][MAX_LINES] = {{0}}, at = 0, next = 0;
  size_t room = 0;
  for (int r = 0; r < RANKS; r++)
    for (int k = 0; k < MAX_LINES && row->lines[k]; k++) {
      const char *number = strstr(row->lines[k], "%d");
      sprintf(wanted[r][k], "%.*s%d%s", (int)(number - row->lines[k]), row->lines[k], r,
              number + 2);
    }
  while (getline(&line, &room, file) > 0) {
    for (at = next ? at : 0; !next && at < RANKS && strcmp(line, wanted[at][0]) != 0; at++)
      ;
    if (at == RANKS || strcmp(line, wanted[at][next]) != 0)
      fail_msg("%s: a line that nobody said: %s", row->name, line);
    seen[at][next]++;
    next = next + 1 < MAX_LINES && row->lines[next + 1] ? next + 1 : 0;
  }
  for (int r = 0; r < RANKS; r++)
    for (int k = 0; k < MAX_LINES && row->lines[k]; k++)
      if (seen[r][k] != n_rounds * row->times)
        fail_msg("%s: rank %d said line %d %d times, not %d times", row->name, r, k, seen[r][k],
                 n_rounds * row->times);
  free(line);
}

static void run_row(const struct row *row) {
  int ends[2], state;
  pid_t pids[RANKS];
  pthread_barrierattr_t shared;
  pthread_barrier_t *barrier = share(sizeof *barrier);
  pthread_barrierattr_init(&shared);
  pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(barrier, &shared, RANKS);
  assert_int_equal(pipe(ends), 0);
  for (rank = 0; rank < RANKS; rank++)
    if ((pids[rank] = fork()) == 0) {
      dup2(ends[1], STDERR_FILENO);
      close(ends[0]);
      close(ends[1]);
      rank_main(row, barrier);
    }
  close(ends[1]);
  FILE *file = fdopen(ends[0], "r");
  assert_non_null(file);
  check_lines(row, file);
  fclose(file);
  for (int r = 0; r < RANKS; r++) {
    assert_int_equal(waitpid(pids[r], &state, 0), pids[r]);
    assert_int_equal(state, 0);
  }
  munmap(barrier, sizeof *barrier);
}

static void test_lines_are_whole(void **unused) {
  (void)unused;
  n_rounds = getenv("TP_LONG") ? LONG_ROUNDS : ROUNDS;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    run_row(rows + i);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines_are_whole)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
