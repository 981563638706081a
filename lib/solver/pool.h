/* A memory pool: many allocations, one release. A graph of the solver allocates everything in its
 * pool, so a failed allocation needs no unwinding. Nothing is freed before
 * the release. */
#ifndef TP_LIB_SOLVER_POOL_H
#define TP_LIB_SOLVER_POOL_H

#include <stddef.h>

typedef struct tp__pool {
  struct tp__pool_block *blocks;
  char *at;    /* free part of the newest block */
  size_t left; /* free bytes in it */
} tp__pool;

/* Returns uninitialized memory for `count` objects of `size` bytes, aligned for any object. NULL
 * only if memory runs out, also for zero objects. */
void *tp__pool_alloc(tp__pool *pool, size_t count, size_t size);
/* The same, zeroed. */
void *tp__pool_calloc(tp__pool *pool, size_t count, size_t size);
void tp__pool_release(tp__pool *pool);

#endif
