/* The memory traffic of ops that touch only some elements of a tensor: slices, lookups, and updates
 * in place. Of all other ops every operand passes through memory as a whole.
 *
 * A point of an op is one element that it extracts or inserts, or one iteration of its body. */
#ifndef TP_IR_TRAFFIC_H
#define TP_IR_TRAFFIC_H

#include "ir/ir.h"

typedef struct tp_traffic {
  /* bits: operands, followed by captured tensors, that are read at the points only (see
   * tp__reads_per_point) */
  uint64_t read;
  uint64_t updated; /* bits: operands that become results, changed at the points only */
  /* how often an element at a point of an updated operand moves: 1: it is written; 2: it is also
   * read */
  int n_moves;
  uint32_t skipped; /* bits: loops that a scatter need not visit */
} tp_traffic;

tp_traffic tp__op_traffic(MlirOperation op);

/* Returns how many elements of `tensor`, one of tp_traffic.read, each point of the op reads; 0: the
 * op reads it as a whole. */
int tp__reads_per_point(MlirOperation op, MlirValue tensor);

/* How the new value of an updated operand gets its memory. */
typedef enum tp_update {
  TP_UPDATE_IN_PLACE,
  TP_UPDATE_NEW,  /* the old value is a number for all elements, which are written first */
  TP_UPDATE_COPY, /* the old value is still needed, so it is copied */
  TP_N_UPDATES
} tp_update;

/* Finds out which of these holds for an updated operand, from the present uses of its value. A
 * value that a loop carries, and an argument with a new value (tp.updates), are updated in place.
 * Reshards and views are looked through. */
tp_update tp__update_of(MlirOperation op, int operand);

/* Returns the traffic of an updated operand of `whole` bytes, `points` of which change. */
double tp__update_bytes(tp_update update, int n_moves, double whole, double points);
/* Returns the traffic of reading a tensor of `whole` bytes. `points` are the bytes of one element
 * per point, `reads` is that of tp__reads_per_point. */
double tp__read_bytes(int reads, double whole, double points);

/* True if the op is a slice that is read from the memory of its operand: an argument, a stored
 * constant or a value from outside of the block, all of which stay in memory. False if the slice is
 * itself returned or yielded. Reshards are looked through. */
bool tp__slices_lasting(MlirOperation op);

#endif
