/* Comparison functions for qsort and bsearch. */
#ifndef TP_LIB_SUPPORT_COMPARE_H
#define TP_LIB_SUPPORT_COMPARE_H

#include <stdint.h>

static inline int tp__compare_ints(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* Also for a tp_cost. */
static inline int tp__compare_i64s(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

#endif
