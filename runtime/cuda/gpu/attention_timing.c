/* The fastest makers of attentions: from files in the user's cache folder, or timed. Bits must not
 * change from run to run, so the first measurement holds, and without a writable folder nothing is
 * measured. */
#include "cuda/gpu/attention_makers.h"

#include "base/cache_file.h"
#include "base/env.h"
#include "cuda/cudnn/cudnn.h"
#include "cuda/driver/stopwatch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Identifies the file format and the version of the measurement. */
#define HEADER "tpshard gpu attention 1"

/* ---- operands ---- */

typedef struct choice {
  tprt__gpu_attention *attention;
  tprt__gpu_maker fastest;
} choice;

typedef struct bench {
  tprt__gpu_attention *attention;
  tprt__gpu_attention_buffers buffers;
  const tprt__attention_maker *maker;
  const void *made;
} bench;

/* Bytes up to the last element of a tensor. */
static size_t bytes_of(const tprt__attention_problem *problem, int x) {
  const tprt_abi_fused_attention *w = &problem->words;
  const tprt_abi_attention_loop *const loops[] = {&w->outer[0], &w->outer[1], &w->outer[2],
                                                  &w->outer[3], &w->group,    &w->row,
                                                  &w->column,   &w->feature,  &w->value};
  int64_t last = 0;
  for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
    last += (loops[i]->size - 1) * loops[i]->stride[x];
  return (size_t)(last + 1) *
         (tprt__attention_is_scalar(x) ? sizeof(float) : tprt_dtype_size(problem->dtype));
}

/* True for the tensors of an attention that cuDNN has. */
static bool has_tensor(const tprt__attention_problem *problem, int x) {
  bool is_statistic = x == TPRT_ATTENTION_MAX || x == TPRT_ATTENTION_SUM;
  return x <= TPRT_ATTENTION_V || x == TPRT_ATTENTION_OUT ||
         (is_statistic && problem->kind == TPRT__ATTENTION_STATISTICS);
}

/* Allocates operands, whose bytes are those of numbers of about 1 in all types, so that the GPU
 * switches about as many bits as with real ones. Called in the GPU's context. */
static tprt_status make_operands(bench *b) {
  enum { ABOUT_ONE = 0x3c };
  tprt__gpu *gpu = b->attention->gpu;
  tprt_status status = TPRT_OK;
  for (int x = 0; x < TPRT_ATTENTION_TENSORS && !status; x++) {
    cuda_address memory = 0;
    if (!has_tensor(&b->attention->problem, x))
      continue;
    size_t bytes = bytes_of(&b->attention->problem, x);
    status = tprt__gpu_check(gpu, gpu->device->memory_alloc(&memory, bytes),
                             "memory to time an attention");
    b->buffers.of[x] = (const void *)(uintptr_t)memory;
    if (!status)
      status = tprt__gpu_check(gpu, gpu->device->memory_set(memory, ABOUT_ONE, bytes, gpu->stream),
                               "operands of a timed attention");
  }
  return status;
}

static void end_operands(const bench *b) {
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++)
    if (b->buffers.of[x])
      b->attention->gpu->device->memory_free(tprt__cuda_address(b->buffers.of[x]));
}

/* ---- times ---- */

static tprt_status run_attention(void *data) {
  const bench *b = data;
  const tprt__gpu_queue queue = {b->attention->gpu, b->attention->gpu->stream};
  return b->maker->run(queue, b->made, &b->buffers);
}

/* Measures all makers that have the attention. */
static tprt_status time_makers(void *data) {
  choice *chosen = data;
  tprt__gpu_attention *attention = chosen->attention;
  tprt__gpu *gpu = attention->gpu;
  bench b = {.attention = attention};
  double least = 0;
  tprt_status status = make_operands(&b);
  for (int i = 0; i < TPRT__GPU_N_MAKERS && !status; i++) {
    double us = 0;
    b.maker = tprt__attention_makers[i];
    b.made = attention->made[i];
    if (b.made)
      status = tprt__device_time(gpu->device, gpu->stream, run_attention, &b, &us);
    if (!status && us > 0 && (least == 0 || us < TPRT__TAKEN_PART * least)) {
      chosen->fastest = i;
      least = us;
    }
  }
  end_operands(&b);
  return status;
}

/* ---- files ---- */

static void print(const void *data, char text[TPRT__CACHE_TEXT]) {
  const choice *chosen = data;
  snprintf(text, TPRT__CACHE_TEXT, "%s", tprt__attention_makers[chosen->fastest]->name);
}

static bool parse(const char *text, void *data) {
  choice *chosen = data;
  for (int i = 0; i < TPRT__GPU_N_MAKERS; i++) {
    if (strcmp(text, tprt__attention_makers[i]->name) == 0) {
      chosen->fastest = i;
      return true;
    }
  }
  return false;
}

static bool find_file(const tprt__gpu_attention *attention, tprt__cache *cache) {
  const tprt__attention_problem *problem = &attention->problem;
  const tprt_abi_fused_attention *w = &problem->words;
  const tprt__cudnn *cudnn;
  char device[128];
  if (tprt__cudnn_load(&cudnn))
    return false;
  tprt__gpu_device_text(attention->gpu, device, sizeof device);
  cache->header = HEADER;
  snprintf(cache->key, sizeof cache->key,
           "%s; %s; cuDNN %zu; %s%s; %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "; %" PRId64
           " %" PRId64 " %" PRId64 ", %" PRId64 " %" PRId64 "; causal %" PRId64 " %" PRId64
           "; layout %016" PRIx64,
           tprt_version(), device, cudnn->version(), tprt_dtype_name(problem->dtype),
           problem->kind == TPRT__ATTENTION_STATISTICS ? ", statistics" : "", w->outer[0].size,
           w->outer[1].size, w->outer[2].size, w->outer[3].size, w->group.size, w->row.size,
           w->column.size, w->feature.size, w->value.size, w->causal, w->offset,
           tprt__hash(0, w, sizeof *w));
  return tprt__cache_find("gpu-attention", cache);
}

/* ---- choices ---- */

tprt_status tprt__gpu_attention_choose(tprt__gpu_attention *attention, tprt__gpu_maker *maker,
                                       tprt__gpu_timing *how) {
  static const tprt__gpu_measurement measurement = {time_makers, print, parse};
  tprt__cache cache;
  choice chosen = {attention, TPRT__GPU_BY_OWN};
  *maker = TPRT__GPU_BY_OWN;
  *how = TPRT__GPU_NOT_TIMED;
  if (!find_file(attention, &cache))
    return TPRT_OK;
  tprt_status status = tprt__gpu_enter(attention->gpu);
  if (status)
    return status;
  status = tprt__gpu_measured(attention->gpu, &cache, &measurement, &chosen, how);
  tprt__gpu_leave(attention->gpu);
  if (!status && *how != TPRT__GPU_NOT_TIMED)
    *maker = chosen.fastest;
  return status;
}

/* ---- what ranks compare ---- */

tprt_status tprt__gpu_attention_wish(tprt__gpu_wish *wish) {
  _Static_assert(TPRT__GPU_WISH_CUDNN == (int)TPRT__ATTENTION_CUDNN &&
                     TPRT__GPU_WISH_TIMED == (int)TPRT__ATTENTION_TIMED,
                 "values of TPRT_ATTENTION");
  int64_t number = TPRT__ATTENTION_OWN;
  tprt_status status = tprt__env_number(TPRT__ENV_ATTENTION, TPRT__ATTENTION_OWN, &number);
  *wish = (tprt__gpu_wish)number;
  return status;
}

tprt_status tprt__gpu_attention_library(const tprt__gpu *gpu, uint64_t *library) {
  const tprt__cudnn *cudnn;
  char text[128];
  tprt_status status = tprt__cudnn_load(&cudnn);
  if (status)
    return status;
  tprt__gpu_device_text(gpu, text, sizeof text);
  *library = tprt__hash(cudnn->version(), text, strlen(text));
  return TPRT_OK;
}
