/* Four processes add up their numbers. The parent makes the shared segment and is no rank
 * itself. */
#include "ranks.h"

#include <sys/wait.h>
#include <unistd.h>

static void play(int rank, int segment) {
  tprt_config config = {.size = sizeof config, .segment_fd = segment};
  tprt_comm *comm;
  expect(tprt_world_create(N_RANKS, rank, &config, &comm));

  /* Memory that the other processes can reach: large operations need no copies in between. */
  enum { COUNT = 1 << 20 };
  void *memory;
  expect(tprt_mem_alloc(comm, COUNT * sizeof(float), &memory));
  float *data = memory;
  for (int i = 0; i < COUNT; i++)
    data[i] = (float)(rank + 1);

  /* in place; returns when it is done */
  expect(tprt_all_reduce(comm, data, data, COUNT, TPRT_F32, TPRT_SUM, NULL, NULL));
  if (rank == 0)
    printf("every element of the sum is %g\n", (double)data[COUNT - 1]);

  tprt_mem_free(comm, memory);
  tprt_comm_destroy(comm);
}

int main(void) {
  int segment, failed = 0;
  expect(tprt_shm_segment_create(N_RANKS, NULL, &segment));
  for (int rank = 0; rank < N_RANKS; rank++) {
    if (fork() == 0) {
      play(rank, segment);
      return 0;
    }
  }
  for (int status; wait(&status) > 0;)
    failed |= status != 0;
  return failed;
}
