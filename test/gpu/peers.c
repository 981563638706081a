/* The fused kernels between GPUs: peers threads|processes N_RANKS N_TURNS SKEW_NS. Rank r, a thread or a process, drives device r; all reach each
 * other's memory, which the library makes. The calls follow each other without a wait of the host for more than its own device, so that
 * ranks are up to a call apart. Exit status and output as of fused; 77 with fewer GPUs, or where they are no peers. */
#define _GNU_SOURCE 1
#include "cases.h"
#include "device.h"
#include "tprt/tprt.h"

#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { SKIPPED = 77, GIVEN_UP = 1 };

typedef struct player {
  tprt_comm *comm;
  const char *test;
  uint64_t n_turns;
  uint32_t skew_ns;
  int exit_status;
} player;

static cuda_address address(const void *pointer) { return (cuda_address)(uintptr_t)pointer; }

/* What is common to the turns of a rank. */
typedef struct game {
  int n_ranks, me, errors;
  size_t buffer_bytes;
  tprt_cuda_symmetric *memory;
  tprt_cuda_group *group;
  cuda_stream stream;
  unsigned char *base[FUSED_RANKS], *here, *constants;
} game;

static void wrong(const game *g, const char *what, uint64_t turn) {
  fprintf(stderr, "wrong: rank %d, turn %llu: %s: %s\n", g->me, (unsigned long long)turn, what, tprt_last_error());
  exit(GIVEN_UP);
}

/* Memory and a group; SKIPPED where the GPUs are no peers. */
static int start(game *g, const player *p) {
  tprt_cuda_group_config config = {.size = sizeof config, .spin_limit = 1u << 28, .skew_ns = p->skew_ns};
  cuda_context context;
  for (int i = 0; i < n_fused_cases; i++) {
    size_t buffer = (case_buffer_bytes(&fused_cases[i], g->n_ranks) + 255) / 256 * 256;
    size_t staging = case_staging_bytes(&fused_cases[i], g->n_ranks);
    g->buffer_bytes = buffer > g->buffer_bytes ? buffer : g->buffer_bytes;
    config.staging_bytes = staging > config.staging_bytes ? staging : config.staging_bytes;
  }
  DO(context_retain, &context, g->me);
  DO(context_set, context);
  tprt_status status = tprt_cuda_symmetric_create(p->comm, N_BUFFERS * g->buffer_bytes, &g->memory);
  if (!status)
    status = tprt_cuda_group_attach(p->comm, &config, &g->group);
  if (status == TPRT_UNSUPPORTED) {
    fprintf(stderr, "%s\n", tprt_last_error());
    return SKIPPED;
  }
  if (status)
    wrong(g, "attaching", 0);
  for (int r = 0; r < g->n_ranks; r++)
    g->base[r] = tprt_cuda_symmetric_addresses(g->memory)[r];
  DO(stream_create, &g->stream, 1);
  return 0;
}

/* The constants of all cases on the rank's device. */
static void place_constants(game *g) {
  size_t bytes = N_CONSTANTS * g->buffer_bytes;
  cuda_address memory;
  DO(allocate, &memory, (size_t)n_fused_cases * bytes);
  g->constants = (unsigned char *)(uintptr_t)memory;
  for (int i = 0; i < n_fused_cases; i++) {
    case_constants(&fused_cases[i], g->here, g->buffer_bytes);
    DO(upload, address(g->constants + (size_t)i * bytes), g->here, bytes);
  }
}

/* The bits of what all ranks have. */
static uint64_t play_turn(game *g, uint64_t turn) {
  int which = case_of_turn(turn);
  const fused_case *c = &fused_cases[which];
  case_fill(c, g->n_ranks, g->me, turn, g->here, g->buffer_bytes);
  DO(upload, address(g->base[g->me]), g->here, N_BUFFERS * g->buffer_bytes);
  case_arguments a =
      case_arguments_of(c, g->n_ranks, g->base, g->constants + (size_t)which * N_CONSTANTS * g->buffer_bytes, g->buffer_bytes);
  if (case_call(c, g->group, &a, g->stream) != TPRT_OK || tprt_cuda_group_check(g->group, g->stream) != TPRT_OK)
    wrong(g, "a call", turn);
  DO(download, g->here, address(g->base[g->me]), N_BUFFERS * g->buffer_bytes);
  if (turn < (uint64_t)n_fused_cases || turn % 7 == 0)
    g->errors += case_check(c, g->n_ranks, g->me, turn, g->here, g->buffer_bytes);
  return case_digest(c, g->n_ranks, g->here, g->buffer_bytes);
}

/* The errors of all ranks, and the turns after which they have other bits than rank 0. */
static int count_errors(game *g, tprt_comm *comm, const uint64_t *digests, uint64_t n_turns) {
  uint64_t *first = malloc(n_turns * sizeof *first + 1);
  memcpy(first, digests, n_turns * sizeof *first);
  if (tprt_broadcast(comm, first, first, (int64_t)n_turns, TPRT_U64, 0, NULL, NULL) != TPRT_OK)
    wrong(g, "comparing", n_turns);
  for (uint64_t turn = 0; turn < n_turns; turn++)
    if (digests[turn] != first[turn]) {
      fprintf(stderr, "wrong: turn %llu: rank %d has other bits than rank 0\n", (unsigned long long)turn, g->me);
      g->errors++;
    }
  free(first);
  int32_t errors = g->errors;
  if (tprt_all_reduce(comm, &errors, &errors, 1, TPRT_I32, TPRT_SUM, NULL, NULL) != TPRT_OK)
    wrong(g, "comparing", n_turns);
  return errors;
}

static void *play(void *argument) {
  player *p = argument;
  game g = {.n_ranks = tprt_comm_size(p->comm), .me = tprt_comm_rank(p->comm)};
  p->exit_status = start(&g, p);
  if (p->exit_status)
    return NULL;
  uint64_t *digests = calloc(p->n_turns + 1, sizeof *digests);
  g.here = calloc(N_BUFFERS, g.buffer_bytes);
  place_constants(&g);
  for (uint64_t turn = 0; turn < p->n_turns; turn++)
    digests[turn] = play_turn(&g, turn);
  int errors = count_errors(&g, p->comm, digests, p->n_turns);
  tprt_cuda_group_destroy(g.group);
  if (tprt_cuda_symmetric_destroy(g.memory) != TPRT_OK)
    wrong(&g, "the end", p->n_turns);
  DO(release, address(g.constants));
  free(g.here);
  free(digests);
  if (g.me == 0)
    printf("{\"test\": \"%s\", \"ranks\": %d, \"calls\": %llu, \"errors\": %d}\n", p->test, g.n_ranks,
           (unsigned long long)p->n_turns, errors);
  p->exit_status = errors != 0;
  return NULL;
}

static int fail(void) {
  fprintf(stderr, "wrong: %s\n", tprt_last_error());
  return GIVEN_UP;
}

static int play_threads(int n, const player *common) {
  tprt_comm *comms[FUSED_RANKS];
  pthread_t threads[FUSED_RANKS];
  player players[FUSED_RANKS];
  int exit_status = 0;
  if (tprt_world_create_threads(n, NULL, comms) != TPRT_OK)
    return fail();
  for (int r = 0; r < n; r++) {
    players[r] = *common;
    players[r].comm = comms[r];
    if (pthread_create(&threads[r], NULL, play, &players[r]) != 0)
      return GIVEN_UP;
  }
  for (int r = 0; r < n; r++)
    pthread_join(threads[r], NULL);
  for (int r = 0; r < n; r++) {
    exit_status = players[r].exit_status ? players[r].exit_status : exit_status;
    tprt_comm_destroy(comms[r]);
  }
  return exit_status;
}

/* A process that play_processes started. */
static int play_rank(int n, player *p, const char *rank, const char *segment) {
  tprt_config config = {.size = sizeof config, .backend = "shm", .segment_fd = atoi(segment)};
  if (tprt_world_create(n, atoi(rank), &config, &p->comm) != TPRT_OK)
    return fail();
  play(p);
  tprt_comm_destroy(p->comm);
  return p->exit_status;
}

/* Each is this program again, with its rank and the descriptor of the world behind the words that this one was given. */
static int play_processes(int n, char **words) {
  char program[] = "/proc/self/exe", segment[16], numbers[FUSED_RANKS][16];
  pid_t children[FUSED_RANKS];
  int fd, exit_status = 0;
  if (tprt_shm_segment_create(n, NULL, &fd) != TPRT_OK)
    return fail();
  snprintf(segment, sizeof segment, "%d", dup(fd)); /* without close-on-exec */
  for (int r = 0; r < n; r++) {
    snprintf(numbers[r], sizeof numbers[r], "%d", r);
    char *arguments[] = {words[0], words[1], words[2], words[3], words[4], numbers[r], segment, NULL};
    if (posix_spawn(&children[r], program, NULL, NULL, arguments, environ) != 0)
      return GIVEN_UP;
  }
  for (int r = 0; r < n; r++) {
    int state;
    if (waitpid(children[r], &state, 0) < 0 || state != 0)
      exit_status = WIFEXITED(state) ? WEXITSTATUS(state) : GIVEN_UP;
  }
  return exit_status;
}

int main(int argc, char **argv) {
  bool processes = argc > 1 && strcmp(argv[1], "processes") == 0, is_rank = processes && argc == 7;
  int n = argc > 2 ? atoi(argv[2]) : 0, n_devices = 0;
  if ((argc != 5 && !is_rank) || n < 1 || n > FUSED_RANKS || (!processes && strcmp(argv[1], "threads") != 0)) {
    fprintf(stderr, "usage: peers threads|processes N_RANKS N_TURNS SKEW_NS\n");
    return 2;
  }
  player p = {.test = processes ? "peers-processes" : "peers",
              .n_turns = strtoull(argv[3], NULL, 10),
              .skew_ns = (uint32_t)strtoul(argv[4], NULL, 10)};
  int status = device_open();
  if (status)
    return status;
  DO(count, &n_devices);
  if (n_devices < n) {
    fprintf(stderr, "%d GPUs, %d are needed\n", n_devices, n);
    return SKIPPED;
  }
  return is_rank ? play_rank(n, &p, argv[5], argv[6]) : processes ? play_processes(n, argv) : play_threads(n, &p);
}
