/* The fastest algorithms of GEMMs: from files in the user's cache folder, or timed. Bits must not
 * change from run to run, so the first measurement holds, and without a writable folder nothing is
 * measured. */
#include "cuda/gpu/gpu_inside.h"

#include "base/env.h"
#include "cuda/gemm/gemm_time.h"

#include <inttypes.h>
#include <stdio.h>

/* Identifies the file format and the version of the measurement. */
#define HEADER "tpshard gpu gemm 1"

enum { N_WORDS = TPRT__ALGORITHM_WORDS };
_Static_assert(sizeof(blaslt_algorithm) == N_WORDS * sizeof(uint64_t), "words of an algorithm");

/* ---- files ---- */

static uint64_t check_sum(const blaslt_algorithm *algorithm) {
  return tprt__hash(N_WORDS, algorithm->data, sizeof algorithm->data);
}

/* What is read from a file is for this GEMM. */
typedef struct reading {
  tprt__gpu *gpu;
  const tprt_cuda_gemm *gemm;
  tprt__timed_algorithm timed;
} reading;

/* Refuses what cuBLASLt refuses, so that it is measured again. */
static bool parse(const char *text, void *value) {
  reading *to_value = value;
  tprt__timed_algorithm read;
  uint64_t *to = read.algorithm.data, sum;
  int64_t ns; /* a whole number: the point of a fraction depends on the locale */
  int end = -1;
  sscanf(text,
         "%" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
         " %" SCNx64 " %" SCNx64 " %" SCNd64 "%n",
         to, to + 1, to + 2, to + 3, to + 4, to + 5, to + 6, to + 7, &sum, &ns, &end);
  if (end < 0 || text[end] || sum != check_sum(&read.algorithm) ||
      tprt__cuda_gemm_accept(to_value->gpu->lanes[0].blas, to_value->gemm, &read.algorithm))
    return false;
  read.us = 1e-3 * (double)ns;
  to_value->timed = read;
  return true;
}

static void print(const void *data, char text[TPRT__CACHE_TEXT]) {
  const tprt__timed_algorithm *timed = &((const reading *)data)->timed;
  const uint64_t *from = timed->algorithm.data;
  snprintf(text, TPRT__CACHE_TEXT,
           "%016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %016" PRIx64
           " %016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %" PRId64,
           from[0], from[1], from[2], from[3], from[4], from[5], from[6], from[7],
           check_sum(&timed->algorithm), (int64_t)(1e3 * timed->us));
}

static bool find_file(tprt__gpu *gpu, const tprt_cuda_gemm *gemm, tprt__cache *cache) {
  char device[128], problem[512];
  tprt__gpu_device_text(gpu, device, sizeof device);
  tprt__cuda_gemm_print(gpu->lanes[0].blas, gemm, problem, sizeof problem);
  cache->header = HEADER;
  snprintf(cache->key, sizeof cache->key, "%s; %s; %s", tprt_version(), device, problem);
  return tprt__cache_find("gpu-gemm", cache);
}

/* ---- measurements ---- */

static tprt_status measure(const tprt__gpu_measurement *m, tprt__gpu *gpu, const tprt__cache *cache,
                           void *data, tprt__gpu_timing *how) {
  char temporary[sizeof cache->path + 32], text[TPRT__CACHE_TEXT];
  int capturing = CUDA_CAPTURE_NONE;
  tprt_status status = tprt__gpu_check(gpu, gpu->device->stream_capturing(gpu->stream, &capturing),
                                       "the state of a stream");
  if (status || capturing != CUDA_CAPTURE_NONE)
    return status;
  int file = tprt__cache_begin(cache, temporary, sizeof temporary);
  if (file < 0)
    return TPRT_OK;
  status = m->measure(data);
  if (status) {
    tprt__cache_abandon(file, temporary);
    return status == TPRT_NO_MEMORY ? TPRT_OK : status;
  }
  m->print(data, text);
  if (tprt__cache_end(cache, file, temporary, text, m->parse, data))
    *how = TPRT__GPU_MEASURED;
  return TPRT_OK;
}

tprt_status tprt__gpu_measured(tprt__gpu *gpu, const tprt__cache *cache,
                               const tprt__gpu_measurement *measurement, void *data,
                               tprt__gpu_timing *how) {
  *how = TPRT__GPU_NOT_TIMED;
  if (!tprt__cache_read(cache, measurement->parse, data))
    return measure(measurement, gpu, cache, data, how);
  *how = TPRT__GPU_CACHED;
  return TPRT_OK;
}

/* ---- GEMMs ---- */

static tprt_status time_gemm(void *data) {
  reading *found = data;
  tprt__gpu *gpu = found->gpu;
  return tprt__cuda_gemm_time(gpu->lanes[0].blas, found->gemm, gpu->device, gpu->stream,
                              &found->timed);
}

static tprt_status choose(tprt__gpu *gpu, const tprt_cuda_gemm *gemm,
                          tprt__gpu_algorithm *algorithm) {
  static const tprt__gpu_measurement measurement = {time_gemm, print, parse};
  tprt__cache cache;
  reading found = {.gpu = gpu, .gemm = gemm};
  tprt_status status = TPRT_OK;
  algorithm->how = TPRT__GPU_NOT_TIMED;
  if (find_file(gpu, gemm, &cache))
    status = tprt__gpu_measured(gpu, &cache, &measurement, &found, &algorithm->how);
  if (!status && algorithm->how != TPRT__GPU_NOT_TIMED)
    memcpy(algorithm->words, found.timed.algorithm.data, sizeof algorithm->words);
  return status;
}

tprt_status tprt__gpu_algorithm_choose(tprt__gpu *gpu, const tprt__gpu_contraction *contraction,
                                       tprt__gpu_algorithm *algorithm) {
  tprt_status status = tprt__gpu_enter(gpu);
  if (status)
    return status;
  status = choose(gpu, tprt__gpu_contraction_gemm(contraction), algorithm);
  tprt__gpu_leave(gpu);
  return status;
}

/* ---- what ranks compare ---- */

tprt_status tprt__gpu_wants_timing(bool *wanted) {
  int64_t number;
  tprt_status status = tprt__env_number(TPRT__ENV_TIMED_GEMM, 0, &number);
  *wanted = !status && number;
  return status;
}

void tprt__gpu_device_text(const tprt__gpu *gpu, char *text, size_t size) {
  char name[96] = "unknown";
  int n = 0;
  (void)gpu->calls->device_name(name, sizeof name, gpu->number);
  (void)gpu->calls->device_attribute(&n, CUDA_MULTIPROCESSORS, gpu->number);
  snprintf(text, size, "%.95s, %d multiprocessors", name, n);
}

uint64_t tprt__gpu_gemm_library(const tprt__gpu *gpu) {
  const tprt__blaslt *lt;
  char text[128];
  if (tprt__blaslt_load(&lt))
    return 0;
  tprt__gpu_device_text(gpu, text, sizeof text);
  return tprt__hash(lt->version(), text, strlen(text));
}
