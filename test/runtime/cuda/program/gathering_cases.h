/* Programs of sites that all-gather rows and multiply them, with their expected results: one GEMM
 * and several, both types, with and without blocks, with and without the gathered rows as a
 * result. */
#ifndef TPRT_TEST_CUDA_GATHERING_CASES_H
#define TPRT_TEST_CUDA_GATHERING_CASES_H

#include "make_context.h"
#include "test/runtime/harness/table.h"
#include "tprt/tprt.h"

enum {
  ALL_ROWS = 8,
  WIDTH = 12,
  MOST_COLUMNS = 20,
  N_INPUTS = 1 + TPRT_MAX_MATMULS,
  N_OUTPUTS = 1 + TPRT_MAX_MATMULS,
}; /* [1, 8, 12] or [2, 4, 12], gathered along the second dimension */

typedef struct gather_case {
  tprt_dtype dtype;
  bool keeps; /* the gathered rows are a result, too */
  int n;
  int64_t columns[TPRT_MAX_MATMULS], transposed[TPRT_MAX_MATMULS];
  int64_t blocks;
} gather_case;

extern const gather_case gather_cases[];
extern const int n_gather_cases;

tprt_abi_operands gather_operands_of(const gather_case *c);
void add_gather_case(test_table *t, const gather_case *c, int64_t n_ranks);
/* Creates a program with one site per case, for this number of devices. */
test_table make_gather_program(int64_t n_devices);
/* Returns true if slices of rows and of GEMM results are multiples of 16 bytes. */
bool has_slices(const gather_case *c, int n_ranks);

/* Of this thread: offset of its buffers from a multiple of 16 bytes; max delay of its calls. */
extern _Thread_local size_t buffer_offset;
extern _Thread_local long most_pause_us;
/* The program that a context of this thread runs, and how often it has run. */
extern _Thread_local const test_table *gather_program;
extern _Thread_local int n_runs;

/* Gathers and multiplies the rows of `n_turns` turns and compares with sums in f64; returns the
 * number of errors. graph: NULL: direct calls; else replayed as a graph, or the expected reason why
 * that is impossible. `digest`, unless NULL, is combined with the bits of all results. */
int run_gather_case(tprt_context *context, tprt_comm *world, int i, int n_turns, const char *graph,
                    uint64_t *digest);

#endif
