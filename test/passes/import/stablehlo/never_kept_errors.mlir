// Every refused op that is never kept: it talks to others, or its values are not tensors.
// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-import-stablehlo{unknown-ops=replicate})'

func.func @f() {
  // expected-error @below {{'stablehlo.after_all': }}
  "stablehlo.after_all"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.async_done': }}
  "stablehlo.async_done"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.async_start': }}
  "stablehlo.async_start"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.create_token': }}
  "stablehlo.create_token"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.collective_broadcast': }}
  "stablehlo.collective_broadcast"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.cross-replica-sum': }}
  "stablehlo.cross-replica-sum"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.get_tuple_element': }}
  "stablehlo.get_tuple_element"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.infeed': }}
  "stablehlo.infeed"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.outfeed': }}
  "stablehlo.outfeed"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.recv': }}
  "stablehlo.recv"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.send': }}
  "stablehlo.send"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.tuple': }}
  "stablehlo.tuple"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.uniform_dequantize': }}
  "stablehlo.uniform_dequantize"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.uniform_quantize': }}
  "stablehlo.uniform_quantize"() : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'stablehlo.rng': }}
  "stablehlo.rng"() : () -> ()
  return
}
