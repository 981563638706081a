/* Kernels of nests without reductions: a thread computes one element, or neighbors that fill a
 * vector. */
#include "passes/gpu/kernels/map.h"

#include "passes/support/lower.h"

enum { THREADS = 256 };

tp_status tp__map_elementwise(const tp__map_nest *n, MlirOperation end, tp__map_launch *launch) {
  int loops[TP_MAP_LOOPS], last = n->n_loops - 1;
  int lanes = n->n_loops > 0 ? tp__map_lanes(n, last) : 1;
  int64_t n_items = tp__map_iterations(n, false) / lanes;
  *launch = (tp__map_launch){.n_blocks = (n_items + THREADS - 1) / THREADS,
                             .n_threads = THREADS,
                             .loop = last,
                             .lanes = lanes};
  MlirType counter = tp__map_counter(n, launch->n_blocks * THREADS);
  MlirValue block = tp__map_cast(end, tp__map_register(n, end, "ctaid.x"), counter);
  MlirValue thread = tp__map_cast(end, tp__map_register(n, end, "tid.x"), counter);
  MlirValue first = tp__binary(end, "arith.muli", block, tp__build_int(end, counter, THREADS));
  MlirValue item = tp__binary(end, "arith.addi", first, thread);
  MlirValue at[TP_MAP_LOOPS];
  MlirOperation place;
  tp__map_if(end, tp__compare(end, TP_ULT, item, tp__build_int(end, counter, n_items)), &place);
  tp__map_split(n, place, item, tp__map_order(n, false, last, loops), loops, lanes, at);
  return tp__map_body(n, place, last, lanes, at, NULL);
}
