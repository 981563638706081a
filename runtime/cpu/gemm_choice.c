/* Chooses between OpenBLAS and the built-in GEMM kernels, separately for each class of GEMM.
 *
 * OpenBLAS is not optimized for every processor, and its version does not tell how fast it is, so
 * it is measured. The two compute different bits, but bits must not change from run to run, nor
 * when a GEMM is split over ranks. Therefore the first measurement is cached and holds for the
 * host. OpenBLAS is eligible only for classes in which splitting a probe GEMM changed no bit.
 * Without a writable cache nothing is measured. */
#define _GNU_SOURCE 1
#include "cpu/gemm_choice.h"
#include "base/env.h"

#include <pthread.h>
#include <string.h>

/* OpenBLAS is chosen if its time is below this percentage of the built-in kernels' time. */
enum { TAKEN_PERCENT = 87 };

static uint32_t faster(const tprt__gemm_choice *choice) {
  uint32_t set = 0;
  for (int i = 0; i < TPRT__GEMM_CLASSES; i++)
    set |= (uint32_t)(choice->percent[i] < TAKEN_PERCENT) << i;
  return set & ~choice->changes;
}

/* The choice without a cached measurement. Built-in vector kernels are about as fast as OpenBLAS,
 * so OpenBLAS is chosen only on processors that would need the plain loops. */
static tprt__gemm_choice uncached_choice(int threads) {
  tprt__gemm_choice choice = {.why = TPRT__GEMM_NO_CACHE};
  if (tprt__gemm_vectors() == TPRT__PLAIN && tprt__gemm_measure(threads, false, &choice))
    choice.library = TPRT__GEMM_ALL & ~choice.changes;
  return choice;
}

static tprt__gemm_choice measured(int threads) {
  tprt__cache cache;
  tprt__gemm_choice choice = {.why = TPRT__GEMM_MEASURED};
  if (!tprt__gemm_cache_find(threads, &cache))
    return uncached_choice(threads);
  if (tprt__cache_read(&cache, tprt__gemm_cache_parse, &choice))
    return choice;
  char temporary[sizeof cache.path + 32];
  int file = tprt__cache_begin(&cache, temporary, sizeof temporary);
  if (file < 0)
    return uncached_choice(threads);
  choice = (tprt__gemm_choice){.why = TPRT__GEMM_MEASURED};
  bool made = tprt__gemm_measure(threads, true, &choice);
  choice.library = faster(&choice);
  if (!made) {
    tprt__cache_abandon(file, temporary);
    return uncached_choice(threads);
  }
  return tprt__gemm_cache_end(&cache, file, temporary, &choice) ? choice : uncached_choice(threads);
}

tprt__gemm_choice tprt__gemm_choose(int threads) {
  enum { KEPT = 8 };
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static struct {
    int threads;
    tprt__gemm_choice choice;
  } kept[KEPT];
  static int n_kept;
  int64_t pin;
  bool pinned = !tprt__env_number(TPRT__ENV_GEMM, TPRT__GEMM_AUTO, &pin) && pin != TPRT__GEMM_AUTO;
  if (pinned)
    return (tprt__gemm_choice){.why = TPRT__GEMM_PINNED,
                               .library = pin == TPRT__GEMM_OPENBLAS ? TPRT__GEMM_ALL : 0};
  if (!tprt__blas_is_loaded())
    return (tprt__gemm_choice){.why = TPRT__GEMM_NO_LIBRARY};
  pthread_mutex_lock(&lock);
  int i = 0;
  while (i < n_kept && kept[i].threads != threads)
    i++;
  tprt__gemm_choice choice;
  if (i < n_kept) {
    choice = kept[i].choice;
  } else {
    choice = measured(threads);
    if (n_kept < KEPT) {
      kept[n_kept].threads = threads;
      kept[n_kept++].choice = choice;
    }
  }
  pthread_mutex_unlock(&lock);
  return choice;
}

uint64_t tprt__gemm_library(void) {
  const char *config = tprt__blas_config();
  return tprt__blas_is_loaded() ? tprt__hash(1, config, strlen(config)) : 0;
}
