/* Programs of sites that reduce rows, with their expected results: every layout, norm and type, of
 * given rows and of GEMM results. */
#ifndef TPRT_TEST_CUDA_ROWS_CASES_H
#define TPRT_TEST_CUDA_ROWS_CASES_H

#include "make_context.h"
#include "table.h"
#include "tprt/cuda.h"
#include "tprt/tprt.h"

enum {
  BLOCKS = 2,
  ROWS = 8,
  HIDDEN = 24,
  N = BLOCKS * ROWS * HIDDEN,
  MOST_K = 8,
  HIDDEN_OF_GROUPS = 2 * TPRT_CUDA_GROUP,
  MOST = BLOCKS * ROWS * HIDDEN_OF_GROUPS,
}; /* [2, 8, 24], with group scales [2, 8, 256], sharded along the second dimension */

typedef struct shape_case {
  tprt_dtype dtype;
  int64_t layout, operands, norm;
  int64_t k, transposed; /* for rows that are a GEMM result; k 0: given rows */
  int64_t quantise, divides, algorithm;
  float least_largest, least_scale;
} shape_case;

enum { ALL = TPRT_ROWS_RESIDUAL | TPRT_ROWS_BIAS | TPRT_ROWS_GAMMA | TPRT_ROWS_RESIDUAL_OUT };

extern const shape_case shape_cases[];
extern const int n_shape_cases;

void add_case(test_table *t, const shape_case *c);
/* Returns true if the number of devices is possible: rows are sharded evenly. */
bool is_possible(const shape_case *c, int64_t n_devices);
/* Creates a program with one site per case, for this number of devices; impossible cases are
 * replaced by the first. */
test_table make_program(int64_t n_devices);
/* Of this thread: offset of the GEMMs' left operands from a multiple of 16 bytes. */
extern _Thread_local size_t factor_offset;
/* Checks both turns of a site against sums in f64, and returns the number of errors; `digest`,
 * unless NULL, is combined with the bits of all results. */
int run_case(tprt_context *context, tprt_comm *world, int i, uint64_t *digest);
/* Checks the counted bytes against a reduce_scatter of the rows; an all_reduce has twice as many, a
 * gather as many. */
int check_bytes(tprt_context *context, int n_ranks);
/* Returns true if the slices of a GEMM start at positions that cuBLASLt supports. */
bool is_sliced(const shape_case *c, int n_ranks);

#endif
