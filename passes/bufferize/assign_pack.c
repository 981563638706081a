/* Packs buffers into blocks. Each buffer goes to the lowest offset where it does not overlap a
 * simultaneously live buffer. The order is greedy by size, largest first (Pisarchyk and Lee,
 * "Efficient Memory Management for Deep Neural Net Inference", 2020). If that leaves gaps, other
 * orders are tried, and the one with the smallest block wins. */
#include "passes/bufferize/assign.h"

#include "support/support.h"

#include <stdlib.h>

enum {
  NEAR = 32, /* stop trying orders once the block is within 1/NEAR of the lower bound */
  WORTH = 16 /* use one block instead of two if that saves more than 1/WORTH */
};

static int64_t align_up(int64_t bytes) {
  return (bytes + TP_BUFFER_ALIGNMENT - 1) / TP_BUFFER_ALIGNMENT * TP_BUFFER_ALIGNMENT;
}

/* ---- orders: a tie goes to the buffer that is allocated first in the program ---- */

static int compare(int64_t x, int64_t y, const tp__buffer *a, const tp__buffer *b) {
  if (x != y)
    return x < y ? 1 : -1;
  return a < b ? -1 : a > b;
}

static int64_t life(const tp__buffer *b) { return b->last - b->first + 1; }

static int by_size(const void *a, const void *b) {
  const tp__buffer *x = *(tp__buffer *const *)a, *y = *(tp__buffer *const *)b;
  return compare(x->bytes, y->bytes, x, y);
}

static int by_life(const void *a, const void *b) {
  const tp__buffer *x = *(tp__buffer *const *)a, *y = *(tp__buffer *const *)b;
  return compare(life(x), life(y), x, y);
}

static int by_area(const void *a, const void *b) {
  const tp__buffer *x = *(tp__buffer *const *)a, *y = *(tp__buffer *const *)b;
  double p = (double)x->bytes * (double)life(x), q = (double)y->bytes * (double)life(y);
  return p != q ? (p < q ? 1 : -1) : compare(0, 0, x, y);
}

static int by_start(const void *a, const void *b) {
  const tp__buffer *x = *(tp__buffer *const *)a, *y = *(tp__buffer *const *)b;
  return compare(-x->first, -y->first, x, y);
}

typedef int (*order)(const void *, const void *);
static const order orders[] = {by_size, by_area, by_life, by_start};

/* ---- offsets ---- */

static int by_offset(const void *a, const void *b) {
  const tp__buffer *x = *(tp__buffer *const *)a, *y = *(tp__buffer *const *)b;
  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool overlap(const tp__buffer *a, const tp__buffer *b) {
  return a->first <= b->last && b->first <= a->last;
}

/* Places list[i] after list[0 .. i) are placed. `near` has space for i entries. */
static void place(tp__buffer **list, size_t i, tp__buffer **near) {
  size_t n = 0;
  for (size_t k = 0; k < i; k++)
    if (overlap(list[k], list[i]))
      near[n++] = list[k];
  qsort(near, n, sizeof(tp__buffer *), by_offset);
  int64_t offset = 0;
  for (size_t k = 0; k < n && near[k]->offset < offset + list[i]->bytes; k++) {
    int64_t end = near[k]->offset + align_up(near[k]->bytes);
    offset = end > offset ? end : offset;
  }
  list[i]->offset = offset;
}

/* Collects the buffers of one kind, or of both, in list[], sorted by size. Returns their number. */
static size_t list_block(tp__buffers *buffers, bool registered, bool both, tp__buffer **list) {
  size_t n = 0;
  for (size_t i = 0; i < buffers->n; i++)
    if (!buffers->items[i].is_output && (both || buffers->items[i].registered == registered))
      list[n++] = buffers->items + i;
  qsort(list, n, sizeof(tp__buffer *), by_size);
  return n;
}

static int64_t end_of(tp__buffer *const *list, size_t n) {
  int64_t end = 0;
  for (size_t i = 0; i < n; i++)
    end = list[i]->offset + align_up(list[i]->bytes) > end
              ? list[i]->offset + align_up(list[i]->bytes)
              : end;
  return end;
}

/* Places list[first .. n). Buffers that would end beyond `limit` stay unplaced. Placed buffers move
 * to the front of the list; returns their number. */
static size_t place_all(tp__buffer **list, size_t n, size_t first, int64_t limit,
                        tp__buffer **near) {
  size_t placed = first;
  for (size_t i = first; i < n; i++) {
    tp__buffer *buffer = list[i];
    list[i] = list[placed];
    list[placed] = buffer;
    place(list, placed, near);
    placed += buffer->offset + align_up(buffer->bytes) <= limit;
  }
  return placed;
}

/* Returns the peak of simultaneously live bytes, a lower bound for the size of the block. */
static int64_t min_block_size(tp__buffer *const *list, size_t n, tp__buffer **by_first) {
  int64_t most = 0;
  for (size_t i = 0; i < n; i++)
    by_first[i] = list[i];
  qsort(by_first, n, sizeof(tp__buffer *), by_start);
  for (size_t i = 0; i < n; i++) { /* the time at which buffer i becomes live */
    int64_t used = 0;
    for (size_t k = 0; k <= i; k++)
      used += by_first[k]->last >= by_first[i]->first ? align_up(by_first[k]->bytes) : 0;
    most = used > most ? used : most;
  }
  return most;
}

/* Packs list[0 .. n), which is sorted by size, into one block. Returns its size. `scratch` has
 * space for 2n entries. */
static int64_t pack(tp__buffer **list, size_t n, tp__buffer **scratch, int64_t *offsets) {
  int64_t best = INT64_MAX, least = min_block_size(list, n, scratch);
  for (int k = 0; k < TP_LEN(orders) && (best > least + least / NEAR || k == 0); k++) {
    for (size_t i = 0; i < n; i++)
      scratch[i] = list[i];
    qsort(scratch, n, sizeof(tp__buffer *), orders[k]);
    place_all(scratch, n, 0, INT64_MAX, scratch + n);
    if (end_of(list, n) >= best)
      continue;
    best = end_of(list, n);
    for (size_t i = 0; i < n; i++)
      offsets[i] = list[i]->offset;
  }
  for (size_t i = 0; i < n; i++)
    list[i]->offset = offsets[i];
  return n ? best : 0;
}

/* ---- blocks ---- */

/* Packs registered buffers first. Private buffers that fit into gaps of the registered block go
 * there; the others go to the private block. */
static void pack_two(tp__buffers *buffers, tp__buffer **list, int64_t *offsets, int64_t bytes[2]) {
  tp__buffer **scratch = list + buffers->n;
  size_t n = list_block(buffers, true, false, list);
  bytes[1] = pack(list, n, scratch, offsets);
  size_t all = n + list_block(buffers, false, false, list + n);
  size_t inside = place_all(list, all, n, bytes[1], scratch);
  for (size_t i = n; i < inside; i++)
    list[i]->registered = true;
  n = list_block(buffers, false, false, list);
  bytes[0] = pack(list, n, scratch, offsets);
}

/* Packs all buffers into the registered block if that saves enough memory. Two blocks are rarely
 * full at the same time. */
static void pack_one(tp__buffers *buffers, tp__buffer **list, int64_t *offsets, int64_t bytes[2]) {
  size_t n = list_block(buffers, true, true, list);
  int64_t *before = offsets + n, total = bytes[0] + bytes[1];
  for (size_t i = 0; i < n; i++)
    before[i] = list[i]->offset;
  int64_t all = pack(list, n, list + buffers->n, offsets);
  bool is_worth_it = bytes[1] > 0 && all < total - total / WORTH;
  for (size_t i = 0; i < n; i++) {
    list[i]->offset = is_worth_it ? list[i]->offset : before[i];
    list[i]->registered |= is_worth_it;
  }
  if (is_worth_it) {
    bytes[0] = 0;
    bytes[1] = all;
  }
}

tp_status tp__pack_buffers(MlirOperation func, tp__buffers *buffers, int64_t *private_bytes,
                           int64_t *registered_bytes) {
  tp__buffer **list = tp__calloc(buffers->n + 1, 3 * sizeof(tp__buffer *));
  int64_t *offsets = tp__calloc(buffers->n + 1, 2 * sizeof *offsets), bytes[2];
  if (list && offsets) {
    pack_two(buffers, list, offsets, bytes);
    pack_one(buffers, list, offsets, bytes);
    *private_bytes = bytes[0];
    *registered_bytes = bytes[1];
  }
  bool ok = list && offsets;
  tp__free(list);
  tp__free(offsets);
  return ok ? TP_OK : tp__out_of_memory(func);
}
