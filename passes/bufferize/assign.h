/* Static memory assignment: shared declarations of the files assign_*.c. */
#ifndef TP_PASSES_ASSIGN_H
#define TP_PASSES_ASSIGN_H

#include "passes/support/lower.h"

enum { TP_BUFFER_ALIGNMENT = 64 };

/* A static allocation. Positions number the ops in pre-order; the interval [first, last] is
 * closed. */
typedef struct tp__buffer {
  MlirOperation alloc;
  int64_t bytes;
  int64_t first, last; /* live range of its contents; first > last: never used */
  /* in the registered block, because a collective takes its address or because it fits there */
  bool registered;
  bool is_output; /* in the caller's memory, for result `output` */
  int output;
  int64_t offset; /* offset in its block in bytes, set by tp__pack_buffers */
} tp__buffer;

typedef struct tp__buffers {
  tp__buffer *items;
  size_t n, capacity;
} tp__buffers;

/* Gives every loop-carried value one buffer that is the same in all iterations. */
tp_status tp__carry_loops(MlirOperation func);

/* Finds all allocations of `func` and their live ranges. */
tp_status tp__find_buffers(MlirOperation func, tp__buffers *buffers);

/* Chooses offsets so that simultaneously live buffers of one block do not overlap. Returns the
 * sizes of the private and the registered block. */
tp_status tp__pack_buffers(MlirOperation func, tp__buffers *buffers, int64_t *private_bytes,
                           int64_t *registered_bytes);

/* Computes the bytes of both blocks that the function would get now, without changing it. */
tp_status tp__measure_buffers(MlirOperation func, int64_t *bytes);

/* ---- builders ---- */
MlirValue tp__build_alloc(MlirOperation where, MlirType type);
/* Copies by memref.copy, or by linalg.copy if a layout is strided. */
void tp__build_copy(MlirOperation where, MlirValue from, MlirValue to);
/* Builds the memory at `pointer` as memref<bytes x i8>, and a view of a part of such a block. */
MlirValue tp__build_block(tp__lowering *l, MlirOperation where, MlirValue pointer, int64_t bytes);
MlirValue tp__build_view(tp__lowering *l, MlirOperation where, MlirValue block, int64_t offset,
                         MlirType type);
/* Returns the bytes of a memref of static shape. */
int64_t tp__memref_bytes(MlirType type);

#endif
