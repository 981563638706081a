/* All fused kernels, instantiated for every element type. */
#ifndef TPRT_RUNTIME_CUDA_KERNELS_H
#define TPRT_RUNTIME_CUDA_KERNELS_H

#include "cuda/kernels/kernel.cuh"

#include "cuda/kernels/exchange.cuh"

#define ELEMENT f32
#include "cuda/kernels/element_kernels.cuh"
#define ELEMENT f16
#include "cuda/kernels/element_kernels.cuh"
#define ELEMENT bf16
#include "cuda/kernels/element_kernels.cuh"

#endif
