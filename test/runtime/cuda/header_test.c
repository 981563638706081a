/* Compiled where there is a toolkit: our numbers and types are those of its header, and the functions have our parameters. */
#include <cuda.h>

#include "cuda/launch.h"

_Static_assert((int)CUDA_RESULT_SUCCESS == (int)CUDA_SUCCESS, "success");
_Static_assert((int)CUDA_RESULT_NO_DEVICE == (int)CUDA_ERROR_NO_DEVICE, "no device");
_Static_assert((int)LAUNCH_MULTIPROCESSORS == (int)CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, "multiprocessors");
_Static_assert((int)LAUNCH_CAPABILITY_MAJOR == (int)CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, "major");
_Static_assert((int)LAUNCH_CAPABILITY_MINOR == (int)CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, "minor");
_Static_assert((int)LAUNCH_COOPERATIVE == (int)CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, "cooperative");
_Static_assert(sizeof(cuda_result) == sizeof(CUresult), "results");
_Static_assert(sizeof(launch_address) == sizeof(CUdeviceptr), "addresses");

/* Handles are pointers to the same structs; results are enums there, so only the parameters are compared. */
#define SAME_PARAMETERS(function, ...) _Static_assert(_Generic(&function, CUresult (*)(__VA_ARGS__): 1, default: 0), #function)
SAME_PARAMETERS(cuCtxGetCurrent, launch_context *);
SAME_PARAMETERS(cuModuleLoadData, launch_module *, const void *);
SAME_PARAMETERS(cuModuleGetFunction, launch_function *, launch_module, const char *);
SAME_PARAMETERS(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *, launch_function, int, size_t);
SAME_PARAMETERS(cuLaunchKernel, launch_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                launch_stream, void **, void **);
SAME_PARAMETERS(cuLaunchCooperativeKernel, launch_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                unsigned, launch_stream, void **);
SAME_PARAMETERS(cuMemcpyDtoH_v2, void *, launch_address, size_t);
