/* Modules and launches. The library's own kernels run as code of the host, one thread for each CTA; all other PTX, and
 * theirs too where FAKE_PTX is set, on the PTX machine. FAKE_PTX is the path of their PTX text, which their fat binary hides. A
 * launch that fails says so on stderr, and in its own result. FAKE_TRAFFIC is a file to which the process, when it ends, adds how many launches of
 * PTX there were, and how many bytes they moved to and from global memory. */
#define _GNU_SOURCE 1
#include "fake_stream.h"
#include "machine.h"
#include "ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESIDENT = FAKE_MULTIPROCESSORS * FAKE_CTAS_EACH };

struct CUfunc_st {
  const ptx_kernel *ptx; /* NULL: kernel, as code of the host */
  fused_kernel kernel;
};

struct CUmod_st {
  ptx_module *ptx; /* NULL: the library's kernels */
  struct CUfunc_st *functions[1024];
  int n_functions;
};

/* ---- Modules ---- */

static ptx_module *load_file(const char *path, char error[PTX_TEXT]) {
  enum { MOST = 16 << 20 };
  char *text = calloc(1, MOST);
  FILE *file = fopen(path, "r");
  ptx_module *module = NULL;
  if (!file || !text || fread(text, 1, MOST - 1, file) == 0)
    snprintf(error, PTX_TEXT, "%s cannot be read", path);
  else
    module = ptx_load(text, error);
  if (file)
    fclose(file);
  free(text);
  return module;
}

cuda_result fake_module_load(cuda_module *loaded, const void *image) {
  static const unsigned char fat_binary[] = {0x50, 0xed, 0x55, 0xba};
  const char *path = getenv("FAKE_PTX");
  bool fat = memcmp(image, fat_binary, sizeof fat_binary) == 0;
  bool ours = fat || strncmp(image, "// Generated from kernels.cu", 28) == 0;
  char error[PTX_TEXT];
  struct CUmod_st module = {.ptx = NULL};
  if (fake_fails_at("load"))
    return fake_fails_at("load");
  if (!ours || path) {
    module.ptx = fat ? load_file(path, error) : ptx_load(image, error);
    if (!module.ptx) {
      fprintf(stderr, "PTX: %s\n", error);
      return FAKE_INVALID_PTX;
    }
  }
  *loaded = malloc(sizeof **loaded);
  if (!*loaded)
    abort();
  **loaded = module;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_module_unload(cuda_module module) {
  for (int i = 0; i < module->n_functions; i++)
    free(module->functions[i]);
  ptx_unload(module->ptx);
  free(module);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_module_function(cuda_function *function, cuda_module module, const char *name) {
  struct CUfunc_st found = {.ptx = module->ptx ? ptx_find(module->ptx, name) : NULL};
  while (!module->ptx && found.kernel < FUSED_N_KERNELS && strcmp(name, tprt__fused_names[found.kernel]) != 0)
    found.kernel++;
  if (module->ptx ? !found.ptx : found.kernel == FUSED_N_KERNELS)
    return FAKE_NOT_FOUND;
  for (int i = 0; i < module->n_functions; i++)
    if (module->functions[i]->ptx == found.ptx && module->functions[i]->kernel == found.kernel) {
      *function = module->functions[i];
      return fake_fails_at("function");
    }
  if (module->n_functions == sizeof module->functions / sizeof *module->functions)
    return FAKE_NOT_FOUND;
  *function = malloc(sizeof **function);
  if (!*function)
    abort();
  **function = found;
  module->functions[module->n_functions++] = *function;
  return fake_fails_at("function");
}

cuda_result fake_occupancy(int *n, cuda_function function, int threads, size_t shared_bytes) {
  (void)function, (void)threads, (void)shared_bytes;
  *n = fake_mode_is("full") ? 0 : FAKE_CTAS_EACH;
  return fake_fails_at("occupancy");
}

/* ---- Traffic ---- */

static uint64_t n_launches, n_sectors;

__attribute__((destructor)) static void report_traffic(void) {
  const char *path = getenv("FAKE_TRAFFIC");
  FILE *file = path ? fopen(path, "a") : NULL;
  if (file) {
    fprintf(file, "%llu launches, %llu bytes\n", (unsigned long long)n_launches, (unsigned long long)n_sectors * PTX_SECTOR);
    fclose(file);
  }
}

/* ---- Launches ---- */

typedef struct launch {
  cuda_function function;
  uint32_t grid[3], block[3], shared_bytes;
  void *parameters; /* a block of them */
} launch;

/* A function of the host's in a stream. */
typedef struct host_call {
  void (*host)(void *data);
  void *data;
} host_call;

static void *parameter_block(cuda_function function, void *const *parameters) {
  size_t bytes = function->ptx ? ptx_parameter_bytes(function->ptx) : sizeof(fused_args);
  unsigned char *block = calloc(1, bytes ? bytes : 1);
  if (!block)
    abort();
  if (!function->ptx)
    return memcpy(block, parameters[0], bytes);
  for (int i = 0; i < ptx_n_parameters(function->ptx); i++) {
    size_t size, at = ptx_parameter(function->ptx, i, &size);
    memcpy(block + at, parameters[i], size);
  }
  return block;
}

static cuda_result run(void *data) {
  const launch *l = data;
  static const cuda_result results[] = {[PTX_OK] = CUDA_RESULT_SUCCESS,
                                        [PTX_BAD_LAUNCH] = FAKE_INVALID_VALUE,
                                        [PTX_BAD_ADDRESS] = FAKE_ILLEGAL_ADDRESS,
                                        [PTX_MISALIGNED] = FAKE_MISALIGNED_ADDRESS,
                                        [PTX_FAULT] = FAKE_LAUNCH_FAILED};
  char error[PTX_TEXT];
  if (!l->function->ptx) {
    machine_grid(l->function->kernel, l->parameters, l->grid[0], l->grid[1], l->block[0]);
    return CUDA_RESULT_SUCCESS;
  }
  ptx_launch p = {
      .shared_bytes = l->shared_bytes, .parameters = l->parameters, .memory = {fake_find_memory, NULL}, .n_resident = RESIDENT};
  memcpy(p.grid, l->grid, sizeof p.grid);
  memcpy(p.block, l->block, sizeof p.block);
  if (getenv("FAKE_TRAFFIC")) {
    p.sectors = &n_sectors;
    __atomic_fetch_add(&n_launches, 1, __ATOMIC_RELAXED);
  }
  ptx_result result = ptx_run(l->function->ptx, &p, error);
  if (result)
    fprintf(stderr, "PTX: %s\n", error);
  return results[result];
}

static void release(void *data) {
  launch *l = data;
  free(l->parameters);
  free(l);
}

/* ---- The calls ---- */

static cuda_result call_host(void *data) {
  const host_call *call = data;
  call->host(call->data);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_host_call(cuda_stream stream, void (*host)(void *data), void *data) {
  host_call *call = malloc(sizeof *call);
  if (!call)
    abort();
  *call = (host_call){host, data};
  return fake_enqueue(stream, (fake_task){.run = call_host, .data = call});
}

/* All CTAs of the library's kernels run at the same time, whichever way they are launched: they wait for each other. */
static cuda_result launch_kernel(cuda_stream stream, const launch *given, bool cooperative, void **parameters) {
  launch l = *given;
  if (++fake_streams.n_launches == fake_streams.lose_launch)
    return CUDA_RESULT_SUCCESS;
  uint64_t n_ctas = (uint64_t)l.grid[0] * l.grid[1] * l.grid[2];
  if ((cooperative || !l.function->ptx) && n_ctas > RESIDENT)
    return FAKE_TOO_LARGE;
  if (n_ctas == 0 || l.block[0] == 0)
    return FAKE_INVALID_VALUE;
  if (!l.function->ptx && (l.block[0] > FUSED_THREADS || l.block[0] % FUSED_WARP))
    return FAKE_INVALID_VALUE;
  fake_note_launch();
  l.parameters = parameter_block(l.function, parameters);
  launch *kept = malloc(sizeof *kept);
  if (!kept)
    abort();
  *kept = l;
  cuda_result result = fake_enqueue(stream, (fake_task){.run = run, .release = release, .data = kept});
  return result ? result : fake_fails_at("launch");
}

cuda_result fake_kernel(cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, cuda_stream stream, void **parameters,
                        void **extra) {
  launch l = {.function = function,
              .grid = {grid_x, grid_y, grid_z},
              .block = {block_x, block_y, block_z},
              .shared_bytes = shared_bytes};
  return extra ? FAKE_INVALID_VALUE : launch_kernel(stream, &l, false, parameters);
}

cuda_result fake_cooperative_kernel(cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                    unsigned block_y, unsigned block_z, unsigned shared_bytes, cuda_stream stream,
                                    void **parameters) {
  launch l = {.function = function,
              .grid = {grid_x, grid_y, grid_z},
              .block = {block_x, block_y, block_z},
              .shared_bytes = shared_bytes};
  return launch_kernel(stream, &l, true, parameters);
}
