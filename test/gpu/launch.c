/* Starts the ranks of the multi-GPU tests, as threads or processes. */
#define _GNU_SOURCE 1
#include "launch.h"

#include "test/runtime/harness/device.h"
#include "tprt/cuda.h"

#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MOST_RANKS = TPRT_CUDA_MAX_RANKS, MOST_WORDS = 16 };

static int fail(void) {
  fprintf(stderr, "wrong: %s\n", tprt_last_error());
  return RANKS_GIVEN_UP;
}

typedef struct player {
  tprt_comm *comm;
  rank_fn *fn;
  void *user;
  int exit_status;
} player;

static void *play(void *argument) {
  player *p = argument;
  p->exit_status = p->fn(p->comm, p->user);
  return NULL;
}

static int play_threads(int n, rank_fn *fn, void *user) {
  tprt_comm *comms[MOST_RANKS];
  pthread_t threads[MOST_RANKS];
  player players[MOST_RANKS];
  int exit_status = 0;
  const tprt_config config = {.size = sizeof config, .backend = "loopback"};
  if (tprt_world_create_threads(n, &config, comms) != TPRT_OK)
    return fail();
  for (int r = 0; r < n; r++) {
    players[r] = (player){.comm = comms[r], .fn = fn, .user = user};
    if (pthread_create(&threads[r], NULL, play, &players[r]) != 0)
      return RANKS_GIVEN_UP;
  }
  for (int r = 0; r < n; r++)
    pthread_join(threads[r], NULL);
  for (int r = 0; r < n; r++) {
    exit_status = players[r].exit_status ? players[r].exit_status : exit_status;
    tprt_comm_destroy(comms[r]);
  }
  return exit_status;
}

/* Runs the rank of a process that play_processes started. */
static int play_rank(int n, const char *rank, const char *segment, rank_fn *fn, void *user) {
  tprt_config config = {.size = sizeof config, .backend = "shm", .segment_fd = atoi(segment)};
  tprt_comm *comm;
  if (tprt_world_create(n, atoi(rank), &config, &comm) != TPRT_OK)
    return fail();
  int exit_status = fn(comm, user);
  tprt_comm_destroy(comm);
  return exit_status;
}

/* Starts each rank as this program, with the same words followed by its rank and the descriptor of
 * the world. */
static int play_processes(int n, int argc, char **argv) {
  char program[] = "/proc/self/exe", segment[16], numbers[MOST_RANKS][16], *words[MOST_WORDS];
  pid_t children[MOST_RANKS];
  int fd, exit_status = 0;
  if (tprt_shm_segment_create(n, NULL, &fd) != TPRT_OK)
    return fail();
  snprintf(segment, sizeof segment, "%d", dup(fd)); /* without close-on-exec */
  memcpy(words, argv, (size_t)argc * sizeof *words);
  words[argc + 1] = segment;
  words[argc + 2] = NULL;
  for (int r = 0; r < n; r++) {
    snprintf(numbers[r], sizeof numbers[r], "%d", r);
    words[argc] = numbers[r];
    if (posix_spawn(&children[r], program, NULL, NULL, words, environ) != 0)
      return RANKS_GIVEN_UP;
  }
  for (int r = 0; r < n; r++) {
    int state;
    if (waitpid(children[r], &state, 0) < 0 || state != 0)
      exit_status = WIFEXITED(state) ? WEXITSTATUS(state) : RANKS_GIVEN_UP;
  }
  return exit_status;
}

int ranks_run(int argc, char **argv, int n_words, rank_fn *fn, void *user) {
  bool processes = argc > 1 && strcmp(argv[1], "processes") == 0,
       is_rank = processes && argc == n_words + 2;
  int n = argc > 2 ? atoi(argv[2]) : 0, n_devices = 0;
  if ((argc != n_words && !is_rank) || n_words + 3 > MOST_WORDS || n < 1 || n > MOST_RANKS ||
      (!processes && strcmp(argv[1], "threads") != 0))
    return -1;
  int status = device_open();
  if (status)
    return status;
  DO(count, &n_devices);
  if (n_devices < n) {
    fprintf(stderr, "%d GPUs, %d are needed\n", n_devices, n);
    return RANKS_SKIPPED;
  }
  if (is_rank)
    return play_rank(n, argv[n_words], argv[n_words + 1], fn, user);
  return processes ? play_processes(n, argc, argv) : play_threads(n, fn, user);
}
