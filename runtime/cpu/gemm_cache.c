/* Stores measured choices in the user's cache folder. */
#define _GNU_SOURCE 1
#include "cpu/gemm_choice.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#if TPRT__HAS_TARGETS
#include <cpuid.h>
#endif

/* Identifies the file format and the version of the measurement. */
#define HEADER "tpshard gemm 2"

static void processor(char *text, size_t size) {
#if TPRT__HAS_TARGETS
  unsigned words[4] = {0}, name[13] = {0};
  bool named = true;
  for (unsigned i = 0; i < 3; i++)
    named = named && __get_cpuid(0x80000002u + i, name + 4 * i, name + 4 * i + 1, name + 4 * i + 2,
                                 name + 4 * i + 3);
  __get_cpuid(1, words, words + 1, words + 2, words + 3);
  snprintf(text, size, "%.48s, %08x, vectors %d", named ? (const char *)name : "x86", words[0],
           (int)tprt__gemm_vectors());
#else
  struct utsname host;
  snprintf(text, size, "%.48s", uname(&host) ? "unknown" : host.machine);
#endif
}

/* Writes the processors on which this process may run, as a hexadecimal mask. */
static void affinity(char *text, size_t size) {
  cpu_set_t set;
  size_t n = 0;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set))
    n = (size_t)snprintf(text, size, "any");
  int last = CPU_SETSIZE - 1;
  while (last > 0 && !CPU_ISSET(last, &set))
    last--;
  for (int digit = last / 4; digit >= 0 && n + 1 < size; digit--) {
    unsigned value = 0;
    for (int bit = 0; bit < 4; bit++)
      value |= (unsigned)(CPU_ISSET(4 * digit + bit, &set) != 0) << bit;
    n += (size_t)snprintf(text + n, size - n, "%x", value);
  }
}

bool tprt__gemm_cache_find(int threads, tprt__cache *cache) {
  char cpu[128], cpus[CPU_SETSIZE / 4 + 1];
  processor(cpu, sizeof cpu);
  affinity(cpus, sizeof cpus);
  cache->header = HEADER;
  snprintf(cache->key, sizeof cache->key, "%s; %s; %s; processors %s; threads %d", tprt_version(),
           cpu, tprt__blas_config(), cpus, threads);
  return tprt__cache_find("gemm", cache);
}

bool tprt__gemm_cache_parse(const char *text, void *value) {
  tprt__gemm_choice *choice = value;
  unsigned library, changes, percent[TPRT__GEMM_CLASSES];
  int end = -1;
  sscanf(text, "%x %x %u %u %u %u%n", &library, &changes, percent, percent + 1, percent + 2,
         percent + 3, &end);
  if (end < 0 || text[end] || library > TPRT__GEMM_ALL || changes > TPRT__GEMM_ALL ||
      library & changes)
    return false;
  *choice = (tprt__gemm_choice){.library = library, .changes = changes, .why = TPRT__GEMM_MEASURED};
  for (int i = 0; i < TPRT__GEMM_CLASSES; i++)
    choice->percent[i] = (uint16_t)(percent[i] <= UINT16_MAX ? percent[i] : UINT16_MAX);
  return true;
}

bool tprt__gemm_cache_end(const tprt__cache *cache, int file, const char *temporary,
                          tprt__gemm_choice *choice) {
  char text[TPRT__CACHE_TEXT];
  snprintf(text, sizeof text, "%x %x %u %u %u %u", choice->library, choice->changes,
           choice->percent[0], choice->percent[1], choice->percent[2], choice->percent[3]);
  return tprt__cache_end(cache, file, temporary, text, tprt__gemm_cache_parse, choice);
}
