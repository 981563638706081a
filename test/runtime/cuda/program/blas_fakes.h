/* Loads the fakes of the driver and of cuBLASLt for tests of programs with contractions. */
#ifndef TPRT_TEST_CUDA_BLAS_FAKES_H
#define TPRT_TEST_CUDA_BLAS_FAKES_H

#include "test/runtime/cuda/fake/fake_blaslt.h"
#include "tprt/abi.h"
#include "tprt/tprt.h"

extern fake_blaslt_begin_fn *blas_begin;
extern const fake_blaslt_plan blas_without_faults;

/* A set-up function of cmocka: fails if a fake is missing. */
int blas_fakes_setup(void **state);
fake_blaslt_report blas_report(void);

/* A world of one rank, and a context of it. They do not fail. */
tprt_comm *blas_world(void);
tprt_context *blas_context(tprt_comm *world, tprt_target target);

enum { BLAS_ELEMENTS = 1 << 15 }; /* of a buffer */

/* Sets element i of a buffer to a number from -3 to 3, or from 0 on for unsigned types, so that
 * sums are exact in f32. */
void blas_fill(tprt_dtype dtype, void *memory, uint32_t seed);

/* Allocates n buffers, and fills them with the numbers of seed, seed + 1, and so on. */
void blas_buffers(tprt_dtype dtype, int n, uint32_t seed, char **memory);
void blas_buffers_free(int n, char **memory);
/* The same for three buffers. */
void blas_memory(tprt_dtype dtype, char *memory[3]);
void blas_memory_free(char *memory[3]);

/* The reference: a contraction of one type on the host. The words of a loop are its size and its
 * strides in A, B and C. */
void blas_on_host(tprt_dtype dtype, bool overwrite, int n_loops, const int64_t *loops,
                  const void *a, const void *b, void *c);

#endif
