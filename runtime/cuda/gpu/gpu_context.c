/* The GPU of a context: creation, memory, copies, and launching the kernels of programs. */
#include "cuda/gpu/gpu_inside.h"

#include "base/env.h"
#include "tprt/abi.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>

static cuda_program_calls cuda;

static tprt_status load(void) {
  static const tprt__symbol symbols[] = {
#define ROW(member, symbol, parameters) {symbol, &cuda.member},
      CUDA_PROGRAM_CALLS(ROW)
#undef ROW
          {NULL, NULL}};
  return tprt__cuda_find(&cuda.driver, symbols);
}

struct tprt__gpu_kernels {
  cuda_module module;
  cuda_function *functions; /* NULL: not looked up yet */
  int32_t capacity;
};

tprt_status tprt__gpu_check(const tprt__gpu *gpu, cuda_result result, const char *what) {
  return tprt__device_check(gpu->device, result, what);
}

tprt_status tprt__gpu_enter(const tprt__gpu *gpu) {
  return tprt__gpu_check(gpu, tprt__device_enter(gpu->device, gpu->context), "its context");
}

void tprt__gpu_leave(const tprt__gpu *gpu) { tprt__device_leave(gpu->device); }

/* ---- creation ---- */

static tprt_status choose_device(tprt__gpu *gpu, int rank, int device) {
  int n_devices = 0, ordinal = device - 1;
  tprt_status status =
      tprt__gpu_check(gpu, gpu->device->driver->device_count(&n_devices), "number of devices");
  if (!status && device == 0)
    status = tprt__device_choose(gpu->device, -1, rank % (n_devices > 0 ? n_devices : 1), &ordinal);
  return status
             ? status
             : tprt__gpu_check(gpu, gpu->device->device_get(&gpu->number, ordinal), "the device");
}

static void free_resources(tprt__gpu *gpu) {
  while (gpu->constants) {
    gpu_constant *constant = gpu->constants;
    gpu->constants = constant->next;
    gpu->device->memory_free(constant->memory);
    tprt__free(constant);
  }
  tprt__gpu_side_stream_end(gpu); /* first, because it may still use kernels of sites */
  tprt__gpu_cudnn_end(gpu);
  tprt__gpu_lanes_end(gpu);
  tprt__gpu_sites_end(gpu);
  if (gpu->join_event)
    gpu->device->event_destroy(gpu->join_event);
  if (gpu->stream)
    gpu->device->stream_destroy(gpu->stream);
}

/* Destroys a GPU that may be only partly created. */
static void end(tprt__gpu *gpu) {
  if (gpu->context) {
    bool entered = !tprt__gpu_enter(gpu); /* if not, releasing may still succeed */
    free_resources(gpu);
    if (entered)
      tprt__gpu_leave(gpu);
    gpu->device->context_release(gpu->number);
  }
  tprt__free(gpu->reached);
  tprt__free(gpu);
}

tprt_status tprt__gpu_create(int rank, int device_number, tprt__gpu **result) {
  static tprt__once once = TPRT__ONCE;
  static _Atomic uint64_t n_made;
  const cuda_device_calls *device;
  tprt_status status = tprt__load_once(&once, load);
  if (!status)
    status = tprt__device_load(&device);
  if (status)
    return status;
  tprt__gpu *gpu = tprt__alloc(sizeof *gpu);
  if (!gpu)
    return tprt__fail_memory(sizeof *gpu);
  gpu->device = device;
  gpu->calls = &cuda;
  gpu->identity = atomic_fetch_add(&n_made, 1) + 1;
  status = choose_device(gpu, rank, device_number);
  if (!status)
    status = tprt__gpu_check(gpu, device->context_retain(&gpu->context, gpu->number),
                             "the device's context");
  if (!status)
    status = tprt__gpu_enter(gpu);
  if (!status) {
    status = tprt__gpu_check(gpu, device->stream_create(&gpu->stream, CUDA_STREAM_NON_BLOCKING),
                             "a stream");
    if (!status)
      status = tprt__gpu_check(
          gpu, device->event_create(&gpu->join_event, CUDA_EVENT_DISABLE_TIMING), "an event");
    tprt__gpu_leave(gpu);
  }
  if (status) {
    end(gpu);
    return status;
  }
  *result = gpu;
  return TPRT_OK;
}

void tprt__gpu_destroy(tprt__gpu *gpu) {
  if (gpu)
    end(gpu);
}

/* ---- memory ---- */

tprt_status tprt__gpu_alloc(tprt__gpu *gpu, size_t bytes, void **memory) {
  cuda_address at = 0;
  tprt_status status = tprt__gpu_enter(gpu);
  if (status)
    return status;
  status = tprt__gpu_check(gpu, gpu->device->memory_alloc(&at, bytes ? bytes : 1),
                           "memory of the device");
  tprt__gpu_leave(gpu);
  if (!status)
    *memory = (void *)(uintptr_t)at;
  return status;
}

void tprt__gpu_free(tprt__gpu *gpu, void *memory) {
  if (!memory || tprt__gpu_enter(gpu))
    return;
  gpu->device->memory_free(tprt__cuda_address(memory)); /* waits for the device */
  tprt__gpu_leave(gpu);
}

tprt_status tprt__gpu_copy(tprt__gpu *gpu, void *to, const void *from, size_t bytes) {
  tprt_status status = bytes ? tprt__gpu_enter(gpu) : TPRT_OK;
  if (status || !bytes)
    return status;
  status = tprt__gpu_check(gpu,
                           gpu->device->memory_copy(tprt__cuda_address(to),
                                                    tprt__cuda_address(from), bytes, gpu->stream),
                           "a copy");
  tprt__gpu_leave(gpu);
  return status;
}

tprt_status tprt__gpu_synchronize(tprt__gpu *gpu) {
  tprt_status status = tprt__gpu_enter(gpu);
  if (status)
    return status;
  status = tprt__gpu_check(gpu, cuda.stream_synchronize(gpu->stream), "what was enqueued");
  tprt__gpu_leave(gpu);
  return status;
}

void *tprt__gpu_stream(const tprt__gpu *gpu) { return gpu->stream; }

static tprt_status exchange(tprt__gpu *gpu, cuda_result enqueued) {
  tprt_status status = tprt__gpu_check(gpu, enqueued, "a copy between host and device");
  return status ? status
                : tprt__gpu_check(gpu, cuda.stream_synchronize(gpu->stream), "what was enqueued");
}

tprt_status tprt__gpu_upload(tprt__gpu *gpu, void *to, const void *from, size_t bytes) {
  tprt_status status = bytes ? tprt__gpu_enter(gpu) : TPRT_OK;
  if (status || !bytes)
    return status;
  status = exchange(gpu, cuda.from_host(tprt__cuda_address(to), from, bytes, gpu->stream));
  tprt__gpu_leave(gpu);
  return status;
}

tprt_status tprt__gpu_download(tprt__gpu *gpu, void *to, const void *from, size_t bytes) {
  tprt_status status = bytes ? tprt__gpu_enter(gpu) : TPRT_OK;
  if (status || !bytes)
    return status;
  status = exchange(gpu, cuda.to_host(to, tprt__cuda_address(from), bytes, gpu->stream));
  tprt__gpu_leave(gpu);
  return status;
}

tprt_status tprt__gpu_constant(tprt__gpu *gpu, const void *host, size_t bytes, void **memory) {
  for (gpu_constant *at = gpu->constants; at; at = at->next) {
    if (at->host == host && at->bytes == bytes) {
      *memory = (void *)(uintptr_t)at->memory;
      return TPRT_OK;
    }
  }
  void *made;
  tprt_status status = tprt__gpu_alloc(gpu, bytes, &made);
  if (status)
    return status;
  gpu_constant *constant = tprt__alloc(sizeof *constant);
  status =
      constant ? tprt__gpu_upload(gpu, made, host, bytes) : tprt__fail_memory(sizeof *constant);
  if (status) {
    tprt__gpu_free(gpu, made);
    tprt__free(constant);
    return status;
  }
  *constant = (gpu_constant){
      .next = gpu->constants, .host = host, .bytes = bytes, .memory = tprt__cuda_address(made)};
  gpu->constants = constant;
  *memory = made;
  return TPRT_OK;
}

/* ---- kernels ---- */

tprt_status tprt__gpu_kernels_load(tprt__gpu *gpu, const char *ptx, tprt__gpu_kernels **result) {
  tprt__gpu_kernels *kernels = tprt__alloc(sizeof *kernels);
  if (!kernels)
    return tprt__fail_memory(sizeof *kernels);
  tprt_status status = tprt__gpu_enter(gpu);
  if (!status) {
    status = tprt__gpu_check(gpu, cuda.module_load(&kernels->module, ptx), "the program's kernels");
    tprt__gpu_leave(gpu);
  }
  if (status) {
    tprt__free(kernels);
    return status;
  }
  *result = kernels;
  return TPRT_OK;
}

void tprt__gpu_kernels_free(tprt__gpu *gpu, tprt__gpu_kernels *kernels) {
  if (!kernels)
    return;
  if (!tprt__gpu_enter(gpu)) {
    cuda.stream_synchronize(gpu->stream); /* none of them may be running */
    cuda.module_unload(kernels->module);
    tprt__gpu_leave(gpu);
  }
  tprt__free(kernels->functions);
  tprt__free(kernels);
}

static tprt_status find_function(const tprt__gpu *gpu, tprt__gpu_kernels *kernels, int32_t number) {
  enum { ROOM = 64 };
  if (number >= kernels->capacity) {
    int32_t capacity = (number / ROOM + 1) * ROOM;
    cuda_function *functions = tprt__alloc((size_t)capacity * sizeof(cuda_function)); /* zeroed */
    if (!functions)
      return tprt__fail_memory((size_t)capacity * sizeof(cuda_function));
    for (int32_t i = 0; i < kernels->capacity; i++)
      functions[i] = kernels->functions[i];
    tprt__free(kernels->functions);
    kernels->functions = functions;
    kernels->capacity = capacity;
  }
  if (kernels->functions[number])
    return TPRT_OK;
  char name[32];
  snprintf(name, sizeof name, "tp_kernel%d", number);
  return tprt__gpu_check(
      gpu, cuda.module_function(&kernels->functions[number], kernels->module, name), name);
}

static tprt_status enqueue(const tprt__gpu *gpu, tprt__gpu_kernels *kernels, int32_t number,
                           unsigned n_blocks, unsigned n_threads, const uint64_t *arguments,
                           int32_t n_arguments) {
  const void *pointers[TPRT_KERNEL_ARGUMENTS];
  char name[32];
  tprt_status status = find_function(gpu, kernels, number);
  if (status)
    return status;
  for (int32_t i = 0; i < n_arguments; i++)
    pointers[i] = arguments + i;
  snprintf(name, sizeof name, "tp_kernel%d", number);
  return tprt__gpu_check(gpu,
                         cuda.kernel(kernels->functions[number], n_blocks, 1, 1, n_threads, 1, 1, 0,
                                     gpu->stream, (void **)(uintptr_t)pointers, NULL),
                         name);
}

tprt_status tprt__gpu_launch(tprt__gpu *gpu, tprt__gpu_kernels *kernels, int32_t number,
                             int64_t n_blocks, int32_t n_threads, const uint64_t *arguments,
                             int32_t n_arguments) {
  enum { MAX_KERNELS = 1 << 20, MAX_THREADS = 1024 };
  if (number < 0 || number >= MAX_KERNELS || n_blocks < 1 || n_blocks > INT_MAX || n_threads < 1 ||
      n_threads > MAX_THREADS || n_arguments < 0 || n_arguments > TPRT_KERNEL_ARGUMENTS) {
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "launch of kernel %d on %lld blocks of %d threads with %d arguments", number,
                      (long long)n_blocks, n_threads, n_arguments);
  }
  tprt_status status = tprt__gpu_enter(gpu);
  if (status)
    return status;
  status = enqueue(gpu, kernels, number, (unsigned)n_blocks, (unsigned)n_threads, arguments,
                   n_arguments);
  tprt__gpu_leave(gpu);
  return status;
}
