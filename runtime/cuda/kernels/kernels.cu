/* The fused kernels, compiled for GPUs. */
#include "cuda/kernels/kernels.cuh"
