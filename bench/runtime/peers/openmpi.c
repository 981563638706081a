/* Measures MPI with the loop of shard-bench: mpirun -n RANKS shard-bench-openmpi JOB */
#include "../../../tools/shard-bench/measure.h"

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

static void expect(int code) {
  if (code != MPI_SUCCESS)
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static MPI_Datatype type_of(tprt_dtype dtype) {
  switch (dtype) {
  case TPRT_F32:
    return MPI_FLOAT;
  case TPRT_F64:
    return MPI_DOUBLE;
  case TPRT_I8:
    return MPI_INT8_T;
  case TPRT_I16:
    return MPI_INT16_T;
  case TPRT_I32:
    return MPI_INT32_T;
  case TPRT_I64:
    return MPI_INT64_T;
  case TPRT_U8:
    return MPI_UINT8_T;
  case TPRT_U32:
    return MPI_UINT32_T;
  case TPRT_U64:
    return MPI_UINT64_T;
  default: /* f16 and bf16 cannot be reduced, only moved */
    return MPI_UINT16_T;
  }
}

/* Runs an all-reduce or a broadcast in pieces that progress at the same time. */
static void run_pieces(const bench_job *job, int rank, const char *send, char *recv,
                       int64_t elements) {
  MPI_Request requests[BENCH_MAX_PIECES];
  MPI_Datatype type = type_of(job->dtype);
  int64_t size = (int64_t)tprt_dtype_size(job->dtype);
  for (int i = 0; i < job->n_pieces; i++) {
    int64_t begin = bench_piece(job, elements, i);
    int n = (int)(bench_piece(job, elements, i + 1) - begin);
    const char *from = send + begin * size;
    char *to = recv + begin * size;
    if (job->kind == TPRT_OP_ALL_REDUCE) {
      expect(MPI_Iallreduce(job->in_place ? MPI_IN_PLACE : from, to, n, type, MPI_SUM,
                            MPI_COMM_WORLD, &requests[i]));
      continue;
    }
    if (rank == 0 && from != to)
      memcpy(to, from, (size_t)n * (size_t)size);
    expect(MPI_Ibcast(to, n, type, 0, MPI_COMM_WORLD, &requests[i]));
  }
  expect(MPI_Waitall(job->n_pieces, requests, MPI_STATUSES_IGNORE));
}

static void run(void *state, const bench_job *job, const void *send, void *recv, int64_t elements) {
  MPI_Datatype type = type_of(job->dtype);
  int n = job->n_ranks, rank = *(const int *)state, all = (int)elements,
      chunk = (int)(elements / n);
  if (job->n_pieces > 1) {
    run_pieces(job, rank, send, recv, elements);
    return;
  }
  switch (job->kind) {
  case TPRT_OP_ALL_REDUCE:
    expect(MPI_Allreduce(job->in_place ? MPI_IN_PLACE : send, recv, all, type, MPI_SUM,
                         MPI_COMM_WORLD));
    break;
  case TPRT_OP_ALL_GATHER:
    expect(MPI_Allgather(send, chunk, type, recv, chunk, type, MPI_COMM_WORLD));
    break;
  case TPRT_OP_REDUCE_SCATTER:
    expect(MPI_Reduce_scatter_block(send, recv, chunk, type, MPI_SUM, MPI_COMM_WORLD));
    break;
  case TPRT_OP_ALL_TO_ALL:
    expect(MPI_Alltoall(send, chunk, type, recv, chunk, type, MPI_COMM_WORLD));
    break;
  /* MPI_Bcast has a single buffer, so the root's copy is part of the operation */
  case TPRT_OP_BROADCAST:
    if (rank == 0 && send != recv)
      memcpy(recv, send, (size_t)all * tprt_dtype_size(job->dtype));
    expect(MPI_Bcast(recv, all, type, 0, MPI_COMM_WORLD));
    break;
  default:
    expect(MPI_Sendrecv(send, all, type, (rank + 1) % n, 0, recv, all, type, (rank + n - 1) % n, 0,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  }
}

static double largest(void *state, double value) {
  double most;
  (void)state;
  expect(MPI_Allreduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
  return most;
}

static void *take(void *state, size_t bytes) {
  (void)state;
  return malloc(bytes);
}

static void give(void *state, void *buffer) {
  (void)state;
  free(buffer);
}

int main(int argc, char **argv) {
  bench_job job;
  int n_ranks, rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 1 + BENCH_N_ARGS || !bench_read_args(argv + 1, &job) || job.n_ranks != n_ranks) {
    fputs("shard-bench-openmpi: it is started by shard-bench --peer=openmpi\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (int i = 0; i < job.n_sizes; i++)
    if (bench_elements(&job, i) > INT32_MAX) {
      fputs("shard-bench-openmpi: MPI counts elements in 31 bits; take smaller sizes\n", stderr);
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
  bench_rank self = {
      .state = &rank, .rank = rank, .run = run, .largest = largest, .take = take, .give = give};
  bench_measure(&job, &self);
  MPI_Finalize();
  return 0;
}
