/* Rows of numbers as they are in a file; equal rows are stored once. */
#ifndef SHARD_SOLVE_ROWS_H
#define SHARD_SOLVE_ROWS_H

#include "pull.h"

typedef struct row {
  const int64_t *values;
  int64_t n;
  int same_as; /* the first equal row, or itself */
  pull_position where;
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
  int64_t scratch_capacity;
} rows;

/* Reads an array of arrays of whole numbers. `what` is its name in messages. */
bool rows_read(rows *r, pull *j, const char *what);
void rows_clear(rows *r);

#endif
