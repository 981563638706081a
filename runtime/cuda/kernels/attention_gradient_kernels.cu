/* The gradient of attention without stored scores: the kernels make them again from the largest
 * score and the sum of exponentials of each row (FlashAttention-2: Dao 2023). For each type there
 * are two: that of the queries, which goes over columns, and that of keys and values, which goes
 * over rows. Each result is added up in order by the same threads, without atomic operations, so
 * results depend on the shape alone. The kernel of the queries comes first: it writes
 * attention_args.delta. */
#include "cuda/kernels/attention_gradient_lanes.cuh"
#include "cuda/kernels/attention_gradient_mma.cuh"

#define KERNEL(n_blocks) extern "C" __global__ void __launch_bounds__(ATTENTION_THREADS, n_blocks)

#define GRADIENT(name)                                                                             \
  KERNEL(2) tprt_attention_gradient_rows_##name(const __grid_constant__ attention_args args) {     \
    differentiate_rows<type_##name>(args);                                                         \
  }                                                                                                \
  KERNEL(2) tprt_attention_gradient_columns_##name(const __grid_constant__ attention_args args) {  \
    differentiate_columns<type_##name>(args);                                                      \
  }
GRADIENT(f32)
GRADIENT(f16)
GRADIENT(bf16)

#define GRADIENT_MMA(name, features)                                                               \
  KERNEL(1)                                                                                        \
  tprt_attention_gradient_rows_##name##_##features(const __grid_constant__ attention_args args) {  \
    differentiate_rows_mma<type_##name, features>(args);                                           \
  }                                                                                                \
  KERNEL(1)                                                                                        \
  tprt_attention_gradient_columns_##name##_##features(                                             \
      const __grid_constant__ attention_args args) {                                               \
    differentiate_columns_mma<type_##name, features>(args);                                        \
  }
#define GRADIENT_MMA_ALL(name)                                                                     \
  GRADIENT_MMA(name, 64)                                                                           \
  GRADIENT_MMA(name, 80)                                                                           \
  GRADIENT_MMA(name, 96)                                                                           \
  GRADIENT_MMA(name, 128)
GRADIENT_MMA_ALL(f16)
GRADIENT_MMA_ALL(bf16)
