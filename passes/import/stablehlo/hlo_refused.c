/* Ops that are refused, each with the reason and the way out. Some are kept if the user asks for
 * it. Never kept are ops that talk to others, or whose values are not tensors. */
#include "passes/import/stablehlo/hlo.h"

#define REFUSED(name, why) {name, TP_HLO_ANY, TP_HLO_ANY, TP_HLO_ANY, NULL, NULL, why}
#define KEPT(name, why) {name, TP_HLO_ANY, TP_HLO_ANY, TP_HLO_ANY, NULL, TP_HLO_OR_KEEP, why}
#define DYNAMIC "has a shape that is known only at run time; make all shapes static before import"
#define TUPLE "works on tuples; return several values instead"
#define HOST "talks to the host while the program runs; pass such values as arguments and results"
#define DEPRECATED "is deprecated; write it with other ops of StableHLO"
#define SPECIAL "is not implemented; chlo-legalize-to-stablehlo expands it into other ops"
#define QUANTIZED "works on quantized types; dequantize before import"
#define LAPACK                                                                                     \
  "is a factorization, which has no implementation here; compute it outside of the program"

/* clang-format off */
const tp_hlo_row tp__hlo_refused_rows[] = {
    REFUSED("stablehlo.after_all", HOST),
    REFUSED("stablehlo.async_done", HOST),
    REFUSED("stablehlo.async_start", HOST),
    KEPT("stablehlo.broadcast", DEPRECATED),
    KEPT("stablehlo.cholesky", LAPACK),
    REFUSED("stablehlo.create_token", HOST),
    REFUSED("stablehlo.collective_broadcast", "is not implemented; use all_reduce of a value that is zero on the other devices"),
    REFUSED("stablehlo.cross-replica-sum", DEPRECATED),
    KEPT("stablehlo.dot", DEPRECATED),
    KEPT("stablehlo.dynamic_conv", DYNAMIC),
    KEPT("stablehlo.dynamic_gather", DYNAMIC),
    KEPT("stablehlo.dynamic_pad", DYNAMIC),
    KEPT("stablehlo.einsum", DEPRECATED),
    REFUSED("stablehlo.get_tuple_element", TUPLE),
    REFUSED("stablehlo.infeed", HOST),
    REFUSED("stablehlo.outfeed", HOST),
    REFUSED("stablehlo.recv", HOST),
    KEPT("stablehlo.real_dynamic_slice", DYNAMIC),
    REFUSED("stablehlo.send", HOST),
    KEPT("stablehlo.set_dimension_size", DYNAMIC),
    KEPT("stablehlo.triangular_solve", LAPACK),
    KEPT("stablehlo.torch_index_select", DEPRECATED),
    REFUSED("stablehlo.tuple", TUPLE),
    KEPT("stablehlo.unary_einsum", DEPRECATED),
    REFUSED("stablehlo.uniform_dequantize", QUANTIZED),
    REFUSED("stablehlo.uniform_quantize", QUANTIZED),
    REFUSED("stablehlo.rng", "draws numbers whose algorithm is not specified; draw them by a counter-based generator such as threefry, or make them arguments; a model of PyTorch with dropout is exported in eval mode"),
    KEPT("chlo._asin_acos_kernel", SPECIAL),
    KEPT("chlo.scan", "is not implemented; write it as stablehlo.while"),
    {NULL},
};
/* clang-format on */
