/* Stores that go around the cache, for results that are larger than it: an ordinary store reads the line first. */
#ifndef TPRT_RUNTIME_STREAM_H
#define TPRT_RUNTIME_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>

/* `next`: what will be read after this, as many bytes, is fetched meanwhile; NULL: nothing. */
static inline void tprt__stream_copy(void *to, const void *from, size_t n, const void *next) {
  char *target = to;
  const char *source = from, *ahead = next;
  size_t head = (16 - ((uintptr_t)target & 15)) & 15;
  if (n < 64)
    head = n;
  memcpy(target, source, head);
  target += head, source += head, n -= head;
  for (; n >= 64; n -= 64, target += 64, source += 64) {
    if (ahead) {
      _mm_prefetch(ahead, _MM_HINT_T0);
      ahead += 64;
    }
    __m128i a = _mm_loadu_si128((const __m128i *)source), b = _mm_loadu_si128((const __m128i *)(source + 16));
    __m128i c = _mm_loadu_si128((const __m128i *)(source + 32)), d = _mm_loadu_si128((const __m128i *)(source + 48));
    _mm_stream_si128((__m128i *)target, a);
    _mm_stream_si128((__m128i *)(target + 16), b);
    _mm_stream_si128((__m128i *)(target + 32), c);
    _mm_stream_si128((__m128i *)(target + 48), d);
  }
  memcpy(target, source, n);
}

/* Such stores are not ordered with later ones; this has to come before peers are told. */
static inline void tprt__stream_end(void) { _mm_sfence(); }
#else
static inline void tprt__stream_copy(void *to, const void *from, size_t n, const void *next) {
  (void)next;
  memcpy(to, from, n);
}
static inline void tprt__stream_end(void) {}
#endif

#endif
