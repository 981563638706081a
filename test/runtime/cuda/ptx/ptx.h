/* A machine that runs PTX on the host, to test kernels without a GPU: those that nvcc and LLVM's
 * NVPTX back end generate.
 *
 * It models: CTAs of threads, warps of 32 threads that may diverge, shared memory, barriers,
 * shuffles, memory order between CTAs, rounding, NaN (the canonical one of each type). Approximate
 * instructions (ex2.approx, rsqrt.approx, ...) give the nearest number; a GPU gives one within the
 * error bound of the PTX manual.
 *
 * It detects, with kernel, CTA, thread, line and text of the instruction:
 *   - misaligned accesses, and accesses outside of allocations, shared, local and parameter memory;
 *   - reads of uninitialized shared memory, and races in it: accesses of two threads without a
 *     barrier between them, at least one a write;
 *   - asynchronous copies that are read before they are waited for;
 *   - threads of a warp at different barriers; shuffles, products of matrices and barriers that
 *     wait for missing threads; a barrier for different numbers of threads; warps that wait for
 *     registers (setmaxnreg) that no other gives back;
 *   - products of warpgroups (wgmma) whose operands are written while they run, are not visible to
 *     the async proxy, or lie at an address that their descriptor cannot have; registers of theirs
 *     that are written before the wait, or after the last wgmma.fence; warps of a group that
 *     execute different ones. Accumulators are NaN until they are waited for. Not found: registers
 *     that are read too early where the NaN has no effect, or read without a fence between.
 *
 * It cannot detect races in global memory, nor slow programs.
 *
 * Of tensor cores it has mma.sync.m16n8k16 and wgmma.mma_async.m64n64k16 and m64n128k16, of f16 and
 * bf16 with f32 accumulators. They add the 16 exact products and the accumulator and round once; a
 * GPU rounds in between, in an order of its own.
 *
 * ptx_load rejects unsupported features with their line: other forms of matrices, textures, bulk
 * copies, calls that are not inlined, clusters, dynamic parallelism. */
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

/* Loads a module from PTX text, which is copied; ptx_unload frees it. NULL and the reason in
 * `error` if the text is invalid or uses an unsupported feature. */
ptx_module *ptx_load(const char *text, char error[PTX_TEXT]);
/* The same, but parses each kernel when it runs for the first time. What is wrong with its body is
 * an error of that run. */
ptx_module *ptx_open(const char *text, char error[PTX_TEXT]);
void ptx_unload(ptx_module *module);

/* Returns a kernel of a module; NULL: none. It lives as long as the module. */
const ptx_kernel *ptx_find(const ptx_module *module, const char *name);

/* Returns the address of a module variable in global or constant memory; 0: none. */
uint64_t ptx_variable(const ptx_module *module, const char *name, size_t *bytes);

/* Return the number of a kernel's parameters; and the offset and size of one in the parameter
 * block. */
int ptx_n_parameters(const ptx_kernel *kernel);
size_t ptx_parameter(const ptx_kernel *kernel, int number, size_t *bytes);
size_t ptx_parameter_bytes(const ptx_kernel *kernel);

/* Access to global memory. */
typedef struct ptx_memory {
  /* Finds the allocation that contains an address: from *begin to before *end. false: none. Any
   * thread. */
  bool (*find)(void *user, uint64_t address, uint64_t *begin, uint64_t *end);
  void *user;
} ptx_memory;

typedef struct ptx_launch {
  uint32_t grid[3], block[3];
  uint32_t shared_bytes;  /* of .extern .shared */
  const void *parameters; /* the parameter block: ptx_parameter_bytes */
  ptx_memory memory;
  /* number of CTAs that run concurrently, each on a host thread; the others wait */
  int n_resident;
  /* limit of warp instructions of a CTA, beyond which it is stopped; 0: none */
  uint64_t most_rounds;
  /* if not NULL, incremented by the sectors of global memory that loads and stores access */
  uint64_t *sectors;
} ptx_launch;

typedef enum ptx_result {
  PTX_OK,
  PTX_BAD_LAUNCH, /* nothing ran */
  PTX_BAD_ADDRESS,
  PTX_MISALIGNED,
  PTX_FAULT, /* all other errors */
} ptx_result;

/* Runs a grid and waits for it. Any number of threads may run the same kernel. After an error,
 * memory is as the threads left it. */
ptx_result ptx_run(const ptx_kernel *kernel, const ptx_launch *launch, char error[PTX_TEXT]);

#endif
