// Calls in bodies that cannot be inlined.
// As plug-in, the tool does not know the dialect, and takes an op with one region for a symbol table.
// UNSUPPORTED: plugin
// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-import-stablehlo)'

func.func @recursive_body(%a: tensor<4xf32>, %v: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.reduce"(%a, %v) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = func.call @recursive(%x) : (tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @recursive(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'func.call': stands in the body of another op, where more than 10000 calls would have to be inlined; is the function recursive?}}
  %0 = func.call @recursive(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @declared_body(%a: tensor<4xf32>, %v: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.reduce"(%a, %v) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    // expected-error @below {{'func.call': stands in the body of another op, and does not call a function of one block}}
    %1 = func.call @declared(%x) : (tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @declared(tensor<f32>) -> tensor<f32>
