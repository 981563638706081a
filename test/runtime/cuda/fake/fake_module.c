/* Kernels of modules, for fake drivers. The library's own kernels run as host code, one thread per
 * CTA. All other PTX runs on the PTX machine, and with FAKE_PTX the library's kernels do too;
 * FAKE_PTX is the path of their PTX text, which their fat binary hides. A failed launch prints the
 * reason on stderr and returns an error. FAKE_TRAFFIC is a file to which the process, at its end,
 * appends the number of PTX launches and the bytes they moved to and from global memory. */
#define _GNU_SOURCE 1
#include "fake_module.h"

#include "test/runtime/cuda/kernels/machine.h"
#include "test/runtime/cuda/ptx/ptx.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CUfunc_st {
  int device;
  uint32_t shared_bytes; /* that a launch may ask for; 0: as all */
  const ptx_kernel *ptx; /* NULL: runs `kernel` as host code */
  fused_kernel kernel;
};

struct CUmod_st {
  int device;
  bool is_kept;    /* the PTX is shared */
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
    module = ptx_open(text, error);
  if (file)
    fclose(file);
  free(text);
  return module;
}

typedef ptx_module *load_fn(const char *from, char error[PTX_TEXT]);

/* Loads the library's own PTX, a text or the file with this path, and keeps it: many tests load it
 * often. Of its many kernels those that run are parsed. */
static ptx_module *load_once(load_fn *load, const char *from, char error[PTX_TEXT], bool *is_kept) {
  enum { MOST_KEPT = 8 };
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static struct {
    const char *from;
    ptx_module *module;
  } kept[MOST_KEPT];
  int i = 0;
  pthread_mutex_lock(&lock);
  while (i < MOST_KEPT && kept[i].module && kept[i].from != from)
    i++;
  ptx_module *found = i < MOST_KEPT && kept[i].module ? kept[i].module : load(from, error);
  if (found && i < MOST_KEPT) {
    kept[i].from = from;
    kept[i].module = found;
    *is_kept = true;
  }
  pthread_mutex_unlock(&lock);
  return found;
}

cuda_result fake_load(cuda_module *loaded, const void *image, int device) {
  static const unsigned char fat_binary[] = {0x50, 0xed, 0x55, 0xba};
  const char *path = getenv("FAKE_PTX");
  bool fat = memcmp(image, fat_binary, sizeof fat_binary) == 0;
  bool ours = fat || strncmp(image, "// Generated from kernels.cu", 28) == 0;
  char error[PTX_TEXT];
  struct CUmod_st module = {.device = device};
  if (!ours || path) {
    bool is_text = strncmp(image, "// Generated from ", 18) == 0;
    module.ptx = fat       ? load_once(load_file, path, error, &module.is_kept)
                 : is_text ? load_once(ptx_open, image, error, &module.is_kept)
                           : ptx_load(image, error);
    if (!module.ptx) {
      fprintf(stderr, "PTX: %s\n", error);
      return FAKE_MODULE_INVALID;
    }
  }
  *loaded = malloc(sizeof **loaded);
  if (!*loaded)
    abort();
  **loaded = module;
  return CUDA_RESULT_SUCCESS;
}

void fake_unload(cuda_module module) {
  for (int i = 0; i < module->n_functions; i++)
    free(module->functions[i]);
  if (!module->is_kept)
    ptx_unload(module->ptx);
  free(module);
}

cuda_result fake_find(cuda_function *function, cuda_module module, const char *name) {
  struct CUfunc_st found = {.device = module->device,
                            .ptx = module->ptx ? ptx_find(module->ptx, name) : NULL};
  while (!module->ptx && found.kernel < FUSED_N_KERNELS &&
         strcmp(name, tprt__fused_names[found.kernel]) != 0)
    found.kernel++;
  if (module->ptx ? !found.ptx : found.kernel == FUSED_N_KERNELS)
    return FAKE_MODULE_NOT_FOUND;
  for (int i = 0; i < module->n_functions; i++)
    if (module->functions[i]->ptx == found.ptx && module->functions[i]->kernel == found.kernel) {
      *function = module->functions[i];
      return CUDA_RESULT_SUCCESS;
    }
  if (module->n_functions == sizeof module->functions / sizeof *module->functions)
    return FAKE_MODULE_NOT_FOUND;
  *function = malloc(sizeof **function);
  if (!*function)
    abort();
  **function = found;
  module->functions[module->n_functions++] = *function;
  return CUDA_RESULT_SUCCESS;
}

int fake_device_of(cuda_function function) { return function->device; }

bool fake_is_ptx(cuda_function function) { return function->ptx; }

/* ---- Properties ---- */

void fake_capability(int *major, int *minor) {
  const char *given = getenv("FAKE_CAPABILITY");
  *major = given ? given[0] - '0' : 9;
  *minor = given ? given[2] - '0' : 0;
}

cuda_result fake_set_attribute(cuda_function function, int attribute, int value) {
  if (attribute != CUDA_MOST_DYNAMIC_SHARED_BYTES || value < 0 || value > PTX_MOST_SHARED)
    return FAKE_MODULE_BAD_LAUNCH;
  function->shared_bytes = (uint32_t)value;
  return CUDA_RESULT_SUCCESS;
}

bool fake_has_shared(const fake_launch *l) {
  enum { OF_ALL = 48 << 10 };
  uint32_t most = l->function->shared_bytes;
  return l->shared_bytes <= (most > OF_ALL ? most : OF_ALL);
}

/* ---- Traffic ---- */

static uint64_t n_launches, n_sectors;

__attribute__((destructor)) static void report_traffic(void) {
  const char *path = getenv("FAKE_TRAFFIC");
  FILE *file = path ? fopen(path, "a") : NULL;
  if (file) {
    fprintf(file, "%llu launches, %llu bytes\n", (unsigned long long)n_launches,
            (unsigned long long)n_sectors * PTX_SECTOR);
    fclose(file);
  }
}

/* ---- Launches ---- */

void *fake_parameters(cuda_function function, void *const *parameters) {
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

cuda_result fake_run(const fake_launch *l) {
  static const cuda_result results[] = {[PTX_OK] = CUDA_RESULT_SUCCESS,
                                        [PTX_BAD_LAUNCH] = FAKE_MODULE_BAD_LAUNCH,
                                        [PTX_BAD_ADDRESS] = FAKE_MODULE_BAD_ADDRESS,
                                        [PTX_MISALIGNED] = FAKE_MODULE_MISALIGNED,
                                        [PTX_FAULT] = FAKE_MODULE_FAILED};
  char error[PTX_TEXT];
  if (!l->function->ptx) {
    machine_grid(l->function->kernel, l->parameters, l->grid[0], l->grid[1], l->block[0]);
    return CUDA_RESULT_SUCCESS;
  }
  ptx_launch p = {.shared_bytes = l->shared_bytes,
                  .parameters = l->parameters,
                  .memory = {l->find, NULL},
                  .n_resident = FAKE_RESIDENT};
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
