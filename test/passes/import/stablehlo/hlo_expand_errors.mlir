// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-import-stablehlo)'

func.func @rank(%a: tensor<2x4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'chlo.broadcast_add': operand 0 has 2 dimensions, but the result has 1}}
  %0 = "chlo.broadcast_add"(%a, %b) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @sizes(%a: tensor<3xf32>, %b: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error @below {{'stablehlo.broadcast_in_dim': }}
  %0 = "chlo.broadcast_add"(%a, %b) : (tensor<3xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @constant_like(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'chlo.constant_like': attribute 'value' is not a real number of the element type of the result}}
  %0 = "chlo.constant_like"(%a) <{value = 2 : i32}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @feature(%x: tensor<8x3xf32>, %s: tensor<3xf32>) -> tensor<8x3xf32> {
  // expected-error @below {{'stablehlo.batch_norm_inference': needs operand 0 of floating-point numbers, its dimension 'feature_index' and a number 'epsilon'}}
  %0 = "stablehlo.batch_norm_inference"(%x, %s, %s, %s, %s) <{epsilon = 1.0e-3 : f32, feature_index = 2 : i64}> : (tensor<8x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// -----

func.func @types(%x: tensor<8x3xf32>, %s: tensor<3xf32>, %t: tensor<8xf32>) -> tensor<8x3xf32> {
  // expected-error @below {{'stablehlo.batch_norm_inference': operand 2 is tensor<8xf32>, but has to be tensor<3xf32>}}
  %0 = "stablehlo.batch_norm_inference"(%x, %s, %t, %s, %s) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<8x3xf32>, tensor<3xf32>, tensor<8xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// -----

func.func @result(%x: tensor<8x3xf32>, %s: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @below {{'stablehlo.batch_norm_training': result 1 is tensor<8x3xf32>, but has to be tensor<3xf32>}}
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %s) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<8x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<8x3xf32>, tensor<8x3xf32>, tensor<3xf32>)
  return %0#2 : tensor<3xf32>
}
