/* StableHLO and CHLO: which ops tp-import-stablehlo converts.
 *
 * The pass reads programs in generic form, such as jaxlib's get_asm(print_generic_op_form=True)
 * prints, and converts them to linalg, tensor, arith, math and scf. This is its table of ops; it
 * has every op of the two dialects.
 *
 * Thread rule: constant data, any thread. */
#ifndef TP_STABLEHLO_H
#define TP_STABLEHLO_H

#include "tp/status.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One op. All strings are static. */
typedef struct tp_stablehlo_info {
  const char *name; /* "stablehlo.add" */
  bool is_converted;
  const char *becomes; /* what it is converted to; else why it is refused, and the way out */
  bool can_stay;       /* a refused op that unknown-ops=replicate keeps */
} tp_stablehlo_info;

/* Return the number of ops, and the `i`-th of them. */
TP_API int tp_stablehlo_count(void);
TP_API tp_stablehlo_info tp_stablehlo_get(int i);

#ifdef __cplusplus
}
#endif
#endif
