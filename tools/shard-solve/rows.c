/* Stores rows of numbers and deduplicates them. */
#include "rows.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_NUMBERS = 1 << 16 };

struct rows_block {
  struct rows_block *next;
  int64_t values[];
};

static int64_t *take(rows *r, size_t n) {
  if (n > r->left) {
    size_t capacity = n > BLOCK_NUMBERS / 4 ? n : BLOCK_NUMBERS;
    struct rows_block *block = malloc(sizeof *block + capacity * sizeof *block->values);
    if (!block)
      return NULL;
    block->next = r->blocks;
    r->blocks = block;
    if (capacity == n)
      return block->values;
    r->free = block->values;
    r->left = capacity;
  }
  int64_t *taken = r->free;
  r->free += n;
  r->left -= n;
  return taken;
}

static uint64_t hash(const int64_t *values, int64_t n) {
  uint64_t h = (uint64_t)n * 0x9e3779b97f4a7c15u;
  for (int64_t i = 0; i < n; i++) {
    h = (h ^ (uint64_t)values[i]) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  }
  return h;
}

static bool equal(const row *a, const int64_t *values, int64_t n) {
  return a->n == n && (n == 0 || memcmp(a->values, values, (size_t)n * sizeof *values) == 0);
}

static bool grow_slots(rows *r) {
  int n = r->n_slots ? r->n_slots * 2 : 1024;
  int *slots = malloc((size_t)n * sizeof *slots);
  if (!slots)
    return false;
  memset(slots, -1, (size_t)n * sizeof *slots);
  for (int k = 0; k < r->n; k++) {
    if (r->items[k].same_as != k)
      continue;
    size_t at = hash(r->items[k].values, r->items[k].n) & (size_t)(n - 1);
    while (slots[at] >= 0)
      at = (at + 1) & (size_t)(n - 1);
    slots[at] = k;
  }
  free(r->slots);
  r->slots = slots;
  r->n_slots = n;
  return true;
}

bool rows_grow(rows *r) {
  int64_t capacity = r->scratch_capacity ? 2 * r->scratch_capacity : 4096;
  int64_t *more = realloc(r->scratch, (size_t)capacity * sizeof *more);
  if (!more)
    return false;
  r->scratch = more;
  r->scratch_capacity = capacity;
  return true;
}

bool rows_end(rows *r, position where) {
  int64_t n = r->n_scratch;
  r->n_scratch = 0;
  if (r->n == r->capacity) {
    int capacity = r->capacity ? r->capacity * 2 : 256;
    row *more = realloc(r->items, (size_t)capacity * sizeof *more);
    if (!more)
      return false;
    r->items = more;
    r->capacity = capacity;
  }
  if (r->n_taken >= r->n_slots / 2 && !grow_slots(r))
    return false;
  size_t at = hash(r->scratch, n) & (size_t)(r->n_slots - 1);
  while (r->slots[at] >= 0 && !equal(&r->items[r->slots[at]], r->scratch, n))
    at = (at + 1) & (size_t)(r->n_slots - 1);
  if (r->slots[at] >= 0) {
    const row *first = &r->items[r->slots[at]];
    r->items[r->n++] = (row){first->values, n, r->slots[at], where};
    return true;
  }
  int64_t *values = take(r, (size_t)n + 1);
  if (!values)
    return false;
  if (n)
    memcpy(values, r->scratch, (size_t)n * sizeof *values);
  r->slots[at] = r->n;
  r->n_taken++;
  r->items[r->n] = (row){values, n, r->n, where};
  r->n++;
  return true;
}

void rows_clear(rows *r) {
  for (struct rows_block *block = r->blocks; block;) {
    struct rows_block *next = block->next;
    free(block);
    block = next;
  }
  free(r->items);
  free(r->slots);
  free(r->scratch);
  *r = (rows){0};
}
