/* Time of all_reduce between processes of this machine, over message sizes.
 *   all_reduce RANKS staged|registered
 * staged: buffers from malloc. registered: from tprt_mem_alloc. */
#define _GNU_SOURCE 1
#include "protocol.h"
#include "tprt/tprt.h"

#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void expect(tprt_status status) {
  if (!status)
    return;
  fprintf(stderr, "%s: %s\n", tprt_status_name(status), tprt_last_error());
  exit(1);
}

static void sum(void *state, const float *send, float *recv, size_t count) {
  expect(tprt_all_reduce(state, send, recv, (int64_t)count, TPRT_F32, TPRT_SUM, NULL, NULL));
}

static void *take(tprt_comm *comm, bool registered) {
  void *memory;
  if (!registered)
    return malloc(LAST_BYTES);
  expect(tprt_mem_alloc(comm, LAST_BYTES, &memory));
  return memory;
}

static void play(int n_ranks, int rank, int fd, bool registered) {
  tprt_config config = {.size = sizeof config, .segment_fd = fd};
  tprt_comm *comm;
  expect(tprt_world_create(n_ranks, rank, &config, &comm));
  float *send = take(comm, registered), *recv = take(comm, registered);
  if (!send || !recv)
    exit(1);
  for (size_t bytes = FIRST_BYTES; bytes <= LAST_BYTES; bytes *= 4)
    measure(sum, comm, send, recv, bytes, n_ranks, rank);
  tprt_comm_destroy(comm);
}

int main(int argc, char **argv) {
  int n_ranks = argc == 3 ? atoi(argv[1]) : 0, fd, failed = 0;
  bool registered = argc == 3 && strcmp(argv[2], "registered") == 0;
  if (n_ranks < 1 || n_ranks > 64 || (!registered && strcmp(argv[2], "staged") != 0)) {
    fprintf(stderr, "usage: %s RANKS staged|registered\n", argv[0]);
    return 2;
  }
  expect(tprt_shm_segment_create(n_ranks, NULL, &fd));
  for (int rank = 0; rank < n_ranks; rank++) {
    pid_t child = fork();
    if (child < 0)
      return 1;
    if (child == 0) {
      play(n_ranks, rank, fd, registered);
      exit(0);
    }
  }
  for (int status; wait(&status) > 0;)
    failed |= status != 0;
  return failed;
}
