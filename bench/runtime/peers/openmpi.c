/* The same measurement for MPI: mpirun -n RANKS openmpi */
#define _GNU_SOURCE 1
#include "../protocol.h"

#include <mpi.h>

static void sum(void *state, const float *send, float *recv, size_t count) {
  (void)state;
  if (MPI_Allreduce(send, recv, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS)
    exit(1);
}

int main(int argc, char **argv) {
  int n_ranks, rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  float *send = malloc(LAST_BYTES), *recv = malloc(LAST_BYTES);
  if (!send || !recv)
    return 1;
  for (size_t bytes = FIRST_BYTES; bytes <= LAST_BYTES; bytes *= 4)
    measure(sum, NULL, send, recv, bytes, n_ranks, rank);
  free(send);
  free(recv);
  MPI_Finalize();
  return 0;
}
