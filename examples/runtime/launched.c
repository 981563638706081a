/* A program that mpirun, torchrun, srun or shard-run starts as many times as there are ranks. It
 * looks the same under all of them:
 *
 *   mpirun -n 4 ./launched
 *   torchrun --nproc-per-node 4 --no-python ./launched
 *   shard-run -n 4 -- ./launched */
#include "ranks.h"

int main(void) {
  tprt_launch launch = {.size = sizeof launch};
  tprt_comm *comm;
  /* only to know more, e.g. which accelerator of this host is for this rank */
  expect(tprt_launch_find(&launch));
  expect(tprt_world_create(0, 0, NULL, &comm));

  double mine = 1.0 / (tprt_comm_rank(comm) + 1), sum;
  expect(tprt_all_reduce(comm, &mine, &sum, 1, TPRT_F64, TPRT_SUM, NULL, NULL));
  if (launch.rank == 0)
    printf("%d ranks: the sum is %.6f\n", tprt_comm_size(comm), sum);
  tprt_comm_destroy(comm);
  return 0;
}
