/* Tests the fused kernels between GPUs: peers threads|processes N_RANKS N_TURNS SKEW_NS. Rank r, a
 * thread or a process, drives device r. All access each other's memory, which the library
 * allocates. Between calls, the host waits for no more than its own device, so ranks are up to one
 * call apart. Exit status and output as in fused; 77 with fewer GPUs, or if they are not peers. */
#define _GNU_SOURCE 1
#include "launch.h"
#include "test/runtime/cuda/kernels/cases.h"
#include "test/runtime/harness/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parameters of all ranks. */
typedef struct player {
  const char *test;
  uint64_t n_turns;
  uint32_t skew_ns;
} player;

static cuda_address address(const void *pointer) { return (cuda_address)(uintptr_t)pointer; }

/* State of a rank across turns. */
typedef struct game {
  int n_ranks, me, errors;
  size_t buffer_bytes;
  tprt_cuda_symmetric *memory;
  tprt_cuda_group *group;
  cuda_stream stream;
  unsigned char *base[FUSED_RANKS], *here, *constants;
} game;

static void wrong(const game *g, const char *what, uint64_t turn) {
  fprintf(stderr, "wrong: rank %d, turn %llu: %s: %s\n", g->me, (unsigned long long)turn, what,
          tprt_last_error());
  exit(RANKS_GIVEN_UP);
}

/* Allocates memory and creates a group; RANKS_SKIPPED if the GPUs are not peers. */
static int start(game *g, tprt_comm *comm, const player *p) {
  tprt_cuda_group_config config = {
      .size = sizeof config, .spin_limit = 1u << 28, .skew_ns = p->skew_ns};
  cuda_context context;
  for (int i = 0; i < n_fused_cases; i++) {
    size_t buffer = (case_buffer_bytes(&fused_cases[i], g->n_ranks) + 255) / 256 * 256;
    size_t staging = case_staging_bytes(&fused_cases[i], g->n_ranks);
    g->buffer_bytes = buffer > g->buffer_bytes ? buffer : g->buffer_bytes;
    config.staging_bytes = staging > config.staging_bytes ? staging : config.staging_bytes;
  }
  DO(context_retain, &context, g->me);
  DO(context_set, context);
  tprt_status status = tprt_cuda_symmetric_create(comm, N_BUFFERS * g->buffer_bytes, &g->memory);
  if (!status)
    status = tprt_cuda_group_attach(comm, &config, &g->group);
  if (status == TPRT_UNSUPPORTED) {
    fprintf(stderr, "%s\n", tprt_last_error());
    return RANKS_SKIPPED;
  }
  if (status)
    wrong(g, "attaching", 0);
  for (int r = 0; r < g->n_ranks; r++)
    g->base[r] = tprt_cuda_symmetric_addresses(g->memory)[r];
  DO(stream_create, &g->stream, 1);
  return 0;
}

/* Copies the constants of all cases to the rank's device. */
static void place_constants(game *g) {
  size_t bytes = N_CONSTANTS * g->buffer_bytes;
  cuda_address memory;
  DO(allocate, &memory, (size_t)n_fused_cases * bytes);
  g->constants = (unsigned char *)(uintptr_t)memory;
  for (int i = 0; i < n_fused_cases; i++) {
    case_constants(&fused_cases[i], g->here, g->buffer_bytes);
    device_upload(address(g->constants + (size_t)i * bytes), g->here, bytes);
  }
}

/* Plays a turn; returns the digest of results that are equal on all ranks. */
static uint64_t play_turn(game *g, uint64_t turn) {
  int which = case_of_turn(turn);
  const fused_case *c = &fused_cases[which];
  case_fill(c, g->n_ranks, g->me, turn, g->here, g->buffer_bytes);
  device_upload(address(g->base[g->me]), g->here, N_BUFFERS * g->buffer_bytes);
  case_arguments a = case_arguments_of(c, g->n_ranks, g->base,
                                       g->constants + (size_t)which * N_CONSTANTS * g->buffer_bytes,
                                       g->buffer_bytes);
  if (case_call(c, g->group, &a, g->stream) != TPRT_OK ||
      tprt_cuda_group_check(g->group, g->stream) != TPRT_OK)
    wrong(g, "a call", turn);
  DO(download, g->here, address(g->base[g->me]), N_BUFFERS * g->buffer_bytes);
  if (turn < (uint64_t)n_fused_cases || turn % 7 == 0)
    g->errors += case_check(c, g->n_ranks, g->me, turn, g->here, g->buffer_bytes);
  return case_digest(c, g->n_ranks, g->here, g->buffer_bytes);
}

/* Counts the errors of all ranks, and the turns after which their results differ from rank 0. */
static int count_errors(game *g, tprt_comm *comm, const uint64_t *digests, uint64_t n_turns) {
  uint64_t *first = malloc(n_turns * sizeof *first + 1);
  memcpy(first, digests, n_turns * sizeof *first);
  if (tprt_broadcast(comm, first, first, (int64_t)n_turns, TPRT_U64, 0, NULL, NULL) != TPRT_OK)
    wrong(g, "comparing", n_turns);
  for (uint64_t turn = 0; turn < n_turns; turn++)
    if (digests[turn] != first[turn]) {
      fprintf(stderr, "wrong: turn %llu: rank %d has other bits than rank 0\n",
              (unsigned long long)turn, g->me);
      g->errors++;
    }
  free(first);
  int32_t errors = g->errors;
  if (tprt_all_reduce(comm, &errors, &errors, 1, TPRT_I32, TPRT_SUM, NULL, NULL) != TPRT_OK)
    wrong(g, "comparing", n_turns);
  return errors;
}

static int play(tprt_comm *comm, void *user) {
  const player *p = user;
  game g = {.n_ranks = tprt_comm_size(comm), .me = tprt_comm_rank(comm)};
  int status = start(&g, comm, p);
  if (status)
    return status;
  uint64_t *digests = calloc(p->n_turns + 1, sizeof *digests);
  g.here = calloc(N_BUFFERS, g.buffer_bytes);
  place_constants(&g);
  for (uint64_t turn = 0; turn < p->n_turns; turn++)
    digests[turn] = play_turn(&g, turn);
  int errors = count_errors(&g, comm, digests, p->n_turns);
  tprt_cuda_group_destroy(g.group);
  if (tprt_cuda_symmetric_destroy(g.memory) != TPRT_OK)
    wrong(&g, "the end", p->n_turns);
  DO(release, address(g.constants));
  free(g.here);
  free(digests);
  if (g.me == 0)
    printf("{\"test\": \"%s\", \"ranks\": %d, \"calls\": %llu, \"errors\": %d}\n", p->test,
           g.n_ranks, (unsigned long long)p->n_turns, errors);
  return errors != 0;
}

int main(int argc, char **argv) {
  enum { WORDS = 5 };
  player p = {.test = argc > 1 && strcmp(argv[1], "processes") == 0 ? "peers-processes" : "peers"};
  if (argc >= WORDS) {
    p.n_turns = strtoull(argv[3], NULL, 10);
    p.skew_ns = (uint32_t)strtoul(argv[4], NULL, 10);
  }
  int status = ranks_run(argc, argv, WORDS, play, &p);
  if (status >= 0)
    return status;
  fprintf(stderr, "usage: peers threads|processes N_RANKS N_TURNS SKEW_NS\n");
  return 2;
}
