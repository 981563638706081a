/* Large GEMMs on one thread: blocks in the caches, sums in registers. For processors with AVX-512,
 * or with AVX2 and FMA.
 *
 * The loops are those of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication"
 * (2008). A block of A stays in the L2 cache while strips of B, two vectors wide, pass through it.
 * A tile of C, a strip wide and up to TILE_ROWS high, is summed in registers. A model layer has
 * only a few hundred rows, so fetching and packing B would take an eighth of the time. Therefore
 * two things differ:
 *   the tiles of a strip prefetch and pack the next strip, a few rows at a time, between
 *     multiply-adds;
 *   rows are divided evenly over tiles, with a kernel for every height, so that no tile is
 *     nearly empty.
 *
 * The order of the sums is that of blas.h. */
#include "cpu/blas.h"

#include <string.h>

#if TPRT__HAS_TARGETS

#define UNROLLED _Pragma("GCC unroll 16")

enum {
  SOON = 8,        /* steps of k by which lines of a strip are prefetched ahead */
  LEAD = 8,        /* pieces between the prefetch of a line and its use */
  ROWS = 256,      /* rows of A in a block */
  ROWS_AT_ONCE = 2 /* rows of C prefetched at a time */
};

/* With fewer multiply-adds, packing would cost more than multiplying. */
enum { MIN_WORK = 1 << 15 };

/* Size for the largest instance: 256 rows of A of 2 KiB and a cache line each, and two strips of
 * B. */
enum { SCRATCH_BYTES = ROWS * (2048 + 64) + 2 * 2048 * 32 };

static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* Start of part `i` of n parts whose sizes differ by at most one. */
static int64_t part_begin(int64_t size, int64_t n, int64_t i) {
  return size / n * i + tprt__min(i, size % n);
}

/* Inline assembly fixes which operand a multiply-add overwrites. Left to choose, compilers copy
 * sums between registers, and some through memory. */
#define MULTIPLY_ADD_F32(sum, x, y) __asm__("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y))
#define MULTIPLY_ADD_F64(sum, x, y) __asm__("vfmadd231pd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y))
#define BROADCAST_F32(x, element) __asm__("vbroadcastss %1, %0" : "=v"(x) : "m"(element))
#define BROADCAST_F64(x, element) __asm__("vbroadcastsd %1, %0" : "=v"(x) : "m"(element))
#define UP_TO_6(X) X(1) X(2) X(3) X(4) X(5) X(6)
#define UP_TO_14(X) UP_TO_6(X) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)

#define ELEMENT float
#define BITS 32
#define LANES 16
#define NAME(x) x##_f32_avx512
#define TARGET __attribute__((target("avx512f")))
#define MULTIPLY_ADD MULTIPLY_ADD_F32
#define BROADCAST BROADCAST_F32
#define TILE_ROWS 14
#define EACH_HEIGHT UP_TO_14
#include "cpu/gemm_blocked_kernels.h"

#define ELEMENT double
#define BITS 64
#define LANES 8
#define NAME(x) x##_f64_avx512
#define TARGET __attribute__((target("avx512f")))
#define MULTIPLY_ADD MULTIPLY_ADD_F64
#define BROADCAST BROADCAST_F64
#define TILE_ROWS 14
#define EACH_HEIGHT UP_TO_14
#include "cpu/gemm_blocked_kernels.h"

#define ELEMENT float
#define BITS 32
#define LANES 8
#define NAME(x) x##_f32_avx2
#define TARGET __attribute__((target("avx2,fma")))
#define MULTIPLY_ADD MULTIPLY_ADD_F32
#define BROADCAST BROADCAST_F32
#define TILE_ROWS 6
#define EACH_HEIGHT UP_TO_6
#include "cpu/gemm_blocked_kernels.h"

#define ELEMENT double
#define BITS 64
#define LANES 4
#define NAME(x) x##_f64_avx2
#define TARGET __attribute__((target("avx2,fma")))
#define MULTIPLY_ADD MULTIPLY_ADD_F64
#define BROADCAST BROADCAST_F64
#define TILE_ROWS 6
#define EACH_HEIGHT UP_TO_6
#include "cpu/gemm_blocked_kernels.h"

typedef void multiply_fn(const tprt__gemm_args *g);
static multiply_fn *const multiplies[][2] = {
    [TPRT__AVX512] = {multiply_f32_avx512, multiply_f64_avx512},
    [TPRT__AVX2] = {multiply_f32_avx2, multiply_f64_avx2}};

size_t tprt__gemm_scratch(void) { return SCRATCH_BYTES; }

bool tprt__gemm_blocked(tprt__vectors vectors, bool wide, const tprt__gemm_args *g) {
  if (vectors == TPRT__PLAIN || !g->scratch || g->m * g->n * g->k < MIN_WORK)
    return false;
  multiplies[vectors][wide](g);
  return true;
}

#else

size_t tprt__gemm_scratch(void) { return 0; }

bool tprt__gemm_blocked(tprt__vectors vectors, bool wide, const tprt__gemm_args *g) {
  (void)vectors, (void)wide, (void)g;
  return false;
}

#endif
