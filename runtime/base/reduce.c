/* Reduces n arrays, block by block. */
#include "base/nontemporal.h"
#include "base/types.h"

#include <string.h>

/* A block of accumulators stays in the L1 cache while all sources are combined into it. Every
 * source is read before the first destination is written, which permits destinations that are
 * sources. Blocks are shorter with non-temporal stores, so that out-of-order execution reads the
 * next block while the results of this one are written. Where sources are read in runs, AHEAD_BYTES
 * are prefetched instead. */
enum { BLOCK_BYTES = 2048, STREAMED_BYTES = 512, AHEAD_BYTES = 2048 };

static bool aligned(const void *pointer, size_t size) {
  return ((uintptr_t)pointer & (size - 1)) == 0;
}

/* Returns a block of a source as accumulators. The block is used in place if it is aligned and
 * needs no conversion or scaling; otherwise it is converted, copied or scaled into `buffer`. */
static const void *load(const tprt__dtype_info *type, const void *source, void *buffer, size_t n,
                        const tprt__scale *scale) {
  if (type->widen) {
    type->widen(buffer, source, n);
  } else if (scale || !aligned(source, type->size)) {
    memcpy(buffer, source, n * type->size);
  } else {
    return source;
  }
  if (scale)
    type->scale(buffer, scale->bytes, n);
  return buffer;
}

/* Scratch for one block. Two sums alternate, because a combination must not overwrite its own
 * operands. `other` holds the converted source, or the narrowed result. */
typedef struct blocks {
  _Alignas(64) unsigned char sums[2][BLOCK_BYTES];
  _Alignas(64) unsigned char other[BLOCK_BYTES];
} blocks;

/* Computes a block of the result, `offset` bytes into the arrays. Returns its address: `place` if
 * that is not NULL, else a block of `b`, or the source itself if it is the only one and needs no
 * conversion. */
static const void *reduce_block(const tprt__dtype_info *type, tprt_reduction reduction,
                                const void *const *sources, int n_sources,
                                const tprt__scale *scales, size_t offset, size_t n, void *place,
                                blocks *b) {
  const bool scaled = reduction == TPRT_PREMUL_SUM;
  const void *sum =
      load(type, (const char *)sources[0] + offset, b->sums[0], n, scaled ? &scales[0] : NULL);
  void *to = NULL;
  for (int s = 1; s < n_sources; s++) {
    const void *next =
        load(type, (const char *)sources[s] + offset, b->other, n, scaled ? &scales[s] : NULL);
    to = place && s == n_sources - 1 ? place : b->sums[s % 2];
    type->combine[reduction](to, sum, next, n);
    sum = to;
  }
  if (reduction == TPRT_AVG && to)
    type->divide(to, n_sources, n);
  if (!type->narrow)
    return sum;
  type->narrow(b->other, sum, n);
  return b->other;
}

/* Returns the bytes in front of the first cache line that begins in every destination, 0 if there
 * is no such line. (Large blocks from malloc begin 16 bytes behind a line.) */
static size_t to_line(const tprt__dtype_info *type, void *const *destinations, int n_destinations) {
  size_t head = n_destinations ? -(uintptr_t)destinations[0] % TPRT__LINE : 0;
  for (int d = 1; d < n_destinations; d++) {
    if (-(uintptr_t)destinations[d] % TPRT__LINE != head)
      return 0;
  }
  return head % type->size ? 0 : head;
}

/* True if destination d is also a source: the source of the same rank, or any source if there is
 * only one destination. */
static bool in_place(void *const *destinations, int n_destinations, int d,
                     const void *const *sources, int n_sources) {
  if (n_destinations == n_sources)
    return destinations[d] == sources[d];
  for (int s = 0; s < n_sources && n_destinations == 1; s++) {
    if (sources[s] == destinations[0])
      return true;
  }
  return false;
}

/* Returns a destination into which sums can be written directly: no source is at its address, and
 * behind `head` it is aligned to cache lines. NULL if there is none. */
static char *place_of_sums(const tprt__dtype_info *type, void *const *destinations,
                           int n_destinations, size_t head, const void *const *sources,
                           int n_sources) {
  for (int d = 0; d < n_destinations && !type->narrow && n_sources > 1; d++) {
    bool reads = !aligned((char *)destinations[d] + head, TPRT__LINE);
    for (int s = 0; s < n_sources && !reads; s++)
      reads = sources[s] == destinations[d];
    if (!reads)
      return destinations[d];
  }
  return NULL;
}

/* True if behind `head` all destinations are written with non-temporal stores from the first line
 * on, so that nothing else is left to do for a block. */
static bool streams_all(void *const *destinations, int n_destinations, size_t head, int n_streamed,
                        const void *const *sources, int n_sources) {
  bool all = n_destinations && n_streamed >= n_destinations;
  for (int d = 0; d < n_destinations && all; d++)
    all = aligned((char *)destinations[d] + head, TPRT__LINE) &&
          !in_place(destinations, n_destinations, d, sources, n_sources);
  return all;
}

/* Writes a block of the result to all destinations. */
static void store(void *const *destinations, int n_destinations, int n_streamed,
                  const void *const *sources, int n_sources, size_t offset, const void *result,
                  size_t bytes) {
  enum { AT_ONCE = 8 };
  void *streamed[AT_ONCE];
  int n = 0;
  for (int d = 0; d < n_destinations; d++) {
    char *to = (char *)destinations[d] + offset;
    if (d < n_streamed && !in_place(destinations, n_destinations, d, sources, n_sources))
      streamed[n++] = to;
    else if (to != result)
      memcpy(to, result, bytes);
    if (n == AT_ONCE || (n && d == n_destinations - 1)) {
      tprt__stream_copies(tprt__vectors_best(), streamed, n, result, bytes);
      n = 0;
    }
  }
}

/* A position in sources that are read run by run, in bytes. */
typedef struct place {
  size_t at, left_in_run; /* from the start of a source; to the end of the run */
  size_t run, gap;        /* of every run, and between two runs */
} place;

static void advance(place *p, size_t bytes) {
  p->at += bytes;
  p->left_in_run -= bytes;
  if (p->left_in_run > 0)
    return;
  p->at += p->gap;
  p->left_in_run = p->run;
}

/* Prefetches the next `bytes` bytes of all sources, and advances the position. Processors prefetch
 * long arrays by themselves, but begin anew with each run. */
static void read_ahead(place *p, const void *const *sources, int n_sources, size_t bytes) {
  while (bytes > 0) {
    size_t part = bytes < p->left_in_run ? bytes : p->left_in_run;
    for (int s = 0; s < n_sources; s++)
      for (size_t i = 0; i < part; i += TPRT__LINE)
        __builtin_prefetch((const char *)sources[s] + p->at + i);
    advance(p, part);
    bytes -= part;
  }
}

void tprt__reduce_runs(const tprt__dtype_info *type, tprt_reduction reduction,
                       void *const *destinations, int n_destinations, const void *const *sources,
                       int n_sources, const tprt__scale *scales, const tprt__runs *runs,
                       int n_streamed) {
  blocks b;
  const bool ahead = runs->run < runs->count;
  const size_t size = type->size, total = (size_t)runs->count * size,
               block_bytes = n_streamed && !ahead ? STREAMED_BYTES : BLOCK_BYTES,
               block = block_bytes / type->acc_size * size;
  const size_t head = to_line(type, destinations, n_destinations);
  char *direct = n_streamed
                     ? NULL
                     : place_of_sums(type, destinations, n_destinations, head, sources, n_sources);
  tprt__lines_fn *stream =
      streams_all(destinations, n_destinations, head, n_streamed, sources, n_sources)
          ? tprt__stream_lines(tprt__vectors_best())
          : NULL;
  place from = {.left_in_run = (size_t)runs->run * size,
                .run = (size_t)runs->run * size,
                .gap = (size_t)(runs->stride - runs->run) * size};
  place next = from;
  size_t met = 0; /* bytes of the sources that were read ahead */
  for (size_t to = 0, bytes; to < total; to += bytes) {
    const size_t to_next_line = (head - to) % TPRT__LINE; /* a shorter block ends at a line */
    const size_t most = to_next_line ? to_next_line : block;
    bytes = from.left_in_run < most ? from.left_in_run : most;
    if (ahead) {
      size_t until = to + bytes + AHEAD_BYTES < total ? to + bytes + AHEAD_BYTES : total;
      read_ahead(&next, sources, n_sources, until - met);
      met = until;
    }
    const void *result =
        reduce_block(type, reduction, sources, n_sources, scales, from.at, bytes / size,
                     direct && !to_next_line ? direct + to : NULL, &b);
    if (stream && !to_next_line && bytes % TPRT__LINE == 0)
      stream(destinations, n_destinations, to, result, bytes / TPRT__LINE);
    else
      store(destinations, n_destinations, n_streamed, sources, n_sources, to, result, bytes);
    advance(&from, bytes);
  }
}

void tprt__reduce(const tprt__dtype_info *type, tprt_reduction reduction, void *const *destinations,
                  int n_destinations, const void *const *sources, int n_sources,
                  const tprt__scale *scales, int64_t count, int n_streamed) {
  const tprt__runs one = {.count = count, .run = count, .stride = count};
  tprt__reduce_runs(type, reduction, destinations, n_destinations, sources, n_sources, scales, &one,
                    n_streamed);
}

/* ---- in two stages ---- */

/* A group's sum is that of its average. */
static tprt_reduction of_group(tprt_reduction reduction) {
  return reduction == TPRT_AVG ? TPRT_SUM : reduction;
}

void tprt__reduce_group(const tprt__dtype_info *type, tprt_reduction reduction, void *sums,
                        const void *const *sources, int n_sources, const tprt__scale *scales,
                        int64_t count) {
  blocks b;
  tprt__dtype_info wide = *type; /* results stay accumulators */
  wide.narrow = NULL;
  const int64_t block = BLOCK_BYTES / (int64_t)type->acc_size;
  for (int64_t begin = 0; begin < count; begin += block) {
    size_t n = (size_t)tprt__min(block, count - begin);
    char *to = (char *)sums + (size_t)begin * type->acc_size;
    const void *result = reduce_block(&wide, of_group(reduction), sources, n_sources, scales,
                                      (size_t)begin * type->size, n, n_sources > 1 ? to : NULL, &b);
    if (result != to)
      memcpy(to, result, n * type->acc_size);
  }
}

void tprt__reduce_groups(const tprt__dtype_info *type, tprt_reduction reduction, void *destination,
                         const void *const *sums, int n_groups, int n_inputs, int64_t count) {
  blocks b;
  tprt__dtype_info wide = *type; /* sources are accumulators */
  wide.widen = NULL;
  wide.narrow = NULL;
  wide.size = type->acc_size;
  tprt_reduction combined = reduction == TPRT_PREMUL_SUM ? TPRT_SUM : of_group(reduction);
  const int64_t block = BLOCK_BYTES / (int64_t)type->acc_size;
  for (int64_t begin = 0; begin < count; begin += block) {
    size_t n = (size_t)tprt__min(block, count - begin);
    char *to = (char *)destination + (size_t)begin * type->size;
    void *sum = b.sums[(n_groups - 1) % 2];
    reduce_block(&wide, combined, sums, n_groups, NULL, (size_t)begin * type->acc_size, n, NULL,
                 &b);
    if (reduction == TPRT_AVG)
      type->divide(sum, n_inputs, n);
    if (type->narrow)
      type->narrow(to, sum, n);
    else
      memcpy(to, sum, n * type->size);
  }
}
