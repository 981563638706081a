/* Packs buffers into blocks. Each buffer goes to the lowest offset where it does not overlap a
 * simultaneously live buffer. The order is greedy by size, largest first (Pisarchyk and Lee,
 * "Efficient Memory Management for Deep Neural Net Inference", 2020). If that leaves gaps, other
 * orders are tried, then changes of the best one. The order with the smallest block wins. */
#include "passes/bufferize/assign.h"

#include "support/support.h"

#include <stdlib.h>

enum {
  NEAR = 64,             /* stop trying orders once the block is within 1/NEAR of the lower bound */
  WORTH = 64,            /* use one block instead of two if that saves more than 1/WORTH */
  MOST_CHANGES = 4096,   /* of the best order, and ... */
  MOST_PLACED = 1 << 24, /* ... most pairs of buffers compared for them */
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

/* The place in the order of the buffer that ends last, the first of equal ones. */
static size_t highest(tp__buffer *const *list, size_t n) {
  size_t top = 0;
  for (size_t i = 1; i < n; i++)
    if (list[i]->offset + align_up(list[i]->bytes) > list[top]->offset + align_up(list[top]->bytes))
      top = i;
  return top;
}

/* Moves the buffer from one place of the order to another. */
static void move(tp__buffer **list, size_t from, size_t to) {
  tp__buffer *moved = list[from];
  for (; from > to; from--)
    list[from] = list[from - 1];
  for (; from < to; from++)
    list[from] = list[from + 1];
  list[to] = moved;
}

typedef struct packing {
  tp__buffer **list; /* n buffers, sorted by size */
  size_t n;
  tp__buffer **order, **best_order, **near; /* space for n buffers each */
  int64_t *offsets;                         /* of list[]: those of the best order */
  int64_t size, least;                      /* of the best block, and a lower bound */
} packing;

static bool is_near(const packing *p) { return p->size <= p->least + p->least / NEAR; }

/* Places the buffers in the present order. False if that makes the block larger than `most`. */
static bool try_order(packing *p, int64_t most) {
  place_all(p->order, p->n, 0, INT64_MAX, p->near);
  int64_t size = end_of(p->list, p->n);
  if (size > most)
    return false;
  p->size = size;
  for (size_t i = 0; i < p->n; i++)
    p->offsets[i] = p->list[i]->offset;
  return true;
}

/* Changes the best order: the buffer that ends last is placed earlier. Each change is kept unless
 * it makes the block larger. How much earlier is drawn, always in the same way. */
static void change_order(packing *p) {
  uint64_t drawn = 1;
  int64_t changes = MOST_PLACED / (int64_t)(p->n * p->n + 1);
  changes = changes < MOST_CHANGES ? changes : MOST_CHANGES;
  for (int64_t k = 0; k < changes && !is_near(p); k++) {
    for (size_t i = 0; i < p->n; i++)
      p->list[i]->offset = p->offsets[i];
    size_t from = highest(p->best_order, p->n);
    drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    size_t to = from > 0 ? (size_t)(drawn >> 33) % from : (size_t)(drawn >> 33) % p->n;
    move(p->best_order, from, to);
    for (size_t i = 0; i < p->n; i++)
      p->order[i] = p->best_order[i];
    if (!try_order(p, p->size))
      move(p->best_order, to, from);
  }
}

/* Packs list[0 .. n), which is sorted by size, into one block. Returns its size. `scratch` has
 * space for 3n entries. */
static int64_t pack(tp__buffer **list, size_t n, tp__buffer **scratch, int64_t *offsets) {
  packing p = {.list = list,
               .n = n,
               .order = scratch,
               .near = scratch + n,
               .best_order = scratch + 2 * n,
               .offsets = offsets,
               .size = INT64_MAX,
               .least = min_block_size(list, n, scratch)};
  if (n == 0)
    return 0;
  for (int k = 0; k < TP_LEN(orders) && (k == 0 || !is_near(&p)); k++) {
    for (size_t i = 0; i < n; i++)
      p.order[i] = list[i];
    qsort(p.order, n, sizeof(tp__buffer *), orders[k]);
    if (!try_order(&p, p.size - 1))
      continue;
    for (size_t i = 0; i < n; i++)
      p.best_order[i] = p.order[i];
  }
  change_order(&p);
  for (size_t i = 0; i < n; i++)
    list[i]->offset = offsets[i];
  return p.size;
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
  tp__buffer **list = tp__calloc(buffers->n + 1, 4 * sizeof(tp__buffer *));
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
