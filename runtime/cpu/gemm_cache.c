/* Stores measured choices in files below the user's cache folder. */
#define _GNU_SOURCE 1
#include "cpu/gemm_choice.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
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

bool tprt__gemm_cache_find(int threads, tprt__gemm_cache *cache) {
  const char *base = secure_getenv("XDG_CACHE_HOME"), *below = "";
  if (!base || *base != '/') {
    base = secure_getenv("HOME");
    below = "/.cache";
  }
  if (!base || *base != '/')
    return false;
  char cpu[128], cpus[CPU_SETSIZE / 4 + 1];
  processor(cpu, sizeof cpu);
  affinity(cpus, sizeof cpus);
  int n = snprintf(cache->key, sizeof cache->key, "%s; %s; %s; processors %s; threads %d",
                   tprt_version(), cpu, tprt__blas_config(), cpus, threads);
  uint64_t hash = tprt__hash(0, cache->key, strlen(cache->key));
  int length =
      snprintf(cache->path, sizeof cache->path, "%s%s/tpshard/gemm-%016" PRIx64, base, below, hash);
  return n < (int)sizeof cache->key && length < (int)sizeof cache->path &&
         !strchr(cache->key, '\n');
}

/* ---- reading ---- */

static bool parse(const char *text, const tprt__gemm_cache *cache, tprt__gemm_choice *choice) {
  size_t n_header = strlen(HEADER), n_key = strlen(cache->key);
  if (strncmp(text, HEADER "\n", n_header + 1) != 0 ||
      strncmp(text + n_header + 1, cache->key, n_key) != 0)
    return false;
  unsigned library, changes, percent[TPRT__GEMM_CLASSES];
  int end = -1;
  text += n_header + 1 + n_key;
  sscanf(text, "\n%x %x %u %u %u %u\nend%n", &library, &changes, percent, percent + 1, percent + 2,
         percent + 3, &end);
  if (end < 0 || strcmp(text + end, "\n") != 0 || library > TPRT__GEMM_ALL ||
      changes > TPRT__GEMM_ALL || library & changes)
    return false;
  *choice = (tprt__gemm_choice){.library = library, .changes = changes, .why = TPRT__GEMM_MEASURED};
  for (int i = 0; i < TPRT__GEMM_CLASSES; i++)
    choice->percent[i] = (uint16_t)(percent[i] <= UINT16_MAX ? percent[i] : UINT16_MAX);
  return true;
}

bool tprt__gemm_cache_read(const tprt__gemm_cache *cache, tprt__gemm_choice *choice) {
  char text[2048];
  struct stat status;
  int file = open(cache->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0)
    return false;
  bool ours = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
  ssize_t n = ours ? read(file, text, sizeof text - 1) : -1;
  close(file);
  if (n < 0)
    return false;
  text[n] = 0;
  return parse(text, cache, choice);
}

/* ---- writing ---- */

/* Creates the missing parent folders of a path. */
static void make_folders(const char *path) {
  char part[sizeof((tprt__gemm_cache *)0)->path];
  for (size_t i = 1; path[i]; i++) {
    if (path[i] != '/')
      continue;
    snprintf(part, sizeof part, "%.*s", (int)i, path);
    (void)mkdir(part, 0700);
  }
}

int tprt__gemm_cache_begin(const tprt__gemm_cache *cache, char *temporary, size_t size) {
  make_folders(cache->path);
  snprintf(temporary, size, "%s.XXXXXX", cache->path);
  return mkostemp(temporary, O_CLOEXEC);
}

bool tprt__gemm_cache_end(const tprt__gemm_cache *cache, int file, const char *temporary,
                          tprt__gemm_choice *choice) {
  char text[2048];
  int n = snprintf(text, sizeof text, HEADER "\n%s\n%x %x %u %u %u %u\nend\n", cache->key,
                   choice->library, choice->changes, choice->percent[0], choice->percent[1],
                   choice->percent[2], choice->percent[3]);
  bool done = n < (int)sizeof text && write(file, text, (size_t)n) == n;
  done = close(file) == 0 && done;
  if (done && link(temporary, cache->path)) {
    /* Another process was first, or an invalid file has the name, or the file system has no hard
     * links. */
    tprt__gemm_choice first;
    if (errno == EEXIST && tprt__gemm_cache_read(cache, &first)) {
      *choice = first;
    } else {
      done = rename(temporary, cache->path) == 0;
    }
  }
  (void)unlink(temporary);
  return done;
}
