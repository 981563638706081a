// Sorts that are not valid StableHLO, or not supported.
// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-import-stablehlo)'

func.func @operands(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.sort': has 0 operands and 1 results; as many results as operands, and 1 to 32, are supported}}
  %0 = "stablehlo.sort"() ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @dimension(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.sort': dimension 1 is not one of operand 0, whose rank is 1}}
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @types(%x: tensor<4xf32>, %y: tensor<5xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.sort': operand 1 and result 1 must have one type, of the shape of operand 0}}
  %0:2 = "stablehlo.sort"(%x, %y) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>, tensor<5xf32>)
  return %0#0 : tensor<4xf32>
}

// -----

func.func @returns(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.sort': region 0 must return one tensor<i1>}}
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @captures(%x: tensor<4xf32>, %y: tensor<f32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.sort': its comparator uses a value from outside that is not a constant; sort that value along as one more operand}}
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = "stablehlo.add"(%a, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %2 = "stablehlo.compare"(%1, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%2) : (tensor<i1>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @arguments(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.sort': region 0 has 1 arguments, but the op gives it 2}}
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @k(%x: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error @below {{'chlo.top_k': k is 5, but the rows of operand 0 have 4 elements}}
  %0:2 = "chlo.top_k"(%x) <{k = 5 : i64}> : (tensor<4xf32>) -> (tensor<5xf32>, tensor<5xi32>)
  return %0#0 : tensor<5xf32>
}

// -----

func.func @positions(%x: tensor<4xf32>) -> tensor<2xf32> {
  // expected-error @below {{'chlo.top_k': operand 0 must have real numbers, result 0 k of its elements in each row, and result 1 as many signed integers}}
  %0:2 = "chlo.top_k"(%x) <{k = 2 : i64}> : (tensor<4xf32>) -> (tensor<2xf32>, tensor<3xi32>)
  return %0#0 : tensor<2xf32>
}
