/* Lets the real cuDNN, if it is installed, judge the graphs of attention. Needs no GPU: cuDNN
 * lists its kernels for a graph and a device that it knows by its properties only (from 9.11 on).
 * Each case of attention that the library would give to cuDNN must have a kernel, and what it
 * would not give must have none. With --long, cuDNN also compiles those of an H100. Exit status 77
 * without cuDNN, or without any driver library. */
#define _GNU_SOURCE 1
#include "../kernels/attention_cases.h"
#include "cuda/cudnn/sdpa.h"
#include "test/runtime/harness/long.h"

#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int errors;

static void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void wrong(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "wrong: ");
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
  errors++;
}

/* ---- devices that are not there ---- */

typedef struct device {
  const char *name;
  int capability, multiprocessors, shared_bytes, threads;
  cudnn_descriptor properties;
} device;

static device devices[] = {{"NVIDIA A100-SXM4-80GB", 800, 108, 166912, 2048, NULL},
                           {"NVIDIA H100 80GB HBM3", 900, 132, 232448, 2048, NULL},
                           {"NVIDIA H200", 900, 132, 232448, 2048, NULL},
                           {"NVIDIA B200", 1000, 148, 232448, 2048, NULL},
                           {"NVIDIA L40S", 890, 142, 101376, 1536, NULL}};
enum { H100 = 1, N_DEVICES = sizeof devices / sizeof *devices };

static void make_device(const tprt__cudnn *cudnn, device *d) {
  char json[1024];
  int n = snprintf(
      json, sizeof json,
      "{\"deviceName\":\"%s\",\"deviceVer\":%d,\"multiProcessorCount\":%d,"
      "\"maxSharedMemoryPerBlockOptin\":%d,\"maxThreadsPerSM\":%d,\"cudaDeviceId\":0,"
      "\"driverVer\":13000,\"isTccDriver\":0,\"l2CacheSize\":52428800,"
      "\"maxBlockSize\":[1024,1024,64],\"maxCtasPerSM\":32,"
      "\"maxGridSize\":[2147483647,65535,65535],\"maxRegistersPerSM\":65536,"
      "\"maxSharedMemoryPerBlock\":49152,\"maxThreadsPerBlock\":1024,\"memClockRateKHz\":2619000,"
      "\"pciDeviceId\":0,\"regsPerBlock\":65536,\"reservedSharedMemoryPerBlock\":1024,"
      "\"smClockRateKHz\":1980000,\"supportCoopLaunch\":1,\"totalGlobalMem\":85000000000,"
      "\"warpSize\":32}",
      d->name, d->capability, d->multiprocessors, d->shared_bytes, d->threads);
  cudnn_status status = cudnn->descriptor_create(DNN_DEVICE, &d->properties);
  if (!status)
    status = cudnn->set(d->properties, DNN_DEVICE_JSON, DNN_OF_CHAR, n, json);
  if (!status)
    status = cudnn->finalize(d->properties);
  if (status)
    wrong("%s: its properties: %s", d->name, cudnn->text(status));
}

/* ---- graphs ---- */

/* Counts the kernels for a graph; -1: an error, whose text is set. */
static int count_engines(const tprt__cudnn *cudnn, const device *d, const tprt__sdpa *sdpa) {
  tprt__sdpa_graph graph;
  cudnn_descriptor configs[16];
  int n = -1;
  tprt_status status = tprt__sdpa_graph_make(cudnn, NULL, sdpa, &graph);
  if (!status)
    status = tprt__sdpa_engines(&graph, d->properties, 16, configs, &n);
  tprt__sdpa_graph_free(&graph);
  return status ? -1 : n;
}

/* Compiles the first kernel for a graph. Then only the driver that would load it is missing. */
static void compile(const tprt__cudnn *cudnn, const device *d, const char *name,
                    const tprt__sdpa *sdpa) {
  enum { PLAN_DEVICE = 407 /* an attribute of plans */ };
  tprt__sdpa_graph graph;
  cudnn_descriptor config;
  int n = 0;
  tprt_status status = tprt__sdpa_graph_make(cudnn, NULL, sdpa, &graph);
  if (!status)
    status = tprt__sdpa_engines(&graph, d->properties, 1, &config, &n);
  cudnn_descriptor plan = tprt__sdpa_create(&graph, DNN_PLAN);
  tprt__sdpa_set(&graph, plan, DNN_PLAN_CONFIG, DNN_OF_DESCRIPTOR, 1, &config);
  tprt__sdpa_set(&graph, plan, PLAN_DEVICE, DNN_OF_DESCRIPTOR, 1, &d->properties);
  tprt__sdpa_finalize(&graph, plan);
  status = graph.status;
  if (status && !strstr(tprt_last_error(), "cuLibraryLoadData"))
    wrong("%s on %s: it is not compiled: %s", name, d->name, tprt_last_error());
  tprt__sdpa_graph_free(&graph);
}

/* True if the library gives the case to cuDNN. */
static bool is_for_cudnn(const attention_case *c, bool has_statistics) {
  return c->by_tensor_core && !c->mask && !c->dropout && c->cap == 0 && !c->position_dtype &&
         !c->wide && (!c->causal || (c->hidden <= -1e30f && c->offset >= 0)) &&
         (!has_statistics || c->dense_statistics || c->heads * c->group == 1 || c->rows == 1);
}

static int judge(const tprt__cudnn *cudnn, const attention_case *c, bool has_statistics) {
  const tprt_abi_fused_attention words = attention_words(c);
  tprt__sdpa sdpa;
  bool fits = tprt__sdpa_of(c->dtype, &words, has_statistics, &sdpa);
  if (fits != is_for_cudnn(c, has_statistics))
    wrong("%s: it %s for cuDNN", c->name, fits ? "is" : "is not");
  for (int i = 0; i < N_DEVICES && fits; i++) {
    int n = count_engines(cudnn, &devices[i], &sdpa);
    if (n < 1)
      wrong("%s on %s: %s", c->name, devices[i].name, n < 0 ? tprt_last_error() : "no kernel");
    else if (test_is_long() && i == H100)
      compile(cudnn, &devices[i], c->name, &sdpa);
  }
  return fits;
}

/* An attention that cuDNN has, and one that it refuses. */
static void judge_features(const tprt__cudnn *cudnn) {
  const tprt__sdpa good = {.dtype = TPRT_BF16,
                           .batch = 2,
                           .heads = 8,
                           .group = 4,
                           .rows = 128,
                           .columns = 256,
                           .features = 64,
                           .values = 64,
                           .stride = {{65536, 64, 512},
                                      {32768, 64, 128},
                                      {32768, 64, 128},
                                      {65536, 64, 512},
                                      {1024, 128, 1},
                                      {1024, 128, 1}},
                           .scale = 0.125f,
                           .causal = true,
                           .offset = 128,
                           .has_statistics = true};
  tprt__sdpa odd = good;
  odd.features = 60;
  for (int i = 0; i < N_DEVICES; i++) {
    if (count_engines(cudnn, &devices[i], &good) < 1)
      wrong("%s: no kernel", devices[i].name);
    if (count_engines(cudnn, &devices[i], &odd) > 0)
      wrong("%s: a kernel for 60 features", devices[i].name);
  }
}

/* clang-format off */
/* Of the size that models have. */
static const attention_case large_cases[] = {
    {"Llama, 2048 tokens", TPRT_BF16, 1, 8, 4, 2048, 2048, 128, 128, .layout = HEADS_INSIDE, .causal = true, .hidden = -INFINITY, .by_tensor_core = true},
    {"Llama, 8192 tokens", TPRT_BF16, 1, 8, 4, 8192, 8192, 128, 128, .layout = HEADS_INSIDE, .causal = true, .hidden = -INFINITY, .by_tensor_core = true},
    {"16 tokens behind others", TPRT_BF16, 4, 8, 4, 16, 4096, 128, 128, .layout = HEADS_INSIDE, .causal = true, .offset = 4080, .hidden = -INFINITY, .by_tensor_core = true},
    {"a token", TPRT_F16, 4, 8, 4, 1, 8192, 128, 128, .layout = HEADS_INSIDE, .hidden = -INFINITY, .by_tensor_core = true},
    {"an image", TPRT_F16, 8, 16, 1, 577, 577, 64, 64, .hidden = -INFINITY, .by_tensor_core = true},
};
/* clang-format on */
enum { N_LARGE = sizeof large_cases / sizeof *large_cases };

/* cuDNN looks for the driver by its name; the toolkit's stub has it too. */
static bool has_driver(void) {
  return dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) ||
         dlopen(CUDA_STUBS "/libcuda.so", RTLD_NOW | RTLD_GLOBAL);
}

int main(void) {
  const tprt__cudnn *cudnn;
  int n = 0;
  if (!has_driver() || tprt__cudnn_load(&cudnn)) {
    fprintf(stderr, "no cuDNN, or no driver library: %s\n", tprt_last_error());
    return 77;
  }
  if (cudnn->version() < 91100) {
    printf("cuDNN %zu has all functions; it would ask for a device, 91100 does not\n",
           cudnn->version());
    return 0;
  }
  for (int i = 0; i < N_DEVICES; i++)
    make_device(cudnn, &devices[i]);
  for (int i = 0; i < n_attention_cases + N_LARGE && !errors; i++) {
    const attention_case *c =
        i < n_attention_cases ? &attention_cases[i] : &large_cases[i - n_attention_cases];
    attention_case dense = *c;
    dense.dense_statistics = true;
    n += judge(cudnn, c, false);
    n += judge(cudnn, c, true);
    n += judge(cudnn, &dense, true);
  }
  judge_features(cudnn);
  printf("%d attentions, cuDNN %zu\n", n, cudnn->version());
  for (int i = 0; i < N_DEVICES; i++)
    cudnn->descriptor_destroy(devices[i].properties);
  return errors != 0;
}
