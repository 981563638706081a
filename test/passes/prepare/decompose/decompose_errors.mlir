// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-decompose)'

func.func @dynamic(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @below {{'linalg.softmax': operand 0 is a tensor without static shape}}
  %y = linalg.softmax dimension(1) ins(%x : tensor<?x8xf32>) outs(%x : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

func.func @unranked(%x: tensor<*xf32>) -> index {
  // expected-error @below {{'tensor.rank': operand 0 is a tensor without static shape}}
  %r = tensor.rank %x : tensor<*xf32>
  return %r : index
}

// -----

func.func @generated(%n: index) -> tensor<?xindex> {
  // expected-error @below {{'tensor.generate': result 0 is a tensor without static shape}}
  %y = tensor.generate %n {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<?xindex>
  return %y : tensor<?xindex>
}

// -----

func.func @integers(%x: tensor<4x8xi32>) -> tensor<4x8xi32> {
  // expected-error @below {{'linalg.softmax': has unsupported element type i32; convert to f16, bf16, f32 or f64}}
  %y = linalg.softmax dimension(1) ins(%x : tensor<4x8xi32>) outs(%x : tensor<4x8xi32>) -> tensor<4x8xi32>
  return %y : tensor<4x8xi32>
}

// -----

func.func @sign(%x: tensor<4xi32>) -> tensor<4xui32> {
  // expected-error @below {{'tensor.bitcast': casts i32 to ui32: signed and unsigned integer types cannot be compiled; use the signless i8, i16, i32, i64}}
  %y = tensor.bitcast %x : tensor<4xi32> to tensor<4xui32>
  return %y : tensor<4xui32>
}

// -----

func.func @winograd(%f: tensor<2x3x3x5xf32>, %o: tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32> {
  // expected-error @below {{'linalg.winograd_filter_transform': decompose it before sharding (transform.structured.decompose_winograd_op)}}
  %y = linalg.winograd_filter_transform fmr(F_4_3) ins(%f : tensor<2x3x3x5xf32>) outs(%o : tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32>
  return %y : tensor<6x6x5x2xf32>
}

// -----

func.func @parallel(%x: tensor<4xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %r = scf.forall (%i) in (2) shared_outs(%t = %o) -> tensor<8xf32> {
    %at = arith.muli %i, %i : index
    scf.forall.in_parallel {
      // expected-error @below {{'tensor.parallel_insert_slice': turn the scf.forall around it into scf.for with tensor.insert_slice before sharding}}
      tensor.parallel_insert_slice %x into %t[%at] [4] [1] : tensor<4xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}

// -----

func.func @bits(%x: complex<f32>) -> i64 {
  // expected-error @below {{'complex.bitcast': cannot be compiled; read the parts with complex.re and complex.im, and cast those}}
  %y = complex.bitcast %x : complex<f32> to i64
  return %y : i64
}

// -----

func.func @elements(%x: tensor<4xf8E5M2FNUZ>) -> tensor<4xi8> {
  // expected-error @below {{'tensor.bitcast': operand 0 has elements of type f8E5M2FNUZ}}
  %y = tensor.bitcast %x : tensor<4xf8E5M2FNUZ> to tensor<4xi8>
  return %y : tensor<4xi8>
}

// -----

func.func @rounds(%x: tensor<4xf64>) -> tensor<4xf32> {
  %y = arith.truncf %x to_nearest_even : tensor<4xf64> to tensor<4xf32>
  // expected-error @below {{'arith.truncf': compiled code only rounds to nearest even; remove the rounding mode}}
  %z = arith.truncf %x downward : tensor<4xf64> to tensor<4xf32>
  return %z : tensor<4xf32>
}

// -----

func.func @class(%x: f80) -> i1 {
  // expected-error @below {{'math.isinf': has unsupported type f80; convert it to a number or tensor of f16, bf16, f32 or f64}}
  %y = math.isinf %x : f80
  return %y : i1
}

// -----

func.func @elided() -> tensor<3xi1> {
  // expected-error @below {{'arith.constant': the resource does not exist or does not have the 3 bytes that its type needs}}
  %y = arith.constant dense_resource<__elided__> : tensor<3xi1>
  return %y : tensor<3xi1>
}

// -----

func.func @ruled(%x: tensor<5x3xf32>, %i: tensor<7x1xindex>) -> tensor<7x3xf32> {
  // expected-error @below {{'tensor.gather': is decomposed into ops that have rules, but also has its own rule (tp.rule or registered); remove that rule}}
  %y = tensor.gather %x[%i] gather_dims([0]) {tp.rule = "([_,j],[i,_])->([i,j])"} : (tensor<5x3xf32>, tensor<7x1xindex>) -> tensor<7x3xf32>
  return %y : tensor<7x3xf32>
}

// -----

// Passes of MLIR behind tp-decompose drop the encoding of the sum, and would leave a function whose result is another type. A program of one
// device comes here before anything else.
// expected-error @below {{'func.func': argument 0 (%x) is tensor<4xf32, "rows">, a tensor with an encoding; use a dense tensor without an encoding}}
func.func @encoded(%x: tensor<4xf32, "rows">) -> tensor<4xf32, "rows"> {
  %y = arith.addf %x, %x : tensor<4xf32, "rows">
  return %y : tensor<4xf32, "rows">
}

// -----

func.func @encoded_inside(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'tensor.cast': result 0 is tensor<4xf32, "rows">, a tensor with an encoding; use a dense tensor without an encoding}}
  %y = tensor.cast %x : tensor<4xf32> to tensor<4xf32, "rows">
  %z = arith.addf %y, %y : tensor<4xf32, "rows">
  %r = tensor.cast %z : tensor<4xf32, "rows"> to tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

#wrap = affine_map<(d0) -> (d0 mod 2)>
// expected-error @below {{'func.func': argument 0 (%a) is memref<4xf32, affine_map<(d0) -> (d0 mod 2)>>, a buffer whose layout has no strides}}
func.func @without_strides(%a: memref<4xf32, #wrap>) {
  return
}

// -----

func.func @counts_too_far(%x: tensor<4xf32>) -> tensor<4xf32> {
  %low = arith.constant -9223372036854775808 : index
  %high = arith.constant 9223372036854775807 : index
  %step = arith.constant 4611686018427387904 : index
  // expected-error @below {{'scf.for': counts beyond 64 bits; the difference of the bounds, and the upper bound plus the step, must fit}}
  %y = scf.for %i = %low to %high step %step iter_args(%t = %x) -> tensor<4xf32> {
    scf.yield %t : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
