/* Compiled if there is a toolkit: checks that the library's constants, types and function
 * signatures equal those of its header. */
#include <cuda.h>

#include "cuda/driver/device.h"
#include "cuda/fused/launch.h"

#include <stddef.h>

#define SAME_RESULT CUresult
#include "test/runtime/harness/same_header.h"

SAME(CUDA_RESULT_SUCCESS, CUDA_SUCCESS);
SAME(CUDA_RESULT_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
SAME(CUDA_RESULT_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
SAME(CUDA_RESULT_NOT_READY, CUDA_ERROR_NOT_READY);
SAME(CUDA_RESULT_PEER_ACCESS_ALREADY_ENABLED, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
SAME(CUDA_MULTIPROCESSORS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(CUDA_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(CUDA_CAPABILITY_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(CUDA_COOPERATIVE, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
SAME(CUDA_MOST_DYNAMIC_SHARED_BYTES, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(CUDA_POINTER_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME(CUDA_POINTER_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
SAME(CUDA_MEMORY_DEVICE, CU_MEMORYTYPE_DEVICE);
SAME(CUDA_MEMORY_UNIFIED, CU_MEMORYTYPE_UNIFIED);
SAME(CUDA_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
SAME(CUDA_EVENT_DISABLE_TIMING, CU_EVENT_DISABLE_TIMING);
SAME(CUDA_CAPTURE_NONE, CU_STREAM_CAPTURE_STATUS_NONE);
SAME(CUDA_CAPTURE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME(CUDA_IPC_ENABLE_PEERS, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
SAME(sizeof(cuda_result), sizeof(CUresult));
SAME(sizeof(cuda_address), sizeof(CUdeviceptr));
SAME(sizeof(cuda_uuid), sizeof(CUuuid));
SAME(sizeof(cuda_ipc_handle), sizeof(CUipcMemHandle));
SAME(sizeof(cuda_copy_2d), sizeof(CUDA_MEMCPY2D));
SAME(offsetof(cuda_copy_2d, source), offsetof(CUDA_MEMCPY2D, srcDevice));
SAME(offsetof(cuda_copy_2d, source_type), offsetof(CUDA_MEMCPY2D, srcMemoryType));
SAME(offsetof(cuda_copy_2d, source_pitch), offsetof(CUDA_MEMCPY2D, srcPitch));
SAME(offsetof(cuda_copy_2d, target), offsetof(CUDA_MEMCPY2D, dstDevice));
SAME(offsetof(cuda_copy_2d, target_type), offsetof(CUDA_MEMCPY2D, dstMemoryType));
SAME(offsetof(cuda_copy_2d, target_pitch), offsetof(CUDA_MEMCPY2D, dstPitch));
SAME(offsetof(cuda_copy_2d, width), offsetof(CUDA_MEMCPY2D, WidthInBytes));
SAME(offsetof(cuda_copy_2d, height), offsetof(CUDA_MEMCPY2D, Height));

SAME_PARAMETERS(cuCtxGetCurrent, cuda_context *);
SAME_PARAMETERS(cuModuleLoadData, cuda_module *, const void *);
SAME_PARAMETERS(cuModuleGetFunction, cuda_function *, cuda_module, const char *);
SAME_PARAMETERS(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *, cuda_function, int, size_t);
SAME_PARAMETERS(cuLaunchKernel, cuda_function, unsigned, unsigned, unsigned, unsigned, unsigned,
                unsigned, unsigned, cuda_stream, void **, void **);
SAME_PARAMETERS(cuLaunchCooperativeKernel, cuda_function, unsigned, unsigned, unsigned, unsigned,
                unsigned, unsigned, unsigned, cuda_stream, void **);
SAME_PARAMETERS(cuMemcpyDtoH_v2, void *, cuda_address, size_t);
SAME_PARAMETERS(cuDeviceCanAccessPeer, int *, int, int);
SAME_PARAMETERS(cuCtxEnablePeerAccess, cuda_context, unsigned);
SAME_PARAMETERS(cuIpcCloseMemHandle, cuda_address);
SAME_PARAMETERS(cuDevicePrimaryCtxRetain, cuda_context *, int);
SAME_PARAMETERS(cuDevicePrimaryCtxRelease_v2, int);
SAME_PARAMETERS(cuCtxPushCurrent_v2, cuda_context);
SAME_PARAMETERS(cuCtxPopCurrent_v2, cuda_context *);
SAME_PARAMETERS(cuStreamCreate, cuda_stream *, unsigned);
SAME_PARAMETERS(cuCtxGetStreamPriorityRange, int *, int *);
SAME_PARAMETERS(cuStreamCreateWithPriority, cuda_stream *, unsigned, int);
SAME_PARAMETERS(cuStreamDestroy_v2, cuda_stream);
SAME_PARAMETERS(cuStreamWaitEvent, cuda_stream, cuda_event, unsigned);
SAME_PARAMETERS(cuEventCreate, cuda_event *, unsigned);
SAME_PARAMETERS(cuEventDestroy_v2, cuda_event);
SAME_PARAMETERS(cuEventRecord, cuda_event, cuda_stream);
SAME_PARAMETERS(cuEventQuery, cuda_event);
SAME_PARAMETERS(cuEventSynchronize, cuda_event);
SAME_PARAMETERS(cuEventElapsedTime, float *, cuda_event, cuda_event);
SAME_PARAMETERS(cuDeviceGetName, char *, int, int);
SAME_PARAMETERS(cuMemAlloc_v2, cuda_address *, size_t);
SAME_PARAMETERS(cuMemFree_v2, cuda_address);
SAME_PARAMETERS(cuMemsetD8Async, cuda_address, unsigned char, size_t, cuda_stream);
SAME_PARAMETERS(cuMemcpyAsync, cuda_address, cuda_address, size_t, cuda_stream);
SAME_PARAMETERS(cuMemcpyDtoDAsync_v2, cuda_address, cuda_address, size_t, cuda_stream);
