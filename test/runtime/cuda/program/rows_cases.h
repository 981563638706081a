/* Programs of sites that reduce rows, with their expected results: every layout, norm and type, of
 * given rows and of GEMM results. */
#ifndef TPRT_TEST_CUDA_ROWS_CASES_H
#define TPRT_TEST_CUDA_ROWS_CASES_H

#include "make_context.h"
#include "test/runtime/harness/table.h"
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
  int64_t quantize, divides, algorithm;
  float least_largest, least_scale;
} shape_case;

/* Operands of a case, as bits. */
enum {
  ROWS_RESIDUAL = 1,
  ROWS_BIAS = 2,
  ROWS_GAMMA = 4,
  ROWS_BETA = 8,
  ROWS_RESIDUAL_OUT = 16,
  ROWS_OUT = 32, /* beside what is quantized; without quantization there is one anyway */
  ALL = ROWS_RESIDUAL | ROWS_BIAS | ROWS_GAMMA | ROWS_RESIDUAL_OUT
};

extern const shape_case shape_cases[];
extern const int n_shape_cases;

void add_case(test_table *t, const shape_case *c);
tprt_abi_operands operands_of(const shape_case *c);
/* Whether so many devices can have it: rows are cut evenly. */
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
