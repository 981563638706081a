/* Copies to and from a ring of bytes in memory that two processes share. */
#ifndef TPRT_RUNTIME_RING_H
#define TPRT_RUNTIME_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Copies `bytes` bytes, at most `size`, between memory and the ring of `size` bytes, from position
 * `at` of the stream on. `out`: from the ring to memory. */
static inline void tprt__ring_copy(unsigned char *ring, size_t size, uint64_t at, void *memory,
                                   size_t bytes, bool out) {
  while (bytes) {
    size_t offset = at % size, n = size - offset < bytes ? size - offset : bytes;
    memcpy(out ? memory : ring + offset, out ? ring + offset : memory, n);
    memory = (char *)memory + n;
    at += n;
    bytes -= n;
  }
}

#endif
