/* Programs of sites that gather rows and multiply them, and what comes out of them: one product and
 * several, of one type and the other, in blocks, with what is gathered and without. */
#ifndef TPRT_TEST_CUDA_GATHERING_CASES_H
#define TPRT_TEST_CUDA_GATHERING_CASES_H

#include "make_context.h"
#include "table.h"
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
  bool keeps; /* what is gathered is wanted, too */
  int n;
  int64_t columns[TPRT_MAX_MATMULS], transposed[TPRT_MAX_MATMULS];
  int64_t blocks;
} gather_case;

extern const gather_case gather_cases[];
extern const int n_gather_cases;

tprt_abi_operands gather_operands_of(const gather_case *c);
void add_gather_case(test_table *t, const gather_case *c, int64_t n_ranks);
/* A site for each case, for so many devices. */
test_table make_gather_program(int64_t n_devices);
/* Whether slices of rows and of products are multiples of 16 bytes. */
bool has_slices(const gather_case *c, int n_ranks);

/* Of this thread: bytes by which its buffers lie behind a multiple of 16; what its calls are slowed
 * by, at most. */
extern _Thread_local size_t buffer_offset;
extern _Thread_local long most_pause_us;
/* The program that a context of this thread runs, and how often it has been run. */
extern _Thread_local const test_table *gather_program;
extern _Thread_local int n_runs;

/* Rows of `n_turns` turns, gathered and multiplied, against sums in f64: the number of errors.
 * graph: NULL, it is called; else it is replayed as one, or cannot be, because of that. `digest`,
 * unless NULL, becomes a hash of it and of the bits of all results. */
int run_gather_case(tprt_context *context, tprt_comm *world, int i, int n_turns, const char *graph,
                    uint64_t *digest);

#endif
