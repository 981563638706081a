/* Registered memory: a first-fit allocator over a rank's arena. The list of blocks is private to
 * the process, so no peer can corrupt it. Equal sequences of calls give equal offsets on all
 * ranks. */
#define _GNU_SOURCE 1
#include "backends/shm/shm.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

/* Populates the pages now, in order, from the rank that owns the memory. Otherwise the first writes
 * of a collective would fault them in, from several ranks and buffers in turn. Adjacent virtual
 * pages would then be scattered in physical memory, and processors that cover a few adjacent pages
 * with one TLB entry would need an entry for each: a large all-reduce took 10% longer. If
 * populating fails, the pages are faulted in on first use. */
static void populate(void *memory, size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  madvise(memory, bytes, MADV_POPULATE_WRITE);
#else
  (void)memory, (void)bytes;
#endif
}

tprt_status tprt__shm_alloc(tprt__transport *transport, size_t bytes, void **memory) {
  shm_transport *shm = (shm_transport *)transport;
  shm_segment *segment = shm->segment;
  shm_arena *arena = &segment->arenas[shm->world_rank];
  if (bytes > segment->sizes.arena_bytes)
    goto full;
  shm_block *block = tprt__alloc(sizeof *block);
  if (!block)
    return tprt__fail_memory(sizeof *block);
  /* whole pages, so that freeing can return them to the system */
  block->bytes = tprt__round_up(bytes, SHM_PAGE);
  block->wanted = bytes;
  pthread_mutex_lock(&arena->lock);
  shm_block **at = &arena->blocks;
  while (*at && (*at)->offset - block->offset < block->bytes) {
    block->offset = (*at)->offset + (*at)->bytes;
    at = &(*at)->next;
  }
  bool fits = segment->sizes.arena_bytes - block->offset >= block->bytes;
  if (fits) {
    block->next = *at;
    *at = block;
    *memory = tprt__shm_arena(segment, shm->world_rank) + block->offset;
  }
  pthread_mutex_unlock(&arena->lock);
  if (fits) {
    populate(*memory, tprt__round_up(bytes, SHM_PAGE));
    return TPRT_OK;
  }
  tprt__free(block);
full:
  return tprt__fail(
      TPRT_NO_MEMORY,
      "%zu bytes of registered memory do not fit the arena of %llu bytes; raise TPRT_ARENA_BYTES",
      bytes, (unsigned long long)segment->sizes.arena_bytes);
}

void tprt__shm_free(tprt__transport *transport, void *memory) {
  shm_transport *shm = (shm_transport *)transport;
  shm_segment *segment = shm->segment;
  shm_arena *arena = &segment->arenas[shm->world_rank];
  unsigned char *base = tprt__shm_arena(segment, shm->world_rank);
  pthread_mutex_lock(&arena->lock);
  shm_block **at = &arena->blocks;
  while (*at && base + (*at)->offset != memory)
    at = &(*at)->next;
  /* a pinned block stays until the segment is destroyed */
  shm_block *block = *at && (*at)->pinned ? NULL : *at;
  if (block) {
    *at = block->next;
    /* Before another thread can allocate the range: punched pages read as zeros again. If punching
     * fails, clear them. */
    if (fallocate(segment->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)(base - segment->base + (ptrdiff_t)block->offset),
                  (off_t)block->bytes) != 0) {
      memset(memory, 0, block->bytes);
    }
  }
  pthread_mutex_unlock(&arena->lock);
  tprt__free(block);
}

uint64_t tprt__shm_offset(const tprt__transport *transport, const void *memory) {
  const shm_transport *shm = (const shm_transport *)transport;
  return (uint64_t)((uintptr_t)memory - (uintptr_t)tprt__shm_arena(shm->segment, shm->world_rank));
}

void tprt__shm_arena_clear(shm_arena *arena) {
  while (arena->blocks) {
    shm_block *block = arena->blocks;
    arena->blocks = block->next;
    tprt__free(block);
  }
}

bool tprt__shm_arena_offset(const shm_transport *shm, const void *buffer, int64_t bytes,
                            uint64_t *offset) {
  uintptr_t base = (uintptr_t)tprt__shm_arena(shm->segment, shm->world_rank),
            at = (uintptr_t)buffer;
  *offset = at - base;
  return at >= base && at - base <= shm->segment->sizes.arena_bytes &&
         (uint64_t)bytes <= shm->segment->sizes.arena_bytes - (at - base);
}

bool tprt__shm_is_allocated(const shm_transport *shm, uint64_t offset, uint64_t bytes) {
  shm_arena *arena = &shm->segment->arenas[shm->world_rank];
  bool is = false;
  pthread_mutex_lock(&arena->lock);
  for (const shm_block *block = arena->blocks; block; block = block->next)
    is |= offset >= block->offset && offset - block->offset <= block->wanted &&
          bytes <= block->wanted - (offset - block->offset);
  pthread_mutex_unlock(&arena->lock);
  return is;
}

void tprt__shm_pin(shm_segment *segment, int world_rank, uint64_t offset) {
  shm_arena *arena = &segment->arenas[world_rank];
  pthread_mutex_lock(&arena->lock);
  for (shm_block *block = arena->blocks; block; block = block->next)
    block->pinned |= offset >= block->offset && offset - block->offset < block->bytes;
  pthread_mutex_unlock(&arena->lock);
}
