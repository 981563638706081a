/* Rows of numbers as they are in a file; equal rows are stored once. */
#ifndef SHARD_SOLVE_ROWS_H
#define SHARD_SOLVE_ROWS_H

#include "stream.h"

typedef struct row {
  const int64_t *values;
  int64_t n;
  int same_as; /* the first equal row, or itself */
  position where;
} row;

typedef struct rows {
  row *items;
  int n, capacity;
  int *slots; /* hash table of first rows, -1: free */
  int n_slots, n_taken;
  struct rows_block *blocks;
  size_t left; /* free numbers at the end of the newest block */
  int64_t *free;
  int64_t *scratch; /* the row being read */
  int64_t n_scratch, scratch_capacity;
} rows;

enum { MAX_ROWS = INT32_MAX / 8 };

/* Makes room for more numbers in the row being read. False if memory runs out. */
bool rows_grow(rows *r);
/* Adds a number to the row being read. False if memory runs out. Inline, because files have
 * millions of numbers. */
static inline bool rows_add(rows *r, int64_t value) {
  if (r->n_scratch == r->scratch_capacity && !rows_grow(r))
    return false;
  r->scratch[r->n_scratch++] = value;
  return true;
}
/* Ends the row, which begins at `where`. False if memory runs out. */
bool rows_end(rows *r, position where);
void rows_clear(rows *r);

#endif
