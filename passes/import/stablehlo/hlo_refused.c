/* Ops that are refused, each with the reason and the way out. */
#include "passes/import/stablehlo/hlo.h"

#define REFUSED(name, why) {name, TP_HLO_ANY, TP_HLO_ANY, TP_HLO_ANY, NULL, NULL, why}
#define DYNAMIC "has a shape that is known only at run time; make all shapes static before import"
#define TUPLE "works on tuples; return several values instead"
#define HOST "talks to the host while the program runs; pass such values as arguments and results"
#define EXPAND                                                                                     \
  "is not converted; expand it into other ops before import, as chlo-legalize-to-stablehlo or "    \
  "stablehlo's own passes do"
#define DEPRECATED "is deprecated; write it with other ops of StableHLO"
#define SPECIAL "is not implemented; chlo-legalize-to-stablehlo expands it into other ops"
#define QUANTIZED "works on quantized types; dequantize before import"
#define BROADCASTS                                                                                 \
  "repeats its operands by itself; chlo-legalize-to-stablehlo writes it as broadcast_in_dim and "  \
  "the op"
#define LAPACK "is a factorization, which no rule can shard; compute it outside of the program"

/* clang-format off */
const tp_hlo_row tp__hlo_refused_rows[] = {
    REFUSED("stablehlo.after_all", HOST),
    REFUSED("stablehlo.async_done", HOST),
    REFUSED("stablehlo.async_start", HOST),
    REFUSED("stablehlo.batch_norm_grad", EXPAND),
    REFUSED("stablehlo.batch_norm_inference", EXPAND),
    REFUSED("stablehlo.batch_norm_training", EXPAND),
    REFUSED("stablehlo.broadcast", DEPRECATED),
    REFUSED("stablehlo.cholesky", LAPACK),
    REFUSED("stablehlo.create_token", HOST),
    REFUSED("stablehlo.collective_broadcast", "is not implemented; use all_reduce of a value that is zero on the other devices"),
    REFUSED("stablehlo.cross-replica-sum", DEPRECATED),
    REFUSED("stablehlo.dot", DEPRECATED),
    REFUSED("stablehlo.dynamic_broadcast_in_dim", DYNAMIC),
    REFUSED("stablehlo.dynamic_conv", DYNAMIC),
    REFUSED("stablehlo.dynamic_gather", DYNAMIC),
    REFUSED("stablehlo.dynamic_iota", DYNAMIC),
    REFUSED("stablehlo.dynamic_pad", DYNAMIC),
    REFUSED("stablehlo.dynamic_reshape", DYNAMIC),
    REFUSED("stablehlo.einsum", DEPRECATED),
    REFUSED("stablehlo.fft", "is a Fourier transform, which has no implementation here; compute it outside of the program"),
    REFUSED("stablehlo.get_tuple_element", TUPLE),
    REFUSED("stablehlo.infeed", HOST),
    REFUSED("stablehlo.outfeed", HOST),
    REFUSED("stablehlo.recv", HOST),
    REFUSED("stablehlo.real_dynamic_slice", DYNAMIC),
    REFUSED("stablehlo.send", HOST),
    REFUSED("stablehlo.set_dimension_size", DYNAMIC),
    REFUSED("stablehlo.triangular_solve", LAPACK),
    REFUSED("stablehlo.torch_index_select", DEPRECATED),
    REFUSED("stablehlo.tuple", TUPLE),
    REFUSED("stablehlo.unary_einsum", DEPRECATED),
    REFUSED("stablehlo.uniform_dequantize", QUANTIZED),
    REFUSED("stablehlo.uniform_quantize", QUANTIZED),
    REFUSED("stablehlo.rng", "draws numbers whose algorithm is not specified; draw them by a counter-based generator such as threefry"),
    REFUSED("chlo._asin_acos_kernel", SPECIAL),
    REFUSED("chlo.broadcast_add", BROADCASTS),
    REFUSED("chlo.broadcast_and", BROADCASTS),
    REFUSED("chlo.broadcast_atan2", BROADCASTS),
    REFUSED("chlo.broadcast_compare", BROADCASTS),
    REFUSED("chlo.broadcast_complex", BROADCASTS),
    REFUSED("chlo.broadcast_divide", BROADCASTS),
    REFUSED("chlo.broadcast_maximum", BROADCASTS),
    REFUSED("chlo.broadcast_minimum", BROADCASTS),
    REFUSED("chlo.broadcast_multiply", BROADCASTS),
    REFUSED("chlo.broadcast_next_after", BROADCASTS),
    REFUSED("chlo.broadcast_or", BROADCASTS),
    REFUSED("chlo.broadcast_polygamma", BROADCASTS),
    REFUSED("chlo.broadcast_power", BROADCASTS),
    REFUSED("chlo.broadcast_remainder", BROADCASTS),
    REFUSED("chlo.broadcast_select", BROADCASTS),
    REFUSED("chlo.broadcast_shift_left", BROADCASTS),
    REFUSED("chlo.broadcast_shift_right_arithmetic", BROADCASTS),
    REFUSED("chlo.broadcast_shift_right_logical", BROADCASTS),
    REFUSED("chlo.broadcast_subtract", BROADCASTS),
    REFUSED("chlo.broadcast_xor", BROADCASTS),
    REFUSED("chlo.broadcast_zeta", BROADCASTS),
    REFUSED("chlo.constant", EXPAND),
    REFUSED("chlo.constant_like", EXPAND),
    REFUSED("chlo.scan", "is not implemented; write it as stablehlo.while"),
    {NULL},
};
/* clang-format on */
