/* Pool allocator with bump allocation in blocks. */
#include "solver/pool.h"

#include "support/support.h"

#include <stdint.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 16, ALIGNMENT = 16 };

struct tp__pool_block {
  struct tp__pool_block *next;
  /* makes the data after it as aligned as malloc's result */
  char pad[ALIGNMENT - sizeof(struct tp__pool_block *)];
};

void *tp__pool_alloc(tp__pool *pool, size_t count, size_t size) {
  if (tp__alloc_fails() || (size != 0 && count > (SIZE_MAX / 2) / size))
    return NULL;
  size_t bytes = (count * size + ALIGNMENT) & ~(size_t)(ALIGNMENT - 1);
  if (bytes > pool->left) {
    /* A large request gets a block of its own and leaves the current one open. */
    size_t capacity = bytes > BLOCK_BYTES / 4 ? bytes : BLOCK_BYTES;
    struct tp__pool_block *block = tp__malloc(sizeof *block + capacity);
    if (!block)
      return NULL;
    block->next = pool->blocks;
    pool->blocks = block;
    if (capacity == bytes)
      return block + 1;
    pool->at = (char *)(block + 1);
    pool->left = capacity;
  }
  void *taken = pool->at;
  pool->at += bytes;
  pool->left -= bytes;
  return taken;
}

void *tp__pool_calloc(tp__pool *pool, size_t count, size_t size) {
  void *taken = tp__pool_alloc(pool, count, size);
  if (taken)
    memset(taken, 0, count * size);
  return taken;
}

void tp__pool_release(tp__pool *pool) {
  for (struct tp__pool_block *block = pool->blocks; block;) {
    struct tp__pool_block *next = block->next;
    tp__free(block);
    block = next;
  }
  *pool = (tp__pool){0};
}
