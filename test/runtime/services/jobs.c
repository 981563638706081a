/* Runs jobs whose processes come and go. */
#define _GNU_SOURCE 1
#include "jobs.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

tprt_status job_open(const test_job *job, const unsigned char *secret, tprt_store **store) {
  tprt_store_config config = store_config_of(0, 1, secret);
  config.timeout_ns = 20 * store_second;
  return tprt_store_open(job->address, &config, store);
}

/* A child that ends with its parent. Returns 0 in the child. */
static pid_t fork_child(void) {
  fflush(NULL);
  pid_t child = fork();
  if (child < 0)
    abort();
  if (child == 0)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
  return child;
}

pid_t job_serve(test_job *job) {
  int ready[2];
  job->board =
      mmap(NULL, sizeof *job->board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  store_make_address(job->kind, job->address, sizeof job->address);
  if (job->board == MAP_FAILED || pipe(ready) != 0)
    abort();
  pid_t child = fork_child();
  if (child == 0) {
    tprt_store_config config = store_config_of(0, 0, job->secret);
    tprt_store *store;
    if (tprt_store_open(job->address, &config, &store)) {
      fprintf(stderr, "no store: %s\n", tprt_last_error());
      _exit(1);
    }
    sigset_t end;
    int signal;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &end, NULL);
    (void)!write(ready[1], "", 1);
    sigwait(&end, &signal);
    tprt_store_destroy(store);
    _exit(0);
  }
  char got;
  close(ready[1]);
  if (read(ready[0], &got, 1) != 1)
    abort();
  close(ready[0]);
  return child;
}

void job_end(test_job *job, pid_t server) {
  kill(server, SIGTERM);
  waitpid(server, NULL, 0);
  munmap(job->board, sizeof *job->board);
}

/* Waits until all first ranks have the world: one that ended before would fail the others. */
static int wait_for_world(test_job *job) {
  double end = test_seconds() + 20;
  atomic_fetch_add(&job->board->n_created, 1);
  while (atomic_load(&job->board->n_created) < job->n_ranks) {
    if (test_seconds() > end) {
      fprintf(stderr, "%d of %d ranks have the world\n", atomic_load(&job->board->n_created),
              job->n_ranks);
      return 1;
    }
    usleep(500);
  }
  return 0;
}

static int rank_main(test_job *job, int rank) {
  tprt_config config = test_config();
  tprt_comm_config of_comm = {
      .size = sizeof of_comm, .version = TPRT_COMM_CONFIG_VERSION, .name = job->name};
  tprt_comm *comm = NULL;
  int errors = 0;
  config.comm = &of_comm;
  atomic_store(&job->board->pid[rank], getpid());
  CHECK_STATUS(errors, job_open(job, job->secret, &config.store), TPRT_OK);
  if (!errors)
    CHECK_STATUS(errors, tprt_world_create(job->n_ranks, rank, &config, &comm), TPRT_OK);
  if (!errors)
    errors = wait_for_world(job);
  if (!errors)
    errors = job->rank(job, comm, &config);
  if (config.store)
    tprt_store_destroy(config.store);
  return errors;
}

static int spare_main(test_job *job, int number) {
  tprt_config config = test_config();
  tprt_comm_config of_comm = {
      .size = sizeof of_comm, .version = TPRT_COMM_CONFIG_VERSION, .name = job->name};
  int errors = 0;
  config.comm = &of_comm;
  CHECK_STATUS(errors, job_open(job, job->secret, &config.store), TPRT_OK);
  if (!errors)
    errors = job->spare(job, number, &config);
  tprt_store_destroy(config.store);
  return errors;
}

/* Waits for a process, which must end in time. */
static int wait_for(const test_job *job, pid_t pid, int *status) {
  int64_t end = (int64_t)test_seconds() + (job->seconds ? job->seconds : 60);
  while (waitpid(pid, status, WNOHANG) == 0) {
    if (test_seconds() > (double)end) {
      fprintf(stderr, "process %d hangs\n", (int)pid);
      kill(pid, SIGKILL);
      waitpid(pid, status, 0);
      return 1;
    }
    usleep(2000);
  }
  bool killed = WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL;
  return !killed && !(WIFEXITED(*status) && WEXITSTATUS(*status) == 0);
}

int job_run(test_job *job) {
  pid_t server = job_serve(job), pids[JOB_MOST_RANKS + JOB_MOST_SPARES];
  int n = job->n_ranks + job->n_spares, errors = 0;
  for (int i = 0; i < n; i++) {
    pids[i] = fork_child();
    if (pids[i] > 0)
      continue;
    int wrong = i < job->n_ranks ? rank_main(job, i) : spare_main(job, i - job->n_ranks);
    fflush(NULL);
    _exit(wrong > 100 ? 100 : wrong);
  }
  for (int i = 0; i < n; i++) {
    int status = 0;
    errors += wait_for(job, pids[i], &status);
    if (i >= job->n_ranks)
      job->spare_status[i - job->n_ranks] = status;
  }
  job_end(job, server);
  return errors;
}

/* ---- conformance ---- */

enum { MOST = 70000 };

static int check_reductions(tprt_comm *comm, int32_t *data, int32_t *all) {
  static const int64_t counts[] = {1, 1000, MOST};
  int errors = 0, n = tprt_comm_size(comm), me = tprt_comm_rank(comm);
  for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
    for (int i = 0; i < counts[c]; i++)
      data[i] = me * 10 + i;
    CHECK_STATUS(errors,
                 tprt_all_reduce(comm, data, all, counts[c], TPRT_I32, TPRT_SUM, NULL, NULL),
                 TPRT_OK);
    int wrong = 0;
    for (int i = 0; i < counts[c]; i++)
      wrong += all[i] != 5 * n * (n - 1) + n * i;
    CHECK(errors, wrong == 0);
  }
  return errors;
}

static int check_moves(tprt_comm *comm, int32_t *data, int32_t *all) {
  int errors = 0, n = tprt_comm_size(comm), me = tprt_comm_rank(comm), from = 0, wrong = 0;
  for (int i = 0; i < 100; i++)
    data[i] = me * 1000 + i;
  CHECK_STATUS(errors, tprt_all_gather(comm, data, all, 100, TPRT_I32, NULL, NULL), TPRT_OK);
  for (int r = 0; r < n; r++) {
    for (int i = 0; i < 100; i++)
      wrong += all[100 * r + i] != r * 1000 + i;
  }
  for (int r = 0; r < n; r++)
    data[r] = 100 * me + r;
  CHECK_STATUS(errors, tprt_all_to_all(comm, data, all, 1, TPRT_I32, NULL, NULL), TPRT_OK);
  for (int r = 0; r < n; r++)
    wrong += all[r] != 100 * r + me;
  for (int root = 0; root < n; root++) {
    data[0] = me == root ? 7 * root : -1;
    CHECK_STATUS(errors, tprt_broadcast(comm, data, data, 1, TPRT_I32, root, NULL, NULL), TPRT_OK);
    wrong += data[0] != 7 * root;
  }
  tprt_op ring[] = {tprt_op_send(&me, 1, TPRT_I32, (me + 1) % n, 3),
                    tprt_op_recv(&from, 1, TPRT_I32, (me + n - 1) % n, 3)};
  if (n > 1)
    CHECK_STATUS(errors, tprt_submit_batch(comm, ring, 2, NULL), TPRT_OK);
  CHECK(errors, wrong == 0 && (n == 1 || from == (me + n - 1) % n));
  return errors;
}

int job_check(tprt_comm *comm) {
  int32_t *data = malloc(sizeof *data * MOST), *all = malloc(sizeof *all * MOST);
  int errors = 0, n = tprt_comm_size(comm), sum = 0, one = 1;
  tprt_comm *child;
  errors += check_reductions(comm, data, all);
  errors += check_moves(comm, data, all);
  CHECK_STATUS(errors, tprt_comm_split(comm, tprt_comm_rank(comm) % 2, 0, &child), TPRT_OK);
  if (!errors) {
    CHECK_STATUS(errors, tprt_all_reduce(child, &one, &sum, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
                 TPRT_OK);
    CHECK(errors, sum == (n + 1 - tprt_comm_rank(comm) % 2) / 2);
    CHECK(errors, tprt_comm_epoch(child) == tprt_comm_epoch(comm));
    tprt_comm_destroy(child);
  }
  free(data);
  free(all);
  return errors;
}

int job_says(const char *text) {
  if (strstr(tprt_last_error(), text))
    return 0;
  fprintf(stderr, "expected \"%s\", got \"%s\"\n", text, tprt_last_error());
  return 1;
}

static int count_entries(const char *path) {
  DIR *folder = opendir(path);
  int n = 0;
  while (readdir(folder))
    n++;
  closedir(folder);
  return n -
         3; /* ".", "..", and the folder itself while it is read, if it is that of descriptors */
}

job_holdings job_holds(void) {
  job_holdings held = {.descriptors = count_entries("/proc/self/fd"),
                       .threads = count_entries("/proc/self/task") + 1};
  FILE *maps = fopen("/proc/self/maps", "re");
  for (int c; (c = fgetc(maps)) != EOF;)
    held.maps += c == '\n';
  fclose(maps);
  return held;
}
