/* Attention for GPUs of compute capability 9.0 (see attention_kernels.cu for all others). */
#include "cuda/kernels/attention_wgmma.cuh"

#define ATTENTION_WGMMA(name, features)                                                            \
  extern "C" __global__ void __launch_bounds__(ATTENTION_WGMMA_THREADS, 1)                         \
      tprt_attention_##name##_wgmma_##features(const __grid_constant__ attention_args args) {      \
    attend_wgmma<type_##name, features>(args);                                                     \
  }
ATTENTION_WGMMA(f16, 64)
ATTENTION_WGMMA(f16, 128)
ATTENTION_WGMMA(bf16, 64)
ATTENTION_WGMMA(bf16, 128)
