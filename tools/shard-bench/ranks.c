/* Runs ranks of this library, as threads of one process or as processes. */
#include "bench.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct own_rank {
  tprt_comm *comm;
  tprt_comm *all; /* of the ranks that measure at the same time */
  const own_ranks *ranks;
  pass_result *result; /* NULL: printed */
} own_rank;

void expect(tprt_status status) {
  if (status == TPRT_OK)
    return;
  complain("%s: %s", tprt_status_name(status), tprt_last_error());
  exit(EXIT_FAILED);
}

/* Runs an all_reduce or a broadcast in pieces: as a batch, or one after the other. */
static void run_pieces(const own_rank *own, const bench_job *job, const char *send, char *recv,
                       int64_t elements) {
  static const tprt_hint independent = {"independent", "1"};
  tprt_op ops[BENCH_MAX_PIECES];
  int64_t size = (int64_t)tprt_dtype_size(job->dtype);
  for (int i = 0; i < job->n_pieces; i++) {
    int64_t begin = bench_piece(job, elements, i), end = bench_piece(job, elements, i + 1);
    ops[i] = tprt_op_flat(job->kind, send + begin * size, recv + begin * size, end - begin,
                          job->dtype, NULL);
    ops[i].reduction = job->kind == TPRT_OP_ALL_REDUCE ? TPRT_SUM : ops[i].reduction;
    ops[i].hints = &independent;
    ops[i].n_hints = 1;
    if (own->ranks->one_by_one)
      expect(tprt_submit(own->comm, &ops[i], NULL));
  }
  if (!own->ranks->one_by_one)
    expect(tprt_submit_batch(own->comm, ops, (size_t)job->n_pieces, NULL));
}

static void run(void *state, const bench_job *job, const void *send, void *recv, int64_t elements) {
  tprt_comm *comm = ((own_rank *)state)->comm;
  if (job->n_pieces > 1) {
    run_pieces(state, job, send, recv, elements);
    return;
  }
  tprt_pair ring[BENCH_MAX_RANKS];
  int n = job->n_ranks;
  switch (job->kind) {
  case TPRT_OP_ALL_REDUCE:
    expect(tprt_all_reduce(comm, send, recv, elements, job->dtype, TPRT_SUM, NULL, NULL));
    break;
  case TPRT_OP_ALL_GATHER:
    expect(tprt_all_gather(comm, send, recv, elements / n, job->dtype, NULL, NULL));
    break;
  case TPRT_OP_REDUCE_SCATTER:
    expect(tprt_reduce_scatter(comm, send, recv, elements / n, job->dtype, TPRT_SUM, NULL, NULL));
    break;
  case TPRT_OP_ALL_TO_ALL:
    expect(tprt_all_to_all(comm, send, recv, elements / n, job->dtype, NULL, NULL));
    break;
  case TPRT_OP_BROADCAST:
    expect(tprt_broadcast(comm, send, recv, elements, job->dtype, 0, NULL, NULL));
    break;
  default:
    for (int r = 0; r < n; r++)
      ring[r] = (tprt_pair){r, (r + 1) % n};
    expect(tprt_permute(comm, send, recv, elements, job->dtype, ring, (size_t)n, NULL, NULL));
  }
}

static double largest(void *state, double value) {
  double most;
  expect(
      tprt_all_reduce(((own_rank *)state)->all, &value, &most, 1, TPRT_F64, TPRT_MAX, NULL, NULL));
  return most;
}

static void *take(void *state, size_t bytes) {
  const own_rank *own = state;
  void *memory;
  if (!own->ranks->registered && !own->ranks->device)
    return malloc(bytes);
  expect(own->ranks->registered ? tprt_mem_alloc(own->comm, bytes, &memory)
                                : tprt_context_alloc(own->ranks->device, bytes, &memory));
  return memory;
}

static void give(void *state, void *buffer) {
  const own_rank *own = state;
  if (own->ranks->registered)
    tprt_mem_free(own->comm, buffer);
  else if (own->ranks->device)
    tprt_context_free(own->ranks->device, buffer);
  else
    free(buffer);
}

static void upload(void *state, void *to, const void *from, size_t bytes) {
  expect(tprt_context_upload(((own_rank *)state)->ranks->device, to, from, bytes));
}

static void download(void *state, void *to, const void *from, size_t bytes) {
  expect(tprt_context_download(((own_rank *)state)->ranks->device, to, from, bytes));
}

static void keep(void *state, int index, double median_us, double minimum_us) {
  pass_result *result = ((own_rank *)state)->result;
  result->median_us[index] = median_us;
  result->minimum_us[index] = minimum_us;
}

void own_measure(const own_ranks *ranks, tprt_comm *comm, tprt_comm *all, pass_result *result) {
  own_rank own = {.comm = comm, .all = all, .ranks = ranks, .result = result};
  bench_rank rank = {.state = &own,
                     .rank = tprt_comm_rank(comm),
                     .run = run,
                     .largest = largest,
                     .take = take,
                     .give = give,
                     .upload = ranks->device ? upload : NULL,
                     .download = ranks->device ? download : NULL,
                     .report = result ? keep : NULL};
  bench_measure(ranks->job, &rank);
}

static void *play_thread(void *data) {
  own_rank *own = data;
  own_measure(own->ranks, own->comm, own->comm, NULL);
  return NULL;
}

static int start_threads(const own_ranks *ranks, const tprt_config *config) {
  int n = ranks->job->n_ranks;
  tprt_comm *comms[BENCH_MAX_RANKS];
  pthread_t threads[BENCH_MAX_RANKS];
  own_rank own[BENCH_MAX_RANKS];
  expect(tprt_world_create_threads(n, config, comms));
  for (int r = 0; r < n; r++) {
    own[r] = (own_rank){.comm = comms[r], .ranks = ranks};
    if (pthread_create(&threads[r], NULL, play_thread, &own[r]) != 0) {
      complain("cannot start thread %d of %d", r, n);
      exit(EXIT_FAILED);
    }
  }
  for (int r = 0; r < n; r++)
    pthread_join(threads[r], NULL);
  for (int r = 0; r < n; r++)
    tprt_comm_destroy(comms[r]);
  return 0;
}

static void play_process(const own_ranks *ranks, int rank, tprt_config config) {
  tprt_comm *comm;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  expect(tprt_world_create(ranks->job->n_ranks, rank, &config, &comm));
  own_measure(ranks, comm, comm, NULL);
  tprt_comm_destroy(comm);
  exit(0);
}

static int start_processes(const own_ranks *ranks, tprt_config config) {
  int n = ranks->job->n_ranks, failed = 0, fd;
  expect(tprt_shm_segment_create(n, &config, &fd));
  config.segment_fd = fd;
  for (int r = 0; r < n; r++) {
    pid_t child = fork();
    if (child == 0)
      play_process(ranks, r, config);
    if (child < 0) {
      complain("cannot start process %d of %d", r, n);
      return EXIT_FAILED; /* the children die with this process */
    }
  }
  for (int status; wait(&status) > 0;)
    failed |= status != 0;
  return failed ? EXIT_FAILED : 0;
}

int own_start(void *data) {
  const own_ranks *ranks = data;
  const bench_job *job = ranks->job;
  int64_t most = 0;
  for (int i = 0; i < job->n_sizes; i++)
    most = job->sizes[i] > most ? job->sizes[i] : most;
  /* two buffers, rounded up to whole elements per rank, plus the arena's own overhead */
  tprt_config config = {.size = sizeof config,
                        .arena_bytes = 2 * (size_t)most + ((size_t)64 << 20)};
  return ranks->threads ? start_threads(ranks, &config) : start_processes(ranks, config);
}
