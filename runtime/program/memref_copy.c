/* Implements memref.copy for strided views, on MLIR's unranked memref descriptors. */
#include "tprt/abi.h"

#include <stdint.h>
#include <string.h>

typedef struct view {
  char *data;
  const int64_t *sizes, *strides;
} view;

/* Reads the descriptor {allocated, aligned, offset, sizes[rank], strides[rank]}. Pointers and
 * indices have 8 bytes, here and in MLIR. */
static view open_view(const tprt_unranked_memref *memref, int64_t element_bytes) {
  struct {
    char *allocated, *aligned;
    int64_t offset;
  } head;
  memcpy(&head, memref->descriptor, sizeof head);
  const int64_t *words = (const int64_t *)memref->descriptor + 3;
  return (view){.data = head.aligned + head.offset * element_bytes,
                .sizes = words,
                .strides = words + memref->rank};
}

/* Copies by recursion over the dimensions from `dim` to `rank`. The remaining inner dimensions are
 * contiguous in both views and have `run_bytes` bytes. */
static void copy_from(const view *to, const view *from, char *target, const char *source,
                      int64_t dim, int64_t rank, int64_t run_bytes, int64_t element_bytes) {
  if (dim == rank) {
    memcpy(target, source, (size_t)run_bytes);
    return;
  }
  int64_t target_step = to->strides[dim] * element_bytes,
          source_step = from->strides[dim] * element_bytes;
  for (int64_t i = 0; i < to->sizes[dim]; i++) {
    copy_from(to, from, target + i * target_step, source + i * source_step, dim + 1, rank,
              run_bytes, element_bytes);
  }
}

void memrefCopy(int64_t element_bytes, tprt_unranked_memref *source,
                tprt_unranked_memref *destination) {
  view from = open_view(source, element_bytes), to = open_view(destination, element_bytes);
  int64_t rank = source->rank, run = 1;
  for (int64_t i = 0; i < rank; i++) {
    if (from.sizes[i] == 0)
      return;
  }
  while (rank > 0 && (from.sizes[rank - 1] == 1 ||
                      (from.strides[rank - 1] == run && to.strides[rank - 1] == run))) {
    run *= from.sizes[rank - 1];
    rank--;
  }
  copy_from(&to, &from, to.data, from.data, 0, rank, run * element_bytes, element_bytes);
}
