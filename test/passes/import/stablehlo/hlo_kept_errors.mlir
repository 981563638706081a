// Ops that cannot stay.
// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-import-stablehlo{unknown-ops=replicate})'

func.func @outside(%a: tensor<4xf32>, %n: tensor<f32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.future': cannot stay as it is: its region uses a value from outside; pass the value as an operand}}
  %0 = "stablehlo.future"(%a) ({
  ^bb0(%x: tensor<f32>):
    %1 = "stablehlo.add"(%x, %n) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @in_body(%a: tensor<4xf32>, %n: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.reduce"(%a, %n) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    // expected-error @below {{'stablehlo.future': is not supported in the body of another op}}
    %1 = "stablehlo.future"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @number(%a: f32) -> f32 {
  // expected-error @below {{'stablehlo.future': operand 0 is a tensor without static shape, f32}}
  %0 = "stablehlo.future"(%a) : (f32) -> f32
  return %0 : f32
}

// -----

func.func @types(%a: tensor<4xi4>) -> tensor<4xi4> {
  // expected-error @below {{'stablehlo.future': operand 0 has elements of type i4; tensors may have}}
  %0 = "stablehlo.future"(%a) : (tensor<4xi4>) -> tensor<4xi4>
  return %0 : tensor<4xi4>
}

// -----

// These targets change what a program means, and have no meaning on each device.
func.func @gspmd(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.custom_call': calls 'Sharding', an annotation of GSPMD; export with Shardy (jax_use_shardy_partitioner)}}
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "Sharding"}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @unnamed(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{attribute 'call_target_name' is not a string}}
  %0 = "stablehlo.custom_call"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
