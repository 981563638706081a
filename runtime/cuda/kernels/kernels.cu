/* The fused kernels for GPUs. */
#include "cuda/kernels/kernels.cuh"
