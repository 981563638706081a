/* Tests the fused kernels on a GPU, with virtual ranks. Usage:
 *   fused correct N_RANKS N_TURNS SKEW_NS   mixed calls against the oracles; bitwise equal on all
 *                                           ranks and in two runs
 *   fused graph N_RANKS N_REPLAYS           calls captured once and replayed; checks the results of
 *                                           the last replay
 *   fused missing                           one rank is missing: the others give up
 *   fused machine                           prints the name of the device
 *
 * Exit status: 0, 1 after "wrong" on stderr, 77 without a GPU. The last line on stdout is a JSON
 * object. */
#include "test/runtime/cuda/kernels/cases.h"
#include "test/runtime/harness/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A group with the memory of all cases, on host and device. */
typedef struct world {
  tprt_cuda_group *group;
  int n_ranks;
  size_t buffer_bytes;
  /* device addresses, computed as if they were host pointers */
  unsigned char *host[FUSED_RANKS], *base[FUSED_RANKS];
  unsigned char **constants; /* of each case, on the device */
  tprt_cuda_group_config config;
  cuda_stream stream;
  int errors;
} world;

static unsigned char *on_device(size_t bytes) {
  cuda_address memory;
  DO(allocate, &memory, bytes);
  device_set(memory, 0, bytes);
  return (unsigned char *)(uintptr_t)memory;
}

static cuda_address address(const void *pointer) { return (cuda_address)(uintptr_t)pointer; }

static void place_constants(world *w) {
  unsigned char *here = calloc(N_CONSTANTS, w->buffer_bytes);
  w->constants = calloc((size_t)n_fused_cases, sizeof *w->constants);
  for (int i = 0; i < n_fused_cases; i++) {
    w->constants[i] = on_device(N_CONSTANTS * w->buffer_bytes);
    case_constants(&fused_cases[i], here, w->buffer_bytes);
    device_upload(address(w->constants[i]), here, N_CONSTANTS * w->buffer_bytes);
  }
  free(here);
}

static world make_world(int n_ranks, uint32_t skew_ns, uint32_t spin_limit, int rank) {
  world w = {.n_ranks = n_ranks};
  tprt_cuda_group_config config = {.size = sizeof config,
                                   .n_ranks = n_ranks,
                                   .rank = rank,
                                   .skew_ns = skew_ns,
                                   .spin_limit = spin_limit};
  for (int i = 0; i < n_fused_cases; i++) {
    size_t buffer = (case_buffer_bytes(&fused_cases[i], n_ranks) + 255) / 256 * 256;
    size_t staging = case_staging_bytes(&fused_cases[i], n_ranks);
    w.buffer_bytes = buffer > w.buffer_bytes ? buffer : w.buffer_bytes;
    config.staging_bytes = staging > config.staging_bytes ? staging : config.staging_bytes;
  }
  for (int r = 0; r < n_ranks; r++) {
    config.signals[r] = on_device(tprt_cuda_signal_bytes());
    config.staging[r] = on_device(config.staging_bytes);
    w.base[r] = on_device(N_BUFFERS * w.buffer_bytes);
    w.host[r] = calloc(N_BUFFERS, w.buffer_bytes);
  }
  place_constants(&w);
  device_need(tprt_cuda_group_create(&config, &w.group));
  DO(stream_create, &w.stream, 1);
  w.config = config;
  return w;
}

static void free_world(world *w) {
  tprt_cuda_group_destroy(w->group);
  for (int r = 0; r < w->n_ranks; r++) {
    DO(release, address(w->config.signals[r]));
    DO(release, address(w->config.staging[r]));
    DO(release, address(w->base[r]));
    free(w->host[r]);
  }
  for (int i = 0; i < n_fused_cases; i++)
    DO(release, address(w->constants[i]));
  free(w->constants);
}

static void fill(world *w, int which, uint64_t turn) {
  for (int r = 0; r < w->n_ranks; r++) {
    case_fill(&fused_cases[which], w->n_ranks, r, turn, w->host[r], w->buffer_bytes);
    device_upload(address(w->base[r]), w->host[r], N_BUFFERS * w->buffer_bytes);
  }
}

static void call(world *w, int which) {
  case_arguments a = case_arguments_of(&fused_cases[which], w->n_ranks, w->base,
                                       w->constants[which], w->buffer_bytes);
  device_need(case_call(&fused_cases[which], w->group, &a, w->stream));
}

/* Fetches and compares the results; returns the digest of rank 0. */
static uint64_t results(world *w, int which, uint64_t turn, bool by_oracle) {
  uint64_t digest = 0;
  device_need(tprt_cuda_group_check(w->group, w->stream));
  for (int r = 0; r < w->n_ranks; r++) {
    DO(download, w->host[r], address(w->base[r]), N_BUFFERS * w->buffer_bytes);
    uint64_t of_rank = case_digest(&fused_cases[which], w->n_ranks, w->host[r], w->buffer_bytes);
    digest = r == 0 ? of_rank : digest;
    if (of_rank != digest) {
      fprintf(stderr, "wrong: turn %llu: rank %d has other bits than rank 0\n",
              (unsigned long long)turn, r);
      w->errors++;
    }
    if (by_oracle)
      w->errors +=
          case_check(&fused_cases[which], w->n_ranks, r, turn, w->host[r], w->buffer_bytes);
  }
  return digest;
}

static int report(const char *what, int n_ranks, uint64_t turns, int errors) {
  printf("{\"test\": \"%s\", \"ranks\": %d, \"calls\": %llu, \"errors\": %d}\n", what, n_ranks,
         (unsigned long long)turns, errors);
  return errors != 0;
}

static int correct(int n_ranks, uint64_t n_turns, uint32_t skew_ns) {
  world w = make_world(n_ranks, skew_ns, 1u << 26, TPRT_CUDA_ALL_RANKS);
  uint64_t *digests = calloc(n_turns, sizeof *digests);
  for (int run = 0; run < 2; run++)
    for (uint64_t turn = 0; turn < n_turns; turn++) {
      int which = case_of_turn(turn);
      fill(&w, which, turn);
      call(&w, which);
      uint64_t digest = results(&w, which, turn, turn < (uint64_t)n_fused_cases || turn % 7 == 0);
      if (run == 1 && digest != digests[turn]) {
        fprintf(stderr, "wrong: turn %llu: two runs differ\n", (unsigned long long)turn);
        w.errors++;
      }
      digests[turn] = digest;
    }
  free(digests);
  free_world(&w);
  return report(skew_ns ? "correct, with delays" : "correct", n_ranks, 2 * n_turns, w.errors);
}

/* ---- Graphs ---- */

typedef struct one_case {
  world *w;
  int which;
} one_case;

/* Enqueues three calls in a graph. The number is odd, so the turns of staging alternate between
 * replays. */
static void enqueue_thrice(void *user, cuda_stream stream) {
  const one_case *o = user;
  (void)stream; /* unused: the world's stream is used */
  for (int i = 0; i < 3; i++)
    call(o->w, o->which);
}

static int graphs(int n_ranks, int n_replays) {
  world w = make_world(n_ranks, 0, 1u << 26, TPRT_CUDA_ALL_RANKS);
  uint64_t n_calls = 0;
  for (int which = 0; which < n_fused_cases; which++) {
    if (fused_cases[which].in_place)
      continue; /* in place, a replay would reduce its own results */
    one_case o = {.w = &w, .which = which};
    cuda_program program = device_capture(w.stream, enqueue_thrice, &o);
    for (int i = 0; i < n_replays - 1; i++)
      DO(replay, program, w.stream);
    DO(stream_wait, w.stream);
    fill(&w, which, (uint64_t)which); /* poison, and inputs that no replay has used */
    DO(replay, program, w.stream);
    results(&w, which, (uint64_t)which, true);
    DO(program_destroy, program);
    n_calls += 3 * (uint64_t)n_replays;
  }
  free_world(&w);
  return report("graph", n_ranks, n_calls, w.errors);
}

/* ---- A missing rank ---- */

static int missing(void) {
  world w = make_world(2, 0, 1u << 16, 0);
  fill(&w, 1, 1);
  call(&w, 1);
  int errors = tprt_cuda_group_check(w.group, w.stream) != TPRT_TIMEOUT;
  if (errors)
    fprintf(stderr, "wrong: a rank waited for one that never came, and did not say so\n");
  free_world(&w);
  return report("missing", 2, 1, errors);
}

static int machine(void) {
  char name[256] = "";
  int version = 0;
  DO(name, name, (int)sizeof name - 1, 0);
  DO(version, &version);
  printf("%s, driver for CUDA %d.%d\n", name, version / 1000, version % 1000 / 10);
  return 0;
}

int main(int argc, char **argv) {
  int status = device_open();
  if (status)
    return status;
  if (argc == 5 && strcmp(argv[1], "correct") == 0)
    return correct(atoi(argv[2]), strtoull(argv[3], NULL, 10),
                   (uint32_t)strtoul(argv[4], NULL, 10));
  if (argc == 4 && strcmp(argv[1], "graph") == 0)
    return graphs(atoi(argv[2]), atoi(argv[3]));
  if (argc == 2 && strcmp(argv[1], "missing") == 0)
    return missing();
  if (argc == 2 && strcmp(argv[1], "machine") == 0)
    return machine();
  fprintf(stderr, "usage: fused correct N_RANKS N_TURNS SKEW_NS | graph N_RANKS N_REPLAYS | "
                  "missing | machine\n");
  return 2;
}
