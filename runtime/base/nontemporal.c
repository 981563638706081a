/* Non-temporal stores for each kind of vectors, and the size of the last-level cache. */
#include "base/nontemporal.h"

#include <stdio.h>
#include <string.h>

#if TPRT__HAS_TARGETS
#include <immintrin.h>

enum { LINE = TPRT__LINE };

/* One or two targets, without an inner loop: instructions other than stores delay the reads. */
TPRT__TARGET_AVX512 static void avx512_pair(char *a, char *b, const char *from, size_t n) {
  for (size_t i = 0; i < n; i += LINE) {
    __m512i line = _mm512_loadu_si512(from + i);
    _mm512_stream_si512((void *)(a + i), line);
    if (b)
      _mm512_stream_si512((void *)(b + i), line);
  }
}

TPRT__TARGET_AVX512 static void avx512_lines(void *const *to, int n_to, size_t at, const char *from,
                                             size_t n_lines) {
  if (n_to <= 2) {
    avx512_pair((char *)to[0] + at, n_to == 2 ? (char *)to[1] + at : NULL, from, n_lines * LINE);
    return;
  }
  for (size_t end = at + n_lines * LINE; at < end; at += LINE, from += LINE) {
    __m512i line = _mm512_loadu_si512(from);
    for (int i = 0; i < n_to; i++)
      _mm512_stream_si512((void *)((char *)to[i] + at), line);
  }
}

TPRT__TARGET_AVX2 static void avx2_lines(void *const *to, int n_to, size_t at, const char *from,
                                         size_t n_lines) {
  for (size_t end = at + n_lines * LINE; at < end; at += LINE, from += LINE) {
    __m256i a = _mm256_loadu_si256((const void *)from),
            b = _mm256_loadu_si256((const void *)(from + 32));
    for (int i = 0; i < n_to; i++) {
      _mm256_stream_si256((void *)((char *)to[i] + at), a);
      _mm256_stream_si256((void *)((char *)to[i] + at + 32), b);
    }
  }
}

static void plain_lines(void *const *to, int n_to, size_t at, const char *from, size_t n_lines) {
  for (size_t end = at + n_lines * LINE; at < end; at += LINE, from += LINE) {
    __m128i part[4];
    for (int j = 0; j < 4; j++)
      part[j] = _mm_loadu_si128((const void *)(from + 16 * j));
    for (int i = 0; i < n_to; i++) {
      for (int j = 0; j < 4; j++)
        _mm_stream_si128((void *)((char *)to[i] + at + 16 * j), part[j]);
    }
  }
}

static tprt__lines_fn *const lines[TPRT__N_VECTORS] = {
    [TPRT__AVX512] = avx512_lines, [TPRT__AVX2] = avx2_lines, [TPRT__PLAIN] = plain_lines};

static size_t to_line(const void *at) { return -(uintptr_t)at % LINE; }

static void copy_to_all(void *const *to, int n_to, size_t at, const char *from, size_t n) {
  for (int i = 0; i < n_to; i++)
    memcpy((char *)to[i] + at, from, n);
}

void tprt__stream_copies(tprt__vectors vectors, void *const *to, int n_to, const char *from,
                         size_t n) {
  size_t head = n_to ? to_line(to[0]) : 0;
  bool together = true;
  for (int i = 1; i < n_to; i++)
    together &= to_line(to[i]) == head;
  if (!together) {
    for (int i = 0; i < n_to; i++)
      tprt__stream_copies(vectors, &to[i], 1, from, n);
    return;
  }
  if (n < head + LINE)
    head = n;
  size_t whole = (n - head) / LINE * LINE;
  copy_to_all(to, n_to, 0, from, head);
  lines[vectors](to, n_to, head, from + head, whole / LINE);
  copy_to_all(to, n_to, head + whole, from + head + whole, n - head - whole);
}

tprt__lines_fn *tprt__stream_lines(tprt__vectors vectors) { return lines[vectors]; }

void tprt__stream_end(void) { _mm_sfence(); }

#else

void tprt__stream_copies(tprt__vectors vectors, void *const *to, int n_to, const char *from,
                         size_t n) {
  (void)vectors;
  for (int i = 0; i < n_to; i++)
    memcpy(to[i], from, n);
}

tprt__lines_fn *tprt__stream_lines(tprt__vectors vectors) {
  (void)vectors;
  return NULL;
}

void tprt__stream_end(void) {}

#endif

int64_t tprt__cache_bytes(void) {
  enum { LAST_INDEX = 3, UNKNOWN = 32 << 20 };
  long kib = 0;
  for (int index = LAST_INDEX; index > 0 && kib <= 0; index--) {
    char path[64];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%ldK", &kib) != 1)
      kib = 0;
    if (file)
      fclose(file);
  }
  return kib > 0 ? (int64_t)kib << 10 : UNKNOWN;
}
