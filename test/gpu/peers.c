/* The fused kernels between GPUs of one process: peers N_RANKS N_TURNS SKEW_NS. Rank r is a thread that drives device r; all reach each
 * other's memory. The calls follow each other without a wait of the host for more than its own device, so that ranks are up to a
 * call apart. Exit status and output as of fused; 77 with fewer GPUs, or where they are no peers. */
#define _GNU_SOURCE 1
#include "cases.h"
#include "device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct world {
  int n_ranks;
  uint64_t n_turns;
  size_t buffer_bytes;
  tprt_cuda_group_config config;
  cuda_context contexts[FUSED_RANKS];
  unsigned char *base[FUSED_RANKS];
  uint64_t *digests; /* by turn, then rank */
  atomic_int errors;
} world;

typedef struct player {
  world *w;
  int rank;
} player;

static cuda_address address(const void *pointer) { return (cuda_address)(uintptr_t)pointer; }

static unsigned char *on_device(size_t bytes) {
  cuda_address memory;
  DO(allocate, &memory, bytes);
  DO(set, memory, 0, bytes);
  return (unsigned char *)(uintptr_t)memory;
}

/* Makes every device's context and lets it reach all others; 77 if it cannot. */
static int connect(world *w) {
  int n = 0;
  DO(count, &n);
  if (n < w->n_ranks) {
    fprintf(stderr, "%d GPUs, %d are needed\n", n, w->n_ranks);
    return 77;
  }
  for (int r = 0; r < w->n_ranks; r++)
    DO(context_retain, &w->contexts[r], r);
  for (int r = 0; r < w->n_ranks; r++)
    for (int peer = 0; peer < w->n_ranks; peer++) {
      int reaches = 1;
      DO(context_set, w->contexts[r]);
      if (peer == r)
        continue;
      DO(can_reach, &reaches, r, peer);
      if (!reaches) {
        fprintf(stderr, "GPU %d does not reach the memory of GPU %d\n", r, peer);
        return 77;
      }
      DO(reach, w->contexts[peer], 0);
    }
  return 0;
}

static void allocate(world *w) {
  for (int i = 0; i < n_fused_cases; i++) {
    size_t buffer = (case_buffer_bytes(&fused_cases[i], w->n_ranks) + 255) / 256 * 256;
    size_t staging = case_staging_bytes(&fused_cases[i], w->n_ranks);
    w->buffer_bytes = buffer > w->buffer_bytes ? buffer : w->buffer_bytes;
    w->config.staging_bytes = staging > w->config.staging_bytes ? staging : w->config.staging_bytes;
  }
  for (int r = 0; r < w->n_ranks; r++) {
    DO(context_set, w->contexts[r]);
    w->config.signals[r] = on_device(tprt_cuda_signal_bytes());
    w->config.staging[r] = on_device(w->config.staging_bytes);
    w->base[r] = on_device(N_BUFFERS * w->buffer_bytes);
  }
  w->digests = calloc(w->n_turns * FUSED_RANKS, sizeof *w->digests);
}

/* The constants of all cases on the rank's device. */
static unsigned char *place_constants(const world *w, unsigned char *here) {
  size_t bytes = N_CONSTANTS * w->buffer_bytes;
  unsigned char *constants = on_device((size_t)n_fused_cases * bytes);
  for (int i = 0; i < n_fused_cases; i++) {
    case_constants(&fused_cases[i], here, w->buffer_bytes);
    DO(upload, address(constants + (size_t)i * bytes), here, bytes);
  }
  return constants;
}

static void *play(void *argument) {
  const player *p = argument;
  world *w = p->w;
  unsigned char *here = calloc(N_BUFFERS, w->buffer_bytes), *constants;
  tprt_cuda_group_config config = w->config;
  tprt_cuda_group *group;
  cuda_stream stream;
  config.rank = p->rank;
  DO(context_set, w->contexts[p->rank]);
  DO(stream_create, &stream, 1);
  constants = place_constants(w, here);
  if (tprt_cuda_group_create(&config, &group) != TPRT_OK) {
    fprintf(stderr, "wrong: %s\n", tprt_last_error());
    exit(1);
  }
  for (uint64_t turn = 0; turn < w->n_turns; turn++) {
    int which = case_of_turn(turn);
    const fused_case *c = &fused_cases[which];
    case_fill(c, w->n_ranks, p->rank, turn, here, w->buffer_bytes);
    DO(upload, address(w->base[p->rank]), here, N_BUFFERS * w->buffer_bytes);
    case_arguments a =
        case_arguments_of(c, w->n_ranks, w->base, constants + (size_t)which * N_CONSTANTS * w->buffer_bytes, w->buffer_bytes);
    if (case_call(c, group, &a, stream) != TPRT_OK || tprt_cuda_group_check(group, stream) != TPRT_OK) {
      fprintf(stderr, "wrong: turn %llu: %s\n", (unsigned long long)turn, tprt_last_error());
      exit(1);
    }
    DO(download, here, address(w->base[p->rank]), N_BUFFERS * w->buffer_bytes);
    w->digests[turn * FUSED_RANKS + (uint64_t)p->rank] = case_digest(c, w->n_ranks, here, w->buffer_bytes);
    if (turn < (uint64_t)n_fused_cases || turn % 7 == 0)
      w->errors += case_check(c, w->n_ranks, p->rank, turn, here, w->buffer_bytes);
  }
  tprt_cuda_group_destroy(group);
  DO(release, address(constants));
  free(here);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: peers N_RANKS N_TURNS SKEW_NS\n");
    return 2;
  }
  world w = {.n_ranks = atoi(argv[1]), .n_turns = strtoull(argv[2], NULL, 10)};
  w.config = (tprt_cuda_group_config){
      .size = sizeof w.config, .n_ranks = w.n_ranks, .spin_limit = 1u << 28, .skew_ns = (uint32_t)strtoul(argv[3], NULL, 10)};
  int status = device_open();
  if (!status)
    status = connect(&w);
  if (status)
    return status;
  allocate(&w);
  pthread_t threads[FUSED_RANKS];
  player players[FUSED_RANKS];
  for (int r = 0; r < w.n_ranks; r++) {
    players[r] = (player){&w, r};
    if (pthread_create(&threads[r], NULL, play, &players[r]) != 0)
      return 1;
  }
  for (int r = 0; r < w.n_ranks; r++)
    pthread_join(threads[r], NULL);
  for (uint64_t i = 0; i < w.n_turns * FUSED_RANKS; i++)
    if (i % FUSED_RANKS < (uint64_t)w.n_ranks && w.digests[i] != w.digests[i / FUSED_RANKS * FUSED_RANKS]) {
      fprintf(stderr, "wrong: turn %d: rank %d has other bits than rank 0\n", (int)(i / FUSED_RANKS), (int)(i % FUSED_RANKS));
      w.errors++;
    }
  for (int r = 0; r < w.n_ranks; r++) {
    DO(context_set, w.contexts[r]);
    DO(release, address(w.config.signals[r]));
    DO(release, address(w.config.staging[r]));
    DO(release, address(w.base[r]));
  }
  free(w.digests);
  printf("{\"test\": \"peers\", \"ranks\": %d, \"calls\": %llu, \"errors\": %d}\n", w.n_ranks, (unsigned long long)w.n_turns,
         w.errors);
  return w.errors != 0;
}
