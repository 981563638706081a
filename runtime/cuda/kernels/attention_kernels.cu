/* Attention in one kernel: scores stay in registers and shared memory, tile by tile, and each row
 * carries its largest score, the sum of its exponentials and their product with the values (online
 * softmax: Milakov and Gimelshein 2018; Dao et al. 2022). Tiles that a causal mask hides from all
 * rows of a block are skipped, if what they add is 0: where hidden scores are -infinity, or where
 * all rows have far greater ones.
 *
 * Columns are added in order, so results depend on the shape alone. */
#include "cuda/kernels/attention_mma.cuh"
#include "cuda/kernels/attention_rows.cuh"

#define KERNEL extern "C" __global__ void

/* Two blocks on a multiprocessor: for three, ptxas spills. */
#define ATTENTION(name)                                                                            \
  KERNEL __launch_bounds__(ATTENTION_THREADS, 2)                                                   \
      tprt_attention_##name(const __grid_constant__ attention_args args) {                         \
    attend<type_##name, false>(args);                                                              \
  }
ATTENTION(f32)
ATTENTION(f16)
ATTENTION(bf16)

/* ---- with tensor cores ---- */

#define ATTENTION_MMA(name, features)                                                              \
  KERNEL __launch_bounds__(ATTENTION_THREADS, features == 64 ? 4 : 3)                              \
      tprt_attention_##name##_##features(const __grid_constant__ attention_args args) {            \
    attend_mma<type_##name, features, false>(args);                                                \
  }
#define ATTENTION_MMA_ALL(name)                                                                    \
  ATTENTION_MMA(name, 64)                                                                          \
  ATTENTION_MMA(name, 80)                                                                          \
  ATTENTION_MMA(name, 96)                                                                          \
  ATTENTION_MMA(name, 128)
ATTENTION_MMA_ALL(f16)
ATTENTION_MMA_ALL(bf16)
