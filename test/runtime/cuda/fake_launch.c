/* Modules, launches and graphs of them. The library's own kernels run as code of the host, one thread for each CTA; all other PTX, and
 * theirs too where FAKE_PTX is set, on the PTX machine. FAKE_PTX is the path of their PTX text, which their fat binary hides. A
 * launch that fails says so on stderr, and in its own result. */
#define _GNU_SOURCE 1
#include "fake_driver.h"
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

/* ---- Launches ---- */

typedef struct launch {
  cuda_function function;
  uint32_t grid[3], block[3], shared_bytes;
  void *parameters;         /* a block of them */
  void (*host)(void *data); /* instead of a kernel, a function of the host */
  void *data;
} launch;

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

static cuda_result run(const launch *l) {
  static const cuda_result results[] = {[PTX_OK] = CUDA_RESULT_SUCCESS,
                                        [PTX_BAD_LAUNCH] = FAKE_INVALID_VALUE,
                                        [PTX_BAD_ADDRESS] = FAKE_ILLEGAL_ADDRESS,
                                        [PTX_MISALIGNED] = FAKE_MISALIGNED_ADDRESS,
                                        [PTX_FAULT] = FAKE_LAUNCH_FAILED};
  char error[PTX_TEXT];
  if (l->host) {
    l->host(l->data);
    return CUDA_RESULT_SUCCESS;
  }
  if (!l->function->ptx) {
    machine_grid(l->function->kernel, l->parameters, l->grid[0], l->grid[1], l->block[0]);
    return CUDA_RESULT_SUCCESS;
  }
  ptx_launch p = {
      .shared_bytes = l->shared_bytes, .parameters = l->parameters, .memory = {fake_find_memory, NULL}, .n_resident = RESIDENT};
  memcpy(p.grid, l->grid, sizeof p.grid);
  memcpy(p.block, l->block, sizeof p.block);
  ptx_result result = ptx_run(l->function->ptx, &p, error);
  if (result)
    fprintf(stderr, "PTX: %s\n", error);
  return results[result];
}

/* ---- Graphs ---- */

struct CUgraph_st {
  size_t n;
  launch *launches;
};
struct CUgraphExec_st {
  struct CUgraph_st graph;
};
static cuda_graph captured;

bool fake_capturing(void) { return captured != NULL; }

static cuda_result run_or_record(const launch *l) {
  if (captured) {
    captured->launches = realloc(captured->launches, (captured->n + 1) * sizeof *l);
    if (!captured->launches)
      abort();
    captured->launches[captured->n++] = *l;
    return CUDA_RESULT_SUCCESS;
  }
  cuda_result result = run(l);
  free(l->parameters);
  return result;
}

cuda_result fake_capture_begin(cuda_stream stream, int mode) {
  (void)stream, (void)mode;
  if (captured)
    return FAKE_INVALID_VALUE;
  captured = calloc(1, sizeof *captured);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_capture_end(cuda_stream stream, cuda_graph *graph) {
  (void)stream;
  *graph = captured;
  captured = NULL;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_instantiate(cuda_program *program, cuda_graph graph, unsigned long long flags) {
  (void)flags;
  *program = malloc(sizeof **program);
  (*program)->graph = *graph;
  *graph = (struct CUgraph_st){0};
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_replay(cuda_program program, cuda_stream stream) {
  cuda_result result = CUDA_RESULT_SUCCESS;
  (void)stream;
  for (size_t i = 0; i < program->graph.n && !result; i++)
    result = run(&program->graph.launches[i]);
  return result;
}

static void free_launches(cuda_graph graph) {
  for (size_t i = 0; i < graph->n; i++)
    free(graph->launches[i].parameters);
  free(graph->launches);
}

cuda_result fake_program_destroy(cuda_program program) {
  free_launches(&program->graph);
  free(program);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_graph_destroy(cuda_graph graph) {
  free_launches(graph);
  free(graph);
  return CUDA_RESULT_SUCCESS;
}

/* ---- The calls ---- */

cuda_result fake_host_call(cuda_stream stream, void (*host)(void *data), void *data) {
  const launch l = {.host = host, .data = data};
  (void)stream;
  return run_or_record(&l);
}

/* All CTAs of the library's kernels run at the same time, whichever way they are launched: they wait for each other. */
static cuda_result launch_kernel(const launch *given, bool cooperative, void **parameters) {
  launch l = *given;
  uint64_t n_ctas = (uint64_t)l.grid[0] * l.grid[1] * l.grid[2];
  if ((cooperative || !l.function->ptx) && n_ctas > RESIDENT)
    return FAKE_TOO_LARGE;
  if (n_ctas == 0 || l.block[0] == 0)
    return FAKE_INVALID_VALUE;
  if (!l.function->ptx && (l.block[0] > FUSED_THREADS || l.block[0] % FUSED_WARP))
    return FAKE_INVALID_VALUE;
  l.parameters = parameter_block(l.function, parameters);
  cuda_result result = run_or_record(&l);
  return result ? result : fake_fails_at("launch");
}

cuda_result fake_kernel(cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, cuda_stream stream, void **parameters,
                        void **extra) {
  launch l = {.function = function,
              .grid = {grid_x, grid_y, grid_z},
              .block = {block_x, block_y, block_z},
              .shared_bytes = shared_bytes};
  (void)stream;
  return extra ? FAKE_INVALID_VALUE : launch_kernel(&l, false, parameters);
}

cuda_result fake_cooperative_kernel(cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                    unsigned block_y, unsigned block_z, unsigned shared_bytes, cuda_stream stream,
                                    void **parameters) {
  launch l = {.function = function,
              .grid = {grid_x, grid_y, grid_z},
              .block = {block_x, block_y, block_z},
              .shared_bytes = shared_bytes};
  (void)stream;
  return launch_kernel(&l, true, parameters);
}
