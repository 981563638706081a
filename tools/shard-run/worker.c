/* Runs ranks as processes: each is this program again, started with --worker.
 *
 * A worker inherits three descriptors: the segment of the world (3), the compiled object (4), and a
 * memory file with its arguments and results (5), which it maps. Processes are started with
 * posix_spawn, because a process with threads must not fork. */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SEGMENT_FD = 3, OBJECT_FD = 4, DATA_FD = 5, ALIGNMENT = 64, MAX_FUNCTION = 256 };
#define EXCHANGE_MAGIC UINT64_C(0x7470736872756e31)

/* Header of the data file. It is followed by the array offsets (inputs, then outputs), the sites,
 * and the arrays. */
typedef struct exchange {
  uint64_t magic;
  int32_t n_ranks, rank, n_inputs, n_outputs, n_sites, repeat;
  double timeout;
  char function[MAX_FUNCTION];
  uint64_t offsets_at, sites_at, calls_at, size; /* calls_at 0: no trace */
  int64_t launcher;                              /* its process */
  int32_t is_connected, done, status;            /* written by the worker */
  double seconds;
  int64_t n_seen, begin_ns, end_ns;
  char error[512];
} exchange;

static uint64_t align_up(uint64_t n) { return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

/* ---- Worker side ---- */

static exchange *map_exchange(void) {
  struct stat info;
  if (fstat(DATA_FD, &info) != 0 || (uint64_t)info.st_size < sizeof(exchange))
    return NULL;
  exchange *x = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, DATA_FD, 0);
  bool ok = x != MAP_FAILED && x->magic == EXCHANGE_MAGIC && x->size == (uint64_t)info.st_size;
  return ok ? x : NULL;
}

static void worker_fail(exchange *x, tprt_status status, const char *what, const char *why) {
  x->status = status;
  snprintf(x->error, sizeof x->error, "%s: %s", what, why);
}

/* Loads the object from OBJECT_FD. */
static tp_program *load_object(exchange *x) {
  struct stat info;
  char why[400] = "";
  tp_program *program = NULL;
  if (fstat(OBJECT_FD, &info) != 0)
    return NULL;
  void *object = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, OBJECT_FD, 0);
  if (object == MAP_FAILED ||
      tp_program_load(object, (size_t)info.st_size, why, sizeof why, &program) != TP_OK)
    worker_fail(x, TPRT_SYSTEM, "the object cannot be loaded", why);
  if (object != MAP_FAILED)
    munmap(object, (size_t)info.st_size);
  return program;
}

static void work(exchange *x, tp_entry entry) {
  tprt_config config = {
      .size = sizeof config, .timeout_ns = (int64_t)(x->timeout * 1e9), .segment_fd = SEGMENT_FD};
  config.backend = "shm";
  tprt_comm *world;
  if (tprt_world_create(x->n_ranks, x->rank, &config, &world) != TPRT_OK) {
    worker_fail(x, TPRT_SYSTEM, "cannot join the world", tprt_last_error());
    return;
  }
  x->is_connected = 1;
  const uint64_t *offsets = (const uint64_t *)(const void *)((char *)x + x->offsets_at);
  array *inputs = calloc((size_t)x->n_inputs + 1, sizeof *inputs),
        *outputs = calloc((size_t)x->n_outputs + 1, sizeof *outputs);
  rank_result result = {.status = TPRT_NO_MEMORY,
                        .sites = (tprt_site_stats *)(void *)((char *)x + x->sites_at)};
  if (x->calls_at)
    result.calls = (tprt_call *)(void *)((char *)x + x->calls_at);
  if (inputs && outputs) {
    for (int i = 0; i < x->n_inputs; i++)
      inputs[i].data = (char *)x + offsets[i];
    for (int i = 0; i < x->n_outputs; i++)
      outputs[i].data = (char *)x + offsets[x->n_inputs + i];
    rank_work w = {.entry = entry,
                   .n_inputs = x->n_inputs,
                   .n_outputs = x->n_outputs,
                   .n_sites = x->n_sites,
                   .repeat = x->repeat,
                   .inputs = inputs,
                   .outputs = outputs};
    run_rank(world, &w, &result);
  }
  x->status = result.status;
  x->seconds = result.seconds;
  x->n_seen = result.n_seen;
  x->begin_ns = result.begin_ns;
  x->end_ns = result.end_ns;
  memcpy(x->error, result.error, sizeof x->error);
  free(inputs);
  free(outputs);
  tprt_comm_destroy(world);
}

int worker_main(const char *text) {
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* the worker must not outlive the launcher */
  exchange *x = strcmp(text, "1") == 0 ? map_exchange() : NULL;
  if (!x) {
    complain("--worker is internal to shard-run, which starts its processes with it; it cannot be "
             "given by hand");
    return CLI_USAGE;
  }
  if (getppid() != (pid_t)x->launcher) /* it ended before it was watched */
    return EXIT_FAILED;
  tp_program *program = load_object(x);
  tp_entry entry;
  const int64_t *table;
  if (program && tp_program_find(program, x->function, &entry, &table) == TP_OK)
    work(x, entry);
  else if (!x->error[0])
    worker_fail(x, TPRT_SYSTEM, "the object has no function", x->function);
  x->done = 1;
  int code = x->status == TPRT_OK ? EXIT_VERIFIED : EXIT_FAILED;
  tp_program_unload(program);
  return code;
}

/* ---- Launcher side ---- */

typedef struct worker {
  pid_t pid;
  bool is_running;
  int state;      /* of waitpid, when it has ended */
  bool is_killed; /* by the launcher, because another one has failed */
  int data_fd;
  exchange *x;
} worker;

/* How long the others may take to end, after one has. Those that are connected notice at once. */
static const double grace_after_death = 0.8, grace_after_failure = 5;

static int memory_file(const char *name, uint64_t size) {
  int fd = memfd_create(name, MFD_CLOEXEC);
  if (fd >= 0 && ftruncate(fd, (off_t)size) != 0) {
    close(fd);
    fd = -1;
  }
  return fd;
}

/* Creates and fills the data file of a rank. */
static bool create_exchange(const launch *l, int rank, worker *w) {
  int n = l->n_inputs + l->n_outputs;
  uint64_t offsets_at = align_up(sizeof(exchange)),
           sites_at = align_up(offsets_at + (uint64_t)n * sizeof(uint64_t));
  uint64_t calls_at = align_up(sites_at + (uint64_t)l->n_sites * sizeof(tprt_site_stats));
  uint64_t size = align_up(calls_at + (l->trace ? MAX_TRACED_CALLS * sizeof(tprt_call) : 0));
  uint64_t first = size;
  for (int i = 0; i < n; i++)
    size += align_up(
        array_bytes(i < l->n_inputs ? l->inputs[rank] + i : l->outputs[rank] + (i - l->n_inputs)) +
        1);
  w->data_fd = memory_file("shard-run data", size);
  void *memory = w->data_fd < 0
                     ? MAP_FAILED
                     : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, w->data_fd, 0);
  if (memory == MAP_FAILED)
    return false;
  w->x = memory;
  *w->x = (exchange){.magic = EXCHANGE_MAGIC,
                     .n_ranks = l->n_ranks,
                     .rank = rank,
                     .n_inputs = l->n_inputs,
                     .n_outputs = l->n_outputs,
                     .n_sites = l->n_sites,
                     .repeat = l->repeat,
                     .timeout = l->timeout,
                     .launcher = getpid(),
                     .offsets_at = offsets_at,
                     .sites_at = sites_at,
                     .calls_at = l->trace ? calls_at : 0,
                     .size = size};
  snprintf(w->x->function, sizeof w->x->function, "%s", l->function);
  uint64_t *offsets = (uint64_t *)(void *)((char *)memory + offsets_at);
  for (int i = 0; i < n; i++) {
    const array *a = i < l->n_inputs ? l->inputs[rank] + i : l->outputs[rank] + (i - l->n_inputs);
    offsets[i] = first;
    if (i < l->n_inputs)
      memcpy((char *)memory + first, a->data, array_bytes(a));
    first += align_up(array_bytes(a) + 1);
  }
  return true;
}

static bool start(worker *w, int segment, int object) {
  char program[] = "/proc/self/exe", name[] = "shard-run", flag[] = "--worker=1";
  char *arguments[] = {name, flag, NULL};
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0)
    return false;
  /* Duplicates to high numbers first, because a source may have the number of a target. */
  int fds[] = {segment, object, w->data_fd}, high[3] = {-1, -1, -1}, error = 0;
  for (int i = 0; i < 3 && !error; i++) {
    high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, DATA_FD + 1);
    /* EINVAL: so many descriptors are not allowed at all */
    error = high[i] >= 0      ? posix_spawn_file_actions_adddup2(&actions, high[i], SEGMENT_FD + i)
            : errno == EINVAL ? EMFILE
                              : errno;
  }
  if (!error)
    error = posix_spawn(&w->pid, program, &actions, NULL, arguments, environ);
  w->is_running = !error;
  if (!error)
    cli_leftover_child(w->pid, true);
  for (int i = 0; i < 3; i++)
    if (high[i] >= 0)
      close(high[i]);
  posix_spawn_file_actions_destroy(&actions);
  errno = error;
  return error == 0;
}

/* Ends the workers that run. */
static void kill_all(int n, worker *workers) {
  for (int r = 0; r < n; r++)
    if (workers[r].is_running) {
      workers[r].is_killed = true;
      kill(workers[r].pid, SIGKILL);
    }
}

/* Returns how long the others may still run, since this one has ended as it has. */
static double grace_of(const worker *w) {
  if (w->x->done)
    return w->x->status == TPRT_OK ? INFINITY : grace_after_failure;
  /* nobody misses one that was never there, until the timeout ends */
  return w->x->is_connected ? grace_after_death : 0;
}

/* Waits for all workers. If one fails, the others get some time to notice, and are then ended. */
static void await_all(int n, worker *workers) {
  static const struct timespec pause = {.tv_nsec = 1000000};
  double until = INFINITY;
  bool is_late = false;
  for (int n_left = n; n_left > 0;) {
    n_left = 0;
    for (int r = 0; r < n; r++) {
      worker *w = &workers[r];
      n_left += w->is_running;
      if (!w->is_running || waitpid(w->pid, &w->state, WNOHANG) != w->pid)
        continue;
      w->is_running = false;
      n_left--;
      cli_leftover_child(w->pid, false);
      until = fmin(until, cli_seconds() + grace_of(w));
    }
    if (!is_late && cli_seconds() >= until) {
      is_late = true;
      kill_all(n, workers);
    }
    if (n_left > 0)
      nanosleep(&pause, NULL);
  }
}

/* Says how a worker ended that has not said it itself. */
static void describe_end(const worker *w, bool any_died, char *text, size_t size) {
  char signal[SIGNAL_TEXT];
  if (w->is_killed && any_died) /* the one that died says why */
    snprintf(text, size, "%s", "");
  else if (w->is_killed)
    snprintf(text, size, "its process %d still ran %g s after another one had failed; it was ended",
             (int)w->pid, grace_after_failure);
  else if (WIFSIGNALED(w->state))
    snprintf(text, size, "its process was terminated by %s",
             signal_text(WTERMSIG(w->state), signal, sizeof signal));
  else
    snprintf(text, size, "its process exited with code %d", WEXITSTATUS(w->state));
}

static void copy_result(const launch *l, int rank, const worker *w) {
  const exchange *x = w->x;
  rank_result *result = l->ranks + rank;
  result->status = x->done ? (tprt_status)x->status : TPRT_SYSTEM;
  result->seconds = x->seconds;
  result->n_seen = x->n_seen;
  result->begin_ns = x->begin_ns;
  result->end_ns = x->end_ns;
  if (result->calls)
    memcpy(result->calls, (const char *)x + x->calls_at, MAX_TRACED_CALLS * sizeof *result->calls);
  snprintf(result->error, sizeof result->error, "%s", x->error);
  memcpy(result->sites, (const char *)x + x->sites_at, (size_t)l->n_sites * sizeof *result->sites);
  const uint64_t *offsets = (const uint64_t *)(const void *)((const char *)x + x->offsets_at);
  for (int k = 0; k < l->n_outputs; k++)
    memcpy(l->outputs[rank][k].data, (const char *)x + offsets[l->n_inputs + k],
           array_bytes(l->outputs[rank] + k));
}

/* Waits for all workers and copies their results to the launch. */
static bool collect(launch *l, worker *workers) {
  bool any_died = false;
  await_all(l->n_ranks, workers);
  for (int r = 0; r < l->n_ranks; r++) {
    copy_result(l, r, &workers[r]);
    any_died |= !workers[r].x->done && !workers[r].is_killed;
  }
  for (int r = 0; r < l->n_ranks; r++)
    if (!workers[r].x->done || WIFSIGNALED(workers[r].state))
      describe_end(&workers[r], any_died, l->ranks[r].error, sizeof l->ranks[r].error);
  return launch_report(l);
}

static bool start_all(launch *l, worker *workers, int segment, int object) {
  for (int r = 0; r < l->n_ranks; r++)
    if (!create_exchange(l, r, workers + r) || !start(workers + r, segment, object)) {
      complain("process %d of %d could not be started: %s", r, l->n_ranks, strerror(errno));
      kill_all(r, workers);
      await_all(r, workers);
      return false;
    }
  return true;
}

bool launch_processes(launch *l) {
  tprt_config config = {.size = sizeof config, .timeout_ns = (int64_t)(l->timeout * 1e9)};
  int segment = -1, object = memory_file("shard-run object", l->object->size);
  worker *workers = calloc((size_t)l->n_ranks, sizeof *workers);
  bool ok = workers && object >= 0 && launch_describe(l);
  ok = ok && pwrite(object, l->object->data, l->object->size, 0) == (ssize_t)l->object->size;
  if (ok && tprt_shm_segment_create(l->n_ranks, &config, &segment) != TPRT_OK) {
    complain("cannot create a world of %d rank%s: %s", l->n_ranks, l->n_ranks == 1 ? "" : "s",
             tprt_last_error());
    ok = false;
  }
  for (int r = 0; workers && r < l->n_ranks; r++)
    workers[r].data_fd = -1;
  ok = ok && start_all(l, workers, segment, object);
  ok = ok && collect(l, workers);
  for (int r = 0; workers && r < l->n_ranks; r++) {
    if (workers[r].x)
      munmap(workers[r].x, workers[r].x->size);
    if (workers[r].data_fd >= 0)
      close(workers[r].data_fd);
  }
  free(workers);
  if (segment >= 0)
    close(segment);
  if (object >= 0)
    close(object);
  return ok;
}
