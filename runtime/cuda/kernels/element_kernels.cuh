/* The fused kernels for one element type. Included once per type, with ELEMENT naming it. */
#include "cuda/kernels/element.cuh"

#include "cuda/kernels/cross_entropy.cuh"

#include "cuda/kernels/lanes.cuh"

#define ROWS(name) NAMED(name##_rows)
#define VALUES FUSED_VALUES
#define CTAS_AT_ONCE 1
#include "cuda/kernels/reduce_rows.cuh"

#define ROWS(name) NAMED(name##_short_rows)
#define VALUES FUSED_FEW_VALUES
#define CTAS_AT_ONCE 2
#include "cuda/kernels/reduce_rows.cuh"

#undef LANES
#undef NAMED
#undef PASTE
#undef PASTE_
#undef ELEMENT
