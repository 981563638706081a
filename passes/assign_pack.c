/* Packs buffers into blocks: largest first, each at the lowest offset where no buffer in use at the same time lies
 * (greedy by size, as in "Efficient Memory Management for Deep Neural Net Inference", Pisarchyk and Lee, 2020). */
#include "passes/assign.h"

#include "support/support.h"

#include <stdlib.h>

static int64_t align_up(int64_t bytes) { return (bytes + TP_BUFFER_ALIGNMENT - 1) / TP_BUFFER_ALIGNMENT * TP_BUFFER_ALIGNMENT; }

static int by_size(const void *a, const void *b) {
  const tp__buffer *x = *(tp__buffer *const *)a, *y = *(tp__buffer *const *)b;
  if (x->bytes != y->bytes)
    return x->bytes < y->bytes ? 1 : -1;
  return x < y ? -1 : x > y; /* program order */
}

static int by_offset(const void *a, const void *b) {
  const tp__buffer *x = *(tp__buffer *const *)a, *y = *(tp__buffer *const *)b;
  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool overlap(const tp__buffer *a, const tp__buffer *b) { return a->first <= b->last && b->first <= a->last; }

/* Places buffer list[i]; list[0 .. i) is placed. `near` has room for i entries. */
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

/* The buffers of one kind in list[], largest first. */
static size_t list_block(tp__buffers *buffers, bool registered, tp__buffer **list) {
  size_t n = 0;
  for (size_t i = 0; i < buffers->n; i++)
    if (!buffers->items[i].is_output && buffers->items[i].registered == registered)
      list[n++] = buffers->items + i;
  qsort(list, n, sizeof(tp__buffer *), by_size);
  return n;
}

/* Places list[0 .. n). Buffers that would end beyond `limit` are left out; the others move to the front, and their number is returned. */
static size_t place_all(tp__buffer **list, size_t n, size_t first, int64_t limit, tp__buffer **near) {
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

static int64_t end_of(tp__buffer *const *list, size_t n) {
  int64_t end = 0;
  for (size_t i = 0; i < n; i++)
    end = list[i]->offset + align_up(list[i]->bytes) > end ? list[i]->offset + align_up(list[i]->bytes) : end;
  return end;
}

/* Private buffers fill what the registered ones leave free at times: the two blocks are rarely full together. */
tp_status tp__pack_buffers(MlirOperation func, tp__buffers *buffers, int64_t *private_bytes, int64_t *registered_bytes) {
  tp__buffer **list = tp__calloc(buffers->n + 1, 2 * sizeof(tp__buffer *)), **near = list + buffers->n;
  if (!list)
    return tp__error(func, TP_NO_MEMORY, "memory ran out");
  size_t n = list_block(buffers, true, list);
  place_all(list, n, 0, INT64_MAX, near);
  *registered_bytes = end_of(list, n);
  size_t all = n + list_block(buffers, false, list + n);
  size_t inside = place_all(list, all, n, *registered_bytes, near);
  for (size_t i = n; i < inside; i++)
    list[i]->registered = true;
  n = list_block(buffers, false, list);
  place_all(list, n, 0, INT64_MAX, near);
  *private_bytes = end_of(list, n);
  tp__free(list);
  return TP_OK;
}
