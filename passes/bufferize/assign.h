/* Static memory: what the files assign_*.c share. */
#ifndef TP_PASSES_ASSIGN_H
#define TP_PASSES_ASSIGN_H

#include "passes/support/lower.h"

enum { TP_BUFFER_ALIGNMENT = 64 };

/* One static allocation. Positions count ops in pre-order; [first, last] is closed. */
typedef struct tp__buffer {
  MlirOperation alloc;
  int64_t bytes;
  int64_t first, last; /* when its content is needed; first > last: never */
  /* lies in the registered block: its address reaches a collective, or there is room */
  bool registered;
  bool is_output; /* lies in the caller's memory, see output */
  int output;
  int64_t offset; /* in its block, from tp__pack_buffers */
} tp__buffer;

typedef struct tp__buffers {
  tp__buffer *items;
  size_t n, capacity;
} tp__buffers;

/* Gives every loop-carried value a buffer that stays the same over the iterations. */
tp_status tp__carry_loops(MlirOperation func);

/* Finds all allocations of `func` and when each is in use. */
tp_status tp__find_buffers(MlirOperation func, tp__buffers *buffers);

/* Chooses offsets so that buffers of one block that are in use at the same time do not overlap;
 * sizes of the private and the registered block. */
tp_status tp__pack_buffers(MlirOperation func, tp__buffers *buffers, int64_t *private_bytes,
                           int64_t *registered_bytes);

/* The bytes of both blocks, if the function, which stays as it is, got its buffers now. */
tp_status tp__measure_buffers(MlirOperation func, int64_t *bytes);

/* ---- builders ---- */
MlirValue tp__build_alloc(MlirOperation where, MlirType type);
/* memref.copy; linalg.copy where a layout is strided. */
void tp__build_copy(MlirOperation where, MlirValue from, MlirValue to);
/* The memory at `pointer` as memref<bytes x i8>, and a part of that. */
MlirValue tp__build_block(tp__lowering *l, MlirOperation where, MlirValue pointer, int64_t bytes);
MlirValue tp__build_view(tp__lowering *l, MlirOperation where, MlirValue block, int64_t offset,
                         MlirType type);
/* Bytes of a memref of static shape. */
int64_t tp__memref_bytes(MlirType type);

#endif
