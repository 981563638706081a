/* A bump allocator. */
#include "support/support.h"

#include <stdio.h>
#include <string.h>

struct tp__arena_block {
  tp__arena_block *next;
  size_t size; /* usable bytes in data */
  max_align_t data[];
};

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

/* Adds a block of at least `size` bytes. Blocks double up to a limit, so small arenas stay
 * small. */
static bool add_block(tp__arena *arena, size_t size) {
  size_t block_size = arena->blocks ? arena->blocks->size * 2 : FIRST_BLOCK;
  if (block_size > LARGEST_BLOCK)
    block_size = LARGEST_BLOCK;
  if (block_size < size)
    block_size = size;
  if (block_size > SIZE_MAX - sizeof(tp__arena_block))
    return false;
  tp__arena_block *block = tp__calloc(1, sizeof(tp__arena_block) + block_size);
  if (!block)
    return false;
  block->next = arena->blocks;
  block->size = block_size;
  arena->blocks = block;
  arena->used = 0;
  return true;
}

void *tp__arena_alloc(tp__arena *arena, size_t size) {
  const size_t align = _Alignof(max_align_t);
  if (tp__alloc_fails() || size > SIZE_MAX - align)
    return NULL;
  size_t rounded = size ? (size + align - 1) / align * align : align;
  if (!arena->blocks || rounded > arena->blocks->size - arena->used) {
    if (!add_block(arena, rounded))
      return NULL;
  }
  void *memory = (char *)arena->blocks->data + arena->used;
  arena->used += rounded;
  return memory;
}

void *tp__arena_array(tp__arena *arena, size_t n, size_t size) {
  if (size && n > SIZE_MAX / size)
    return NULL;
  return tp__arena_alloc(arena, n * size);
}

char *tp__arena_strndup(tp__arena *arena, const char *text, size_t length) {
  if (length == SIZE_MAX)
    return NULL;
  char *copy = tp__arena_alloc(arena, length + 1);
  if (copy)
    memcpy(copy, text, length);
  return copy;
}

char *tp__arena_strdup(tp__arena *arena, const char *text) {
  return tp__arena_strndup(arena, text, strlen(text));
}

char *tp__arena_printf(tp__arena *arena, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  char *text = length < 0 ? NULL : tp__arena_alloc(arena, (size_t)length + 1);
  if (text)
    vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  va_end(args);
  return text;
}

void tp__arena_destroy(tp__arena *arena) {
  for (tp__arena_block *block = arena->blocks; block;) {
    tp__arena_block *next = block->next;
    tp__free(block);
    block = next;
  }
  *arena = (tp__arena){0};
}
