/* The reduction of rows for one element type and number of values per thread. Included once per
 * such pair, with these macros, which it undefines:
 *   ROWS(x)        x_rows_f32, x_short_rows_f32, ...
 *   VALUES         of a row, at most, in the registers of a thread
 *   CTAS_AT_ONCE   with FUSED_THREADS threads on a multiprocessor, which limits the registers
 * Fewer values need fewer registers, so more loads are under way at once. */
#define ITEMS (VALUES / LANES) /* vectors of a row per thread */

#include "cuda/kernels/row.cuh"

#include "cuda/kernels/all_reduce.cuh"

#undef EACH_ITEM
#undef LANE_VALUES
#undef ITEMS
#undef CTAS_AT_ONCE
#undef VALUES
#undef ROWS
