/* The measurement loop that all compared programs share: the same messages, checked once, then the
 * same number of rounds of the same length, with operations back to back. The ranks of this library
 * and of every peer run this code; they differ only in the function table (bench_rank). */
#ifndef SHARD_BENCH_MEASURE_H
#define SHARD_BENCH_MEASURE_H

#include "tprt/tprt.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_MAX_SIZES = 64, BENCH_MAX_RANKS = 64, BENCH_MAX_PIECES = 256 };

/* Description of a measurement. */
typedef struct bench_job {
  tprt_op_kind kind;
  tprt_dtype dtype;
  bool in_place;
  /* each operation by itself, as in compiled programs: what it sends was just written, and its
   * memory was not used lately. Otherwise they run back to back on the same memory */
  bool fresh;
  /* more than 1: the tensor is reduced or sent in so many operations, which may run as one */
  int n_pieces;
  int n_ranks;
  int n_rounds;
  double round_seconds; /* duration of a round */
  int n_sizes;
  int64_t sizes[BENCH_MAX_SIZES]; /* bytes as requested; bench_elements rounds them */
} bench_job;

/* One rank of a communication library. A function that fails prints the reason and ends the
 * process. */
typedef struct bench_rank {
  void *state;
  int rank;
  /* runs one operation; `elements` counts the full tensor */
  void (*run)(void *state, const bench_job *job, const void *send, void *recv, int64_t elements);
  /* max of `value` over all ranks */
  double (*largest)(void *state, double value);
  void *(*take)(void *state, size_t bytes);
  void (*give)(void *state, void *buffer); /* frees a buffer from `take` */
  /* copy to and from a buffer, if buffers are memory of a device; NULL: they are of the host */
  void (*upload)(void *state, void *to, const void *from, size_t bytes);
  void (*download)(void *state, void *to, const void *from, size_t bytes);
  /* gets the times of size `index`; NULL: rank 0 prints them */
  void (*report)(void *state, int index, double median_us, double minimum_us);
} bench_rank;

/* Returns the number of elements of the full tensor of the group: of the send tensor of all_reduce,
 * reduce_scatter, broadcast and so on, of the recv tensor of all_gather. A multiple of the number
 * of ranks, at least one per rank. */
int64_t bench_elements(const bench_job *job, int i);
/* Return the number of elements of one rank's send and recv buffer. */
int64_t bench_send_elements(const bench_job *job, int64_t elements);
int64_t bench_recv_elements(const bench_job *job, int64_t elements);

/* Returns the index of the first element of a piece; of piece n_pieces, the number of elements. */
int64_t bench_piece(const bench_job *job, int64_t elements, int piece);

/* Measures all sizes, and reports each; rank 0 prints a line "index median minimum", in
 * microseconds. */
void bench_measure(const bench_job *job, const bench_rank *rank);

/* Orders doubles, for qsort. */
int bench_compare(const void *a, const void *b);

/* Convert a job to the command-line arguments of a peer program, and back. */
enum { BENCH_N_ARGS = 8, BENCH_MAX_ARG = 32 * BENCH_MAX_SIZES };
void bench_print_args(const bench_job *job, char texts[BENCH_N_ARGS][BENCH_MAX_ARG]);
/* Returns false if the arguments are not in the format of bench_print_args. */
bool bench_read_args(char **texts, bench_job *job);

#ifdef __cplusplus
}
#endif
#endif
