/* Finds races in shared memory: notes for each byte which thread accessed it last.
 *
 * Each byte has a record of its last writer and its last reader; the four of a word have one as
 * long as they are accessed together. Two accesses of different threads, one a write, are a race
 * unless there is a barrier between them: the later thread's warp knows the clock of the other's
 * warp at that access (ptx_barrier.c). Within a warp, a bar.warp.sync does (the warp's epoch has
 * changed). After several readers, any barrier of the CTA counts. Concurrent writes of the same
 * value are allowed, since their order does not matter.
 *
 * Products of warpgroups read units of 16 bytes through the async proxy: what threads have written
 * is visible to them if, after the write, the writer executes fence.proxy.async before the barrier,
 * or the reader behind it. A unit must not be written while a product runs that reads it, nor later
 * without a barrier behind the product's wait. */
#include "ptx_inside.h"

enum { MANY_READERS = UINT32_MAX };

/* An access of thread `other` - 1 happens before the next one of this warp. */
static bool ordered(const ptx_warp *w, uint32_t other, uint32_t clock, uint32_t warp_epoch) {
  uint32_t of = (other - 1) / PTX_WARP;
  if (of == w->number)
    return clock < w->clock[of] || warp_epoch != w->epoch;
  return clock <= w->clock[of];
}

static bool fail_reader(ptx_warp *w, int lane, size_t at, uint32_t reader) {
  if (reader == MANY_READERS)
    ptx_fail(w, lane, PTX_FAULT,
             "shared memory at %zu was read by other threads, with no barrier between", at);
  else
    ptx_fail(w, lane, PTX_FAULT,
             "shared memory at %zu was read by thread %u, with no barrier between", at, reader - 1);
  return false;
}

static bool fail_writer(ptx_warp *w, int lane, size_t at, uint32_t writer) {
  ptx_fail(w, lane, PTX_FAULT,
           "shared memory at %zu was written by thread %u, with no barrier between", at,
           writer - 1);
  return false;
}

/* Returns the record of byte `at`, where an access has `left` more bytes, and for how many of these
 * it stands. */
static ptx_shadow *record_apart(const ptx_cta *c, size_t at, size_t left, size_t *n) {
  bool is_whole = at % PTX_WORD == 0 && left >= PTX_WORD;
  ptx_shadow *word = c->words + at / PTX_WORD, *bytes = c->bytes + at / PTX_WORD * PTX_WORD;
  bool *apart = c->apart + at / PTX_WORD;
  if (is_whole && *apart) {
    bool equal = true;
    for (int b = 1; b < PTX_WORD; b++)
      equal &= memcmp(bytes, bytes + b, sizeof *bytes) == 0;
    if (equal)
      *word = *bytes;
    *apart = !equal;
  } else if (!is_whole && !*apart) {
    for (int b = 0; b < PTX_WORD; b++)
      bytes[b] = *word;
    *apart = true;
  }
  *n = *apart ? 1 : PTX_WORD;
  return *apart ? c->bytes + at : word;
}

/* The same; most words are accessed whole. */
static inline ptx_shadow *record_of(const ptx_cta *c, size_t at, size_t left, size_t *n) {
  if (at % PTX_WORD != 0 || left < PTX_WORD || c->apart[at / PTX_WORD])
    return record_apart(c, at, left, n);
  *n = PTX_WORD;
  return c->words + at / PTX_WORD;
}

/* note_write and note_read record an access to the n bytes of shared memory at `at` in s, their
 * record. `me` is the number of the thread that accesses them, counted from 1. They return false if
 * the access races with an earlier one. */
static bool note_write(ptx_warp *w, int lane, size_t at, size_t n, ptx_shadow *s, uint32_t me,
                       const unsigned char *new_bytes) {
  if (s->writer && s->writer != me && !ordered(w, s->writer, s->written, s->written_warp))
    for (size_t b = 0; b < n; b++)
      if (w->cta->shared[at + b] != new_bytes[b])
        return fail_writer(w, lane, at + b, s->writer);
  if (s->reader == MANY_READERS
          ? s->read_epoch == w->cta->epoch
          : s->reader && s->reader != me && !ordered(w, s->reader, s->read, s->read_warp))
    return fail_reader(w, lane, at, s->reader);
  w->cta->marks[at / PTX_WORD].warps = 0;
  s->writer = me;
  s->written = w->clock[w->number];
  s->written_warp = w->epoch;
  s->fenced = (uint32_t)w->n_fences;
  return true;
}

static void note_reader(const ptx_cta *c, ptx_shadow *s, uint32_t me, uint32_t clock,
                        uint32_t epoch) {
  bool others = s->reader && s->reader != me && s->read_epoch == c->epoch;
  s->reader = others ? MANY_READERS : me;
  s->read = clock;
  s->read_warp = epoch;
  s->read_epoch = c->epoch;
}

static bool note_read(ptx_warp *w, int lane, size_t at, ptx_shadow *s, uint32_t me) {
  uint32_t clock = w->clock[w->number];
  if (s->reader == me && s->read == clock && s->read_warp == w->epoch &&
      s->read_epoch == w->cta->epoch)
    return true; /* as before: a write since then would have been a race */
  if (!s->writer) {
    ptx_fail(w, lane, PTX_FAULT, "shared memory at %zu is read before it was written", at);
    return false;
  }
  if (s->writer != me && !ordered(w, s->writer, s->written, s->written_warp))
    return fail_writer(w, lane, at, s->writer);
  note_reader(w->cta, s, me, clock, w->epoch);
  return true;
}

/* Fails if products read a unit that is about to be written. */
static bool is_free(ptx_warp *w, int lane, size_t unit) {
  const ptx_cta *c = w->cta;
  const uint32_t *read_by = c->read_by + unit * c->n_warps;
  if (c->n_reading[unit]) {
    ptx_fail(w, lane, PTX_FAULT, "shared memory at %zu is read by a product that runs",
             unit * PTX_UNIT);
    return false;
  }
  for (uint32_t o = 0; o < c->n_warps; o++)
    if (o != w->number && read_by[o] > w->clock[o]) {
      ptx_fail(w, lane, PTX_FAULT,
               "shared memory at %zu was read by a product of warp %u, with no barrier between",
               unit * PTX_UNIT, o);
      return false;
    }
  return true;
}

/* Finds static shared memory and the dynamic one, which are stored together. */
static bool place_shared(ptx_warp *w, int lane, uint64_t address, size_t bytes, size_t *place) {
  const ptx_cta *c = w->cta;
  size_t fixed = c->kernel->shared_bytes, dynamic = c->shared_bytes - c->dynamic_at;
  bool is_dynamic = dynamic > 0 && address >= PTX_DYNAMIC_SHARED;
  size_t at = address - (is_dynamic ? PTX_DYNAMIC_SHARED : 0), all = is_dynamic ? dynamic : fixed;
  *place = at + (is_dynamic ? c->dynamic_at : 0);
  if (at <= all && bytes <= all - at)
    return true;
  ptx_fail(w, lane, PTX_BAD_ADDRESS,
           "%zu bytes at %llu of shared memory, which has %zu, and %zu of dynamic at %d", bytes,
           (unsigned long long)address, fixed, dynamic, PTX_DYNAMIC_SHARED);
  return false;
}

unsigned char *ptx_reach_shared(ptx_warp *w, int lane, uint64_t address, size_t bytes,
                                const unsigned char *new_bytes) {
  ptx_cta *c = w->cta;
  uint32_t me = w->number * PTX_WARP + (uint32_t)lane + 1;
  size_t at;
  if (!place_shared(w, lane, address, bytes, &at))
    return NULL;
  for (size_t unit = at / PTX_UNIT;
       new_bytes && c->n_reading && unit <= (at + bytes - 1) / PTX_UNIT; unit++)
    if (!is_free(w, lane, unit))
      return NULL;
  for (size_t b = 0, n; b < bytes; b += n) {
    ptx_shadow *s = record_of(c, at + b, bytes - b, &n);
    if (!(new_bytes ? note_write(w, lane, at + b, n, s, me, new_bytes + b)
                    : note_read(w, lane, at + b, s, me)))
      return NULL;
  }
  return c->shared + at;
}

/* Returns true if these words were accessed whole, and written before any access of this warp. */
static bool are_written(const ptx_warp *w, size_t word, size_t n) {
  for (size_t k = word; k < word + n; k++) {
    const ptx_shadow *s = w->cta->words + k;
    if (w->cta->apart[k] || !s->writer || !ordered(w, s->writer, s->written, s->written_warp))
      return false;
  }
  return true;
}

/* A read by this warp would change nothing: the words are marked for it. */
static inline bool are_read(const ptx_warp *w, size_t word, size_t n) {
  const ptx_read_mark *marks = w->cta->marks + word;
  bool all = true;
  for (size_t k = 0; k < n; k++)
    all &= marks[k].epoch == w->cta->epoch && marks[k].warps >> w->number & 1;
  return all;
}

/* Notes a read, and marks the word if several threads have read it: all that a later write asks
 * for. */
static void note_word(ptx_warp *w, size_t word, uint32_t me) {
  ptx_cta *c = w->cta;
  ptx_read_mark *mark = c->marks + word;
  note_reader(c, c->words + word, me, w->clock[w->number], w->epoch);
  if (c->words[word].reader != MANY_READERS)
    return;
  mark->warps = (mark->epoch == c->epoch ? mark->warps : 0) | 1u << w->number;
  mark->epoch = c->epoch;
}

bool ptx_read_shared(ptx_warp *w, uint32_t mask, const uint64_t address[PTX_WARP], size_t bytes,
                     const unsigned char *from[PTX_WARP]) {
  ptx_cta *c = w->cta;
  size_t n = bytes / PTX_WORD;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int l = __builtin_ctz(rest);
    size_t at, word;
    if (!place_shared(w, l, address[l], bytes, &at))
      return false;
    from[l] = c->shared + at;
    word = at / PTX_WORD;
    bool is_whole = at % PTX_WORD == 0 && bytes % PTX_WORD == 0;
    if (is_whole && are_read(w, word, n))
      continue;
    if (is_whole && are_written(w, word, n))
      for (size_t k = 0; k < n; k++)
        note_word(w, word + k, w->number * PTX_WARP + (uint32_t)l + 1);
    else if (!ptx_reach_shared(w, l, address[l], bytes, NULL))
      return false;
  }
  return true;
}

/* ---- The async proxy ---- */

/* The last write of a byte, which is ordered, is visible to this warp's products. */
static bool is_proxied(const ptx_warp *w, const ptx_shadow *s) {
  uint32_t of = (s->writer - 1) / PTX_WARP, lane = (s->writer - 1) % PTX_WARP;
  const ptx_warp *writer = &w->cta->warps[of];
  if (of != w->number && s->written <= w->proxied[of])
    return true;
  int f = (int)s->fenced;
  while (f < writer->n_fences && !(writer->fences[f].mask >> lane & 1))
    f++;
  return f < writer->n_fences && (of == w->number || writer->fences[f].clock <= w->clock[of]);
}

const unsigned char *ptx_reach_unit(ptx_warp *w, uint64_t address, size_t *number) {
  const ptx_cta *c = w->cta;
  const ptx_shadow *last = NULL;
  size_t at, n;
  if (!place_shared(w, -1, address, PTX_UNIT, &at))
    return NULL;
  for (size_t b = 0; b < PTX_UNIT; b += n) {
    const ptx_shadow *s = record_of(c, at + b, PTX_UNIT - b, &n);
    if (last && s->writer == last->writer && s->written == last->written &&
        s->fenced == last->fenced)
      continue;
    last = s;
    if (!s->writer) {
      ptx_fail(w, -1, PTX_FAULT, "shared memory at %zu is read before it was written", at + b);
      return NULL;
    }
    /* within a warp, the product itself orders what its threads have done before */
    if ((s->writer - 1) / PTX_WARP != w->number &&
        !ordered(w, s->writer, s->written, s->written_warp)) {
      fail_writer(w, -1, at + b, s->writer);
      return NULL;
    }
    if (!is_proxied(w, s)) {
      ptx_fail(w, -1, PTX_FAULT,
               "shared memory at %zu was written by thread %u, with no fence.proxy.async between",
               at + b, s->writer - 1);
      return NULL;
    }
  }
  *number = at / PTX_UNIT;
  return c->shared + at;
}
