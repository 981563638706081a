/* A machine that runs PTX on the host, so that kernels can be tested without a GPU: those that nvcc
 * and LLVM's NVPTX back end write.
 *
 * What it does as a GPU does: CTAs of threads, warps of 32 that may diverge, shared memory,
 * barriers, shuffles, memory order between CTAs, rounding, NaN (the canonical one of each type).
 * Approximate instructions (ex2.approx, rsqrt.approx, ...) give the nearest number, a GPU one
 * within the error that the manual of PTX allows.
 *
 * What it finds, each with kernel, CTA, thread, line and text of the instruction:
 *   - accesses outside of all allocations, outside of shared, local and parameter memory, and
 *     misaligned ones;
 *   - shared memory that is read before it was written, or that two threads touch with no barrier
 *     between, one of them writing;
 *   - threads of a warp at different barriers; shuffles and barriers that wait for threads that
 *     never come. What it cannot find: races in global memory, and whether a program is fast.
 *
 * Not there, and refused by ptx_load with the line: tensor cores, textures, asynchronous copies,
 * calls that are not inlined, clusters, dynamic parallelism. */
#ifndef TPRT_TEST_CUDA_PTX_H
#define TPRT_TEST_CUDA_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  PTX_WARP = 32,
  PTX_MOST_THREADS = 1024,
  PTX_MOST_SHARED = 227 * 1024,
  PTX_TEXT = 1024,
  PTX_SECTOR = 32
};

typedef struct ptx_module ptx_module;
typedef struct ptx_kernel ptx_kernel;

/* A module of PTX text, which is copied; ptx_unload frees it. NULL and the reason in `error` for
 * text that is wrong or that has something this machine has not. */
ptx_module *ptx_load(const char *text, char error[PTX_TEXT]);
void ptx_unload(ptx_module *module);

/* A kernel of a module, NULL: none. It lives as long as the module. */
const ptx_kernel *ptx_find(const ptx_module *module, const char *name);

/* A variable of a module in global or constant memory; its address, 0: none. */
uint64_t ptx_variable(const ptx_module *module, const char *name, size_t *bytes);

/* Of a kernel's parameters: how many; place and size of one in the block of them. */
int ptx_n_parameters(const ptx_kernel *kernel);
size_t ptx_parameter(const ptx_kernel *kernel, int number, size_t *bytes);
size_t ptx_parameter_bytes(const ptx_kernel *kernel);

/* Where global memory is. */
typedef struct ptx_memory {
  /* The allocation around an address: from *begin to before *end. false: none. Any thread. */
  bool (*find)(void *user, uint64_t address, uint64_t *begin, uint64_t *end);
  void *user;
} ptx_memory;

typedef struct ptx_launch {
  uint32_t grid[3], block[3];
  uint32_t shared_bytes;  /* of .extern .shared */
  const void *parameters; /* the block of them: ptx_parameter_bytes */
  ptx_memory memory;
  /* CTAs that run at the same time, each on a thread of the host; others wait for their turn */
  int n_resident;
  /* a CTA that has executed so many instructions of warps is given up; 0: none is */
  uint64_t most_rounds;
  /* if not NULL, is added the sectors of global memory that loads and stores touch */
  uint64_t *sectors;
} ptx_launch;

typedef enum ptx_result {
  PTX_OK,
  PTX_BAD_LAUNCH, /* nothing ran */
  PTX_BAD_ADDRESS,
  PTX_MISALIGNED,
  PTX_FAULT, /* everything else */
} ptx_result;

/* Runs a grid and waits for it. Any number of threads may run the same kernel. After an error
 * memory is as the threads left it. */
ptx_result ptx_run(const ptx_kernel *kernel, const ptx_launch *launch, char error[PTX_TEXT]);

#endif
