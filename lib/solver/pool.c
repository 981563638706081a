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

static void *take(tp__pool *pool, size_t count, size_t size, bool is_zeroed) {
  if (tp__alloc_fails() || (size != 0 && count > (SIZE_MAX / 2) / size))
    return NULL;
  size_t bytes = (count * size + ALIGNMENT) & ~(size_t)(ALIGNMENT - 1);
  if (bytes > pool->left) {
    /* A large request gets a block of its own and leaves the current one open. */
    bool is_own = bytes > BLOCK_BYTES / 4;
    size_t capacity = is_own ? bytes : BLOCK_BYTES;
    struct tp__pool_block *block = is_own && is_zeroed ? tp__calloc(1, sizeof *block + capacity)
                                                       : tp__malloc(sizeof *block + capacity);
    if (!block)
      return NULL;
    block->next = pool->blocks;
    pool->blocks = block;
    if (is_own)
      return block + 1;
    pool->at = (char *)(block + 1);
    pool->left = capacity;
  }
  void *taken = pool->at;
  pool->at += bytes;
  pool->left -= bytes;
  return is_zeroed ? memset(taken, 0, count * size) : taken;
}

void *tp__pool_alloc(tp__pool *pool, size_t count, size_t size) {
  return take(pool, count, size, false);
}

void *tp__pool_calloc(tp__pool *pool, size_t count, size_t size) {
  return take(pool, count, size, true);
}

void tp__pool_release(tp__pool *pool) {
  for (struct tp__pool_block *block = pool->blocks; block;) {
    struct tp__pool_block *next = block->next;
    tp__free(block);
    block = next;
  }
  *pool = (tp__pool){0};
}
