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
  // expected-error @below {{'stablehlo.batch_norm_grad': is not converted; expand it into other ops before import, as chlo-legalize-to-stablehlo or stablehlo's own passes do}}
  "stablehlo.batch_norm_grad"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.batch_norm_inference': is not converted; expand it into other ops before import, as chlo-legalize-to-stablehlo or stablehlo's own passes do}}
  "stablehlo.batch_norm_inference"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.batch_norm_training': is not converted; expand it into other ops before import, as chlo-legalize-to-stablehlo or stablehlo's own passes do}}
  "stablehlo.batch_norm_training"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.broadcast': is deprecated; write it with other ops of StableHLO}}
  "stablehlo.broadcast"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.cholesky': is a factorization, which no rule can shard; compute it outside of the program}}
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
  // expected-error @below {{'stablehlo.cross-replica-sum': is deprecated; write it with other ops of StableHLO}}
  "stablehlo.cross-replica-sum"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.dot': is deprecated; write it with other ops of StableHLO}}
  "stablehlo.dot"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.dynamic_broadcast_in_dim': has a shape that is known only at run time; make all shapes static before import}}
  "stablehlo.dynamic_broadcast_in_dim"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.dynamic_conv': has a shape that is known only at run time; make all shapes static before import}}
  "stablehlo.dynamic_conv"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.dynamic_gather': has a shape that is known only at run time; make all shapes static before import}}
  "stablehlo.dynamic_gather"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.dynamic_iota': has a shape that is known only at run time; make all shapes static before import}}
  "stablehlo.dynamic_iota"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.dynamic_pad': has a shape that is known only at run time; make all shapes static before import}}
  "stablehlo.dynamic_pad"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.dynamic_reshape': has a shape that is known only at run time; make all shapes static before import}}
  "stablehlo.dynamic_reshape"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.einsum': is deprecated; write it with other ops of StableHLO}}
  "stablehlo.einsum"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.fft': is a Fourier transform, which has no implementation here; compute it outside of the program}}
  "stablehlo.fft"() : () -> ()
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
  // expected-error @below {{'stablehlo.real_dynamic_slice': has a shape that is known only at run time; make all shapes static before import}}
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
  // expected-error @below {{'stablehlo.set_dimension_size': has a shape that is known only at run time; make all shapes static before import}}
  "stablehlo.set_dimension_size"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.triangular_solve': is a factorization, which no rule can shard; compute it outside of the program}}
  "stablehlo.triangular_solve"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.torch_index_select': is deprecated; write it with other ops of StableHLO}}
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
  // expected-error @below {{'stablehlo.unary_einsum': is deprecated; write it with other ops of StableHLO}}
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
  // expected-error @below {{'stablehlo.rng_bit_generator': is not implemented; choose threefry, which JAX exports as arithmetic (jax_default_prng_impl)}}
  "stablehlo.rng_bit_generator"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo._asin_acos_kernel': is not implemented; chlo-legalize-to-stablehlo expands it into other ops}}
  "chlo._asin_acos_kernel"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.bessel_i1e': is not implemented; chlo-legalize-to-stablehlo expands it into other ops}}
  "chlo.bessel_i1e"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.digamma': is not implemented; chlo-legalize-to-stablehlo expands it into other ops}}
  "chlo.digamma"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.lgamma': is not implemented; chlo-legalize-to-stablehlo expands it into other ops}}
  "chlo.lgamma"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.polygamma': is not implemented; chlo-legalize-to-stablehlo expands it into other ops}}
  "chlo.polygamma"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.zeta': is not implemented; chlo-legalize-to-stablehlo expands it into other ops}}
  "chlo.zeta"() : () -> ()
  return
}
