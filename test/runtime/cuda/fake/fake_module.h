/* Modules and launches of fake drivers. */
#ifndef TPRT_TEST_CUDA_FAKE_MODULE_H
#define TPRT_TEST_CUDA_FAKE_MODULE_H

#include "cuda/driver/driver.h"

/* Properties of the fake GPU, and the number of resident CTAs. */
enum {
  FAKE_MULTIPROCESSORS = 4,
  FAKE_CTAS_EACH = 2,
  FAKE_RESIDENT = FAKE_MULTIPROCESSORS * FAKE_CTAS_EACH
};

/* Results of cuda.h. */
enum {
  FAKE_MODULE_BAD_LAUNCH = 1,
  FAKE_MODULE_INVALID = 218,
  FAKE_MODULE_NOT_FOUND = 500,
  FAKE_MODULE_BAD_ADDRESS = 700,
  FAKE_MODULE_MISALIGNED = 716,
  FAKE_MODULE_FAILED = 719
};

/* Finds the allocation that contains an address. */
typedef bool fake_find_fn(void *user, uint64_t address, uint64_t *begin, uint64_t *end);

typedef struct fake_launch {
  cuda_function function;
  uint32_t grid[3], block[3], shared_bytes;
  void *parameters; /* a block of parameters */
  fake_find_fn *find;
} fake_launch;

/* Any thread. A module and its functions belong to the context of a device. */
cuda_result fake_load(cuda_module *module, const void *image, int device);
int fake_device_of(cuda_function function);
void fake_unload(cuda_module module);
cuda_result fake_find(cuda_function *function, cuda_module module, const char *name);
/* Returns true if the function runs on the PTX machine; else it is one of the library's kernels,
 * whose CTAs run concurrently. */
bool fake_is_ptx(cuda_function function);
/* Allocates a block of parameters; the caller frees it. */
void *fake_parameters(cuda_function function, void *const *parameters);
cuda_result fake_run(const fake_launch *launch);

/* The compute capability of the fake GPU: 9.0, or that of the environment variable
 * FAKE_CAPABILITY, such as 8.0. */
void fake_capability(int *major, int *minor);
/* Sets an attribute of a function: of all, the dynamic shared memory that launches may ask for. */
cuda_result fake_set_attribute(cuda_function function, int attribute, int value);
/* False if a launch asks for more shared memory than all kernels may, and its function has not been
 * given that attribute. */
bool fake_has_shared(const fake_launch *launch);

#endif
