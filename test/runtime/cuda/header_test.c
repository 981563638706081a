/* Compiled where there is a toolkit: our numbers and types are those of its header. */
#include <cuda.h>

#include "cuda/driver.h"

_Static_assert((int)CUDA_RESULT_SUCCESS == (int)CUDA_SUCCESS, "success");
_Static_assert((int)CUDA_RESULT_NO_DEVICE == (int)CUDA_ERROR_NO_DEVICE, "no device");
_Static_assert(sizeof(cuda_result) == sizeof(CUresult), "results");
