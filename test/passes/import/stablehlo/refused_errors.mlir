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
  // expected-error @below {{'stablehlo.batch_norm_grad': is not converted; expand it into other ops before import, as chlo-legalize-to-stablehlo or stablehlo's own passes do, or keep it by unknown-ops=replicate}}
  "stablehlo.batch_norm_grad"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.batch_norm_inference': is not converted; expand it into other ops before import, as chlo-legalize-to-stablehlo or stablehlo's own passes do, or keep it by unknown-ops=replicate}}
  "stablehlo.batch_norm_inference"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.batch_norm_training': is not converted; expand it into other ops before import, as chlo-legalize-to-stablehlo or stablehlo's own passes do, or keep it by unknown-ops=replicate}}
  "stablehlo.batch_norm_training"() : () -> ()
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
  // expected-error @below {{'stablehlo.cholesky': is a factorization, which no rule can shard; compute it outside of the program, or keep it by unknown-ops=replicate}}
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
  // expected-error @below {{'stablehlo.dynamic_broadcast_in_dim': has a shape that is known only at run time; make all shapes static before import, or keep it by unknown-ops=replicate}}
  "stablehlo.dynamic_broadcast_in_dim"() : () -> ()
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
  // expected-error @below {{'stablehlo.dynamic_iota': has a shape that is known only at run time; make all shapes static before import, or keep it by unknown-ops=replicate}}
  "stablehlo.dynamic_iota"() : () -> ()
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
  // expected-error @below {{'stablehlo.dynamic_reshape': has a shape that is known only at run time; make all shapes static before import, or keep it by unknown-ops=replicate}}
  "stablehlo.dynamic_reshape"() : () -> ()
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
  // expected-error @below {{'stablehlo.fft': is a Fourier transform, which has no implementation here; compute it outside of the program, or keep it by unknown-ops=replicate}}
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
  // expected-error @below {{'stablehlo.triangular_solve': is a factorization, which no rule can shard; compute it outside of the program, or keep it by unknown-ops=replicate}}
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
  // expected-error @below {{'chlo.broadcast_add': repeats its operands by itself; chlo-legalize-to-stablehlo writes it as broadcast_in_dim and the op, or keep it by unknown-ops=replicate}}
  "chlo.broadcast_add"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.broadcast_and': repeats its operands by itself; chlo-legalize-to-stablehlo writes it as broadcast_in_dim and the op, or keep it by unknown-ops=replicate}}
  "chlo.broadcast_and"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.broadcast_atan2': repeats its operands by itself; chlo-legalize-to-stablehlo writes it as broadcast_in_dim and the op}}
  "chlo.broadcast_atan2"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.broadcast_compare': repeats its operands by itself; chlo-legalize-to-stablehlo writes it as broadcast_in_dim and the op, or keep it by unknown-ops=replicate}}
  "chlo.broadcast_compare"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.broadcast_complex': repeats its operands by itself; chlo-legalize-to-stablehlo writes it as broadcast_in_dim and the op, or keep it by unknown-ops=replicate}}
  "chlo.broadcast_complex"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.broadcast_divide': repeats its operands by itself; chlo-legalize-to-stablehlo writes it as broadcast_in_dim and the op, or keep it by unknown-ops=replicate}}
  "chlo.broadcast_divide"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.broadcast_maximum': repeats its operands by itself; chlo-legalize-to-stablehlo writes it as broadcast_in_dim and the op, or keep it by unknown-ops=replicate}}
  "chlo.broadcast_maximum"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.broadcast_minimum': repeats its operands by itself; chlo-legalize-to-stablehlo writes it as broadcast_in_dim and the op, or keep it by unknown-ops=replicate}}
  "chlo.broadcast_minimum"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.broadcast_multiply': repeats its operands by itself; chlo-legalize-to-stablehlo writes it as broadcast_in_dim and the op, or keep it by unknown-ops=replicate}}
  "chlo.broadcast_multiply"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.broadcast_next_after': repeats its operands by itself; chlo-legalize-to-stablehlo writes it as broadcast_in_dim and the op, or keep it by unknown-ops=replicate}}
  "chlo.broadcast_next_after"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.broadcast_or': repeats its operands by itself; chlo-legalize-to-stablehlo writes it as broadcast_in_dim and the op, or keep it by unknown-ops=replicate}}
  "chlo.broadcast_or"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.broadcast_polygamma': repeats its operands by itself; chlo-legalize-to-stablehlo writes it as broadcast_in_dim and the op, or keep it by unknown-ops=replicate}}
  "chlo.broadcast_polygamma"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.broadcast_power': repeats its operands by itself; chlo-legalize-to-stablehlo writes it as broadcast_in_dim and the op, or keep it by unknown-ops=replicate}}
  "chlo.broadcast_power"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.broadcast_remainder': repeats its operands by itself; chlo-legalize-to-stablehlo writes it as broadcast_in_dim and the op, or keep it by unknown-ops=replicate}}
  "chlo.broadcast_remainder"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.broadcast_select': repeats its operands by itself; chlo-legalize-to-stablehlo writes it as broadcast_in_dim and the op, or keep it by unknown-ops=replicate}}
  "chlo.broadcast_select"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.broadcast_shift_left': repeats its operands by itself; chlo-legalize-to-stablehlo writes it as broadcast_in_dim and the op, or keep it by unknown-ops=replicate}}
  "chlo.broadcast_shift_left"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.broadcast_shift_right_arithmetic': repeats its operands by itself; chlo-legalize-to-stablehlo writes it as broadcast_in_dim and the op, or keep it by unknown-ops=replicate}}
  "chlo.broadcast_shift_right_arithmetic"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.broadcast_shift_right_logical': repeats its operands by itself; chlo-legalize-to-stablehlo writes it as broadcast_in_dim and the op, or keep it by unknown-ops=replicate}}
  "chlo.broadcast_shift_right_logical"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.broadcast_subtract': repeats its operands by itself; chlo-legalize-to-stablehlo writes it as broadcast_in_dim and the op, or keep it by unknown-ops=replicate}}
  "chlo.broadcast_subtract"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.broadcast_xor': repeats its operands by itself; chlo-legalize-to-stablehlo writes it as broadcast_in_dim and the op, or keep it by unknown-ops=replicate}}
  "chlo.broadcast_xor"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.broadcast_zeta': repeats its operands by itself; chlo-legalize-to-stablehlo writes it as broadcast_in_dim and the op, or keep it by unknown-ops=replicate}}
  "chlo.broadcast_zeta"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.constant': is not converted; expand it into other ops before import, as chlo-legalize-to-stablehlo or stablehlo's own passes do, or keep it by unknown-ops=replicate}}
  "chlo.constant"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.constant_like': is not converted; expand it into other ops before import, as chlo-legalize-to-stablehlo or stablehlo's own passes do, or keep it by unknown-ops=replicate}}
  "chlo.constant_like"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'chlo.scan': is not implemented; write it as stablehlo.while, or keep it by unknown-ops=replicate}}
  "chlo.scan"() : () -> ()
  return
}
