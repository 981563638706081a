// Every op that is refused, with its reason.
// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-import-stablehlo)'

func.func @f() {
  // expected-error @below {{'stablehlo.after_all': talks to the host while the program runs; pass such values as arguments and results}}
  "stablehlo.after_all"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.async_done': talks to the host while the program runs; pass such values as arguments and results}}
  "stablehlo.async_done"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.async_start': talks to the host while the program runs; pass such values as arguments and results}}
  "stablehlo.async_start"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.broadcast': is deprecated; write it with other ops of StableHLO, or keep it by unknown-ops=replicate}}
  "stablehlo.broadcast"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.cholesky': is a factorization, which has no implementation here; compute it outside of the program, or keep it by unknown-ops=replicate}}
  "stablehlo.cholesky"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.create_token': talks to the host while the program runs; pass such values as arguments and results}}
  "stablehlo.create_token"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.collective_broadcast': is not implemented; use all_reduce of a value that is zero on the other devices}}
  "stablehlo.collective_broadcast"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.cross-replica-sum': is deprecated; write it with other ops of StableHLO}}
  "stablehlo.cross-replica-sum"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.dot': is deprecated; write it with other ops of StableHLO, or keep it by unknown-ops=replicate}}
  "stablehlo.dot"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.dynamic_conv': has a shape that is known only at run time; make all shapes static before import, or keep it by unknown-ops=replicate}}
  "stablehlo.dynamic_conv"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.dynamic_gather': has a shape that is known only at run time; make all shapes static before import, or keep it by unknown-ops=replicate}}
  "stablehlo.dynamic_gather"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.dynamic_pad': has a shape that is known only at run time; make all shapes static before import, or keep it by unknown-ops=replicate}}
  "stablehlo.dynamic_pad"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.einsum': is deprecated; write it with other ops of StableHLO, or keep it by unknown-ops=replicate}}
  "stablehlo.einsum"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.get_tuple_element': works on tuples; return several values instead}}
  "stablehlo.get_tuple_element"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.infeed': talks to the host while the program runs; pass such values as arguments and results}}
  "stablehlo.infeed"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.outfeed': talks to the host while the program runs; pass such values as arguments and results}}
  "stablehlo.outfeed"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.recv': talks to the host while the program runs; pass such values as arguments and results}}
  "stablehlo.recv"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.real_dynamic_slice': has a shape that is known only at run time; make all shapes static before import, or keep it by unknown-ops=replicate}}
  "stablehlo.real_dynamic_slice"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.send': talks to the host while the program runs; pass such values as arguments and results}}
  "stablehlo.send"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.set_dimension_size': has a shape that is known only at run time; make all shapes static before import, or keep it by unknown-ops=replicate}}
  "stablehlo.set_dimension_size"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.triangular_solve': is a factorization, which has no implementation here; compute it outside of the program, or keep it by unknown-ops=replicate}}
  "stablehlo.triangular_solve"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.torch_index_select': is deprecated; write it with other ops of StableHLO, or keep it by unknown-ops=replicate}}
  "stablehlo.torch_index_select"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.tuple': works on tuples; return several values instead}}
  "stablehlo.tuple"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.unary_einsum': is deprecated; write it with other ops of StableHLO, or keep it by unknown-ops=replicate}}
  "stablehlo.unary_einsum"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.uniform_dequantize': works on quantized types; dequantize before import}}
  "stablehlo.uniform_dequantize"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.uniform_quantize': works on quantized types; dequantize before import}}
  "stablehlo.uniform_quantize"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.rng': draws numbers whose algorithm is not specified; draw them by a counter-based generator such as threefry}}
  "stablehlo.rng"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo._asin_acos_kernel': is not implemented; chlo-legalize-to-stablehlo expands it into other ops, or keep it by unknown-ops=replicate}}
  "chlo._asin_acos_kernel"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.scan': is not implemented; write it as stablehlo.while, or keep it by unknown-ops=replicate}}
  "chlo.scan"() : () -> ()
  return
}
