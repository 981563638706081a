/* Halo exchange in the background: every rank sends its edges to both neighbors while it works on
 * its inner part. */
#include "ranks.h"

enum { N = 1000 };

static void *play(void *argument) {
  tprt_comm *comm = argument;
  int rank = tprt_comm_rank(comm), left = (rank + N_RANKS - 1) % N_RANKS,
      right = (rank + 1) % N_RANKS;
  double cells[N + 2], next[N + 2]; /* one more on each side: the neighbors' edges */
  for (int i = 1; i <= N; i++)
    cells[i] = rank * N + i;

  /* A batch is submitted at once: no order of sends and recvs can deadlock. The tags tell the two
   * directions apart. */
  enum { TO_LEFT, TO_RIGHT };
  const tprt_op exchange[] = {
      tprt_op_send(&cells[1], 1, TPRT_F64, left, TO_LEFT),
      tprt_op_send(&cells[N], 1, TPRT_F64, right, TO_RIGHT),
      tprt_op_recv(&cells[0], 1, TPRT_F64, left, TO_RIGHT),
      tprt_op_recv(&cells[N + 1], 1, TPRT_F64, right, TO_LEFT),
  };
  tprt_work *work;
  expect(tprt_submit_batch(comm, exchange, 4, &work));

  for (int i = 2; i < N; i++) /* needs no neighbor */
    next[i] = (cells[i - 1] + cells[i] + cells[i + 1]) / 3;
  expect(tprt_work_wait(work, 0));
  tprt_work_destroy(work);
  next[1] = (cells[0] + cells[1] + cells[2]) / 3;
  next[N] = (cells[N - 1] + cells[N] + cells[N + 1]) / 3;

  if (rank == 1)
    printf("rank 1: left neighbor's last cell %g, first mean %g\n", cells[0], next[1]);
  return NULL;
}

int main(void) {
  run_ranks(play);
  return 0;
}
