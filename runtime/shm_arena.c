/* Registered memory: a first-fit allocator over a rank's arena. The list of blocks is process memory, so no peer can
 * confuse it; equal sequences of calls give equal offsets on all ranks. */
#define _GNU_SOURCE 1
#include "shm.h"

#include <fcntl.h>
#include <string.h>

tprt_status tprt__shm_alloc(tprt__transport *transport, size_t bytes, void **memory) {
  shm_transport *shm = (shm_transport *)transport;
  shm_segment *segment = shm->segment;
  shm_arena *arena = &segment->arenas[shm->world_rank];
  if (bytes > segment->sizes.arena_bytes)
    goto full;
  shm_block *block = tprt__alloc(sizeof *block);
  if (!block)
    return tprt__fail_memory(sizeof *block);
  block->bytes = tprt__round_up(bytes, SHM_PAGE); /* whole pages, so that freeing can give them back */
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
  if (fits)
    return TPRT_OK;
  tprt__free(block);
full:
  return tprt__fail(TPRT_NO_MEMORY, "no room for %zu bytes of registered memory in an arena of %llu; raise TPRT_ARENA_BYTES",
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
  shm_block *block = *at;
  if (block) {
    *at = block->next;
    /* Before anyone else can get the range. Pages that are punched read as zeros again; where that fails, clear them. */
    if (fallocate(segment->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)(base - segment->base + (ptrdiff_t)block->offset), (off_t)block->bytes) != 0) {
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

bool tprt__shm_arena_offset(const shm_transport *shm, const void *buffer, int64_t bytes, uint64_t *offset) {
  uintptr_t base = (uintptr_t)tprt__shm_arena(shm->segment, shm->world_rank), at = (uintptr_t)buffer;
  *offset = at - base;
  return at >= base && at - base <= shm->segment->sizes.arena_bytes &&
         (uint64_t)bytes <= shm->segment->sizes.arena_bytes - (at - base);
}

/* The arena is mapped in all peers anyway: to expose is to say where in it the memory lies. */
tprt_status tprt__shm_expose(tprt__transport *transport, void *memory, uint64_t bytes, uint64_t *place) {
  if (tprt__shm_arena_offset((const shm_transport *)transport, memory, (int64_t)bytes, place))
    return TPRT_OK;
  return tprt__fail(TPRT_UNSUPPORTED,
                    "backend shm: peers reach only memory from tprt_mem_alloc, which the %llu bytes at %p are not",
                    (unsigned long long)bytes, memory);
}

tprt_status tprt__shm_withdraw(tprt__transport *transport, void *memory) {
  uint64_t place;
  return tprt__shm_expose(transport, memory, 1, &place);
}

tprt_status tprt__shm_reach(const tprt__transport *transport, int rank, uint64_t place, uint64_t bytes, void **memory) {
  const shm_transport *shm = (const shm_transport *)transport;
  uint64_t arena = shm->segment->sizes.arena_bytes;
  if (bytes > arena || place > arena - bytes)
    return tprt__fail(TPRT_INTERNAL, "rank %d named memory outside its arena", shm->members[rank]);
  *memory = tprt__shm_arena(shm->segment, shm->members[rank]) + place;
  return TPRT_OK;
}
