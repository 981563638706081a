/* The fused kernels for one element type. Included once per type, with ELEMENT naming it. */
#include "cuda/kernels/element.cuh"

#include "cuda/kernels/row.cuh"

/* The order of the kernels in the committed PTX. */
#include "cuda/kernels/cross_entropy.cuh"

#include "cuda/kernels/all_reduce.cuh"

#undef EACH_ITEM
#undef LANE_VALUES
#undef ITEMS
#undef LANES
#undef NAMED
#undef PASTE
#undef PASTE_
#undef ELEMENT
