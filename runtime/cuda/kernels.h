/* All fused kernels, for every type of element. */
#ifndef TPRT_RUNTIME_CUDA_KERNELS_H
#define TPRT_RUNTIME_CUDA_KERNELS_H

#include "cuda/kernel.h"

#include "cuda/exchange.h"

#define ELEMENT f32
#include "cuda/element_kernels.h"
#define ELEMENT f16
#include "cuda/element_kernels.h"
#define ELEMENT bf16
#include "cuda/element_kernels.h"

#endif
