// Ops of tm_tensor that are malformed, or of a kind that torch-mlir does not make.
// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-import-stablehlo)'

func.func @inputs(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'tm_tensor.sort': has inputs that are no results; only outputs are sorted}}
  %0 = "tm_tensor.sort"(%x, %x) ({
  ^bb0(%a: f32, %b: f32):
    %1 = arith.cmpf olt, %a, %b : f32
    "tm_tensor.yield"(%1) : (i1) -> ()
  }) {dimension = 0 : i64} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @body(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'tm_tensor.sort': its region must be one block of 2 arguments that ends in a tm_tensor.yield of one value}}
  %0 = "tm_tensor.sort"(%x) ({
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.cmpf olt, %a, %b : f32
    "tm_tensor.yield"(%1) : (i1) -> ()
  }) {dimension = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @scan_operands(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{'tm_tensor.scan': has 1 operands and 1 results; it takes an input, an output and an accumulator, and gives two results}}
  %0 = "tm_tensor.scan"(%x) ({
  ^bb0(%a: f32, %b: f32):
    "tm_tensor.yield"(%a) : (f32) -> ()
  }) {dimension = 1 : i64, inclusive = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @accumulator(%x: tensor<4x8xf32>, %a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{its accumulator, result 1, is used; take the last element of result 0}}
  %0:2 = "tm_tensor.scan"(%x, %x, %a) ({
  ^bb0(%b: f32, %c: f32):
    %1 = arith.addf %b, %c : f32
    "tm_tensor.yield"(%1) : (f32) -> ()
  }) {dimension = 1 : i64, inclusive = true} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

// -----

func.func @exclusive(%x: tensor<4x8xf32>, %a: tensor<4xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{is exclusive; write it with inclusive = true, and shift its result}}
  %0:2 = "tm_tensor.scan"(%x, %x, %a) ({
  ^bb0(%b: f32, %c: f32):
    %1 = arith.addf %b, %c : f32
    "tm_tensor.yield"(%1) : (f32) -> ()
  }) {dimension = 1 : i64, inclusive = false} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  return %0#0 : tensor<4x8xf32>
}

// -----

func.func @dimension(%x: tensor<4x8xf32>, %a: tensor<4xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{dimension 2 is not one of operand 0, whose rank is 2}}
  %0:2 = "tm_tensor.scan"(%x, %x, %a) ({
  ^bb0(%b: f32, %c: f32):
    %1 = arith.addf %b, %c : f32
    "tm_tensor.yield"(%1) : (f32) -> ()
  }) {dimension = 2 : i64, inclusive = true} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  return %0#0 : tensor<4x8xf32>
}

// -----

func.func @maximum(%x: tensor<4x8xf32>, %a: tensor<4xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{is neither a running sum nor a running product}}
  %0:2 = "tm_tensor.scan"(%x, %x, %a) ({
  ^bb0(%b: f32, %c: f32):
    %1 = arith.maximumf %b, %c : f32
    "tm_tensor.yield"(%1) : (f32) -> ()
  }) {dimension = 1 : i64, inclusive = true} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  return %0#0 : tensor<4x8xf32>
}

// -----

func.func @scatter_operands(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'tm_tensor.scatter': has 1 operands and 1 results; it takes updates, indices and a tensor, and gives one}}
  %0 = "tm_tensor.scatter"(%x) ({
  ^bb0(%a: f32, %b: f32):
    "tm_tensor.yield"(%a) : (f32) -> ()
  }) {dimension_map = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @windows(%u: tensor<2x1x1xf32>, %i: tensor<2x1xi64>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{its updates have rank 3; the windows in them have at most the rank 1 of the result}}
  %0 = "tm_tensor.scatter"(%u, %i, %x) ({
  ^bb0(%a: f32, %b: f32):
    "tm_tensor.yield"(%a) : (f32) -> ()
  }) {dimension_map = array<i64: 0>} : (tensor<2x1x1xf32>, tensor<2x1xi64>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @index(%u: tensor<2xf32>, %i: tensor<2x1xi64>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.scatter'}}
  %0 = "tm_tensor.scatter"(%u, %i, %x) ({
  ^bb0(%a: f32, %b: f32):
    "tm_tensor.yield"(%a) : (f32) -> ()
  }) {dimension_map = array<i64: 3>} : (tensor<2xf32>, tensor<2x1xi64>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
