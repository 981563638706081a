/* A pool: many allocations, one release. Everything a graph of the solver owns lives in its pool,
 * so that a failed allocation needs no unwinding. Blocks are taken from malloc; nothing is returned
 * before the release. */
#ifndef TP_LIB_SOLVER_POOL_H
#define TP_LIB_SOLVER_POOL_H

#include <stddef.h>

typedef struct tp__pool {
  struct tp__pool_block *blocks;
  char *at;    /* free part of the newest block */
  size_t left; /* its bytes */
} tp__pool;

/* Room for `count` objects of `size` bytes, aligned for any object, uninitialised. NULL when memory
 * runs out; never NULL for zero objects otherwise. */
void *tp__pool_take(tp__pool *pool, size_t count, size_t size);
/* The same, zeroed. */
void *tp__pool_take_zeroed(tp__pool *pool, size_t count, size_t size);
void tp__pool_release(tp__pool *pool);

#endif
