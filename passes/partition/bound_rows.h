/* Shared by the files of tp-bound-rows. */
#ifndef TP_PARTITION_BOUND_ROWS_H
#define TP_PARTITION_BOUND_ROWS_H

#include "ir/diagnostics.h"
#include "passes/support/value_map.h"

/* The rows of the device: [first, last), of type index. */
typedef struct tp_row_bounds {
  MlirValue first, last;
} tp_row_bounds;

/* Ops that become one loop, in the order of the program. */
typedef struct tp_row_segment {
  tp_op_list ops;
  int64_t of; /* number of the groups */
  tp__value_map results;
} tp_row_segment;

/* The number of rows of an op of a segment. */
int64_t tp__n_rows_of(MlirOperation op);

/* Replaces the segment by a loop in front of `where`; *done tells if it could. Otherwise all ops
 * stay as they are. */
tp_status tp__bound_segment(tp_row_segment *segment, const tp_row_bounds *bounds,
                            MlirOperation where, bool *done);

#endif
