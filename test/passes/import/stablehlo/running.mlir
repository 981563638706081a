// Running sums and the like, as JAX writes them: windows as long as the dimension. They are computed
// in blocks of 32, twice here: 1000 elements are 32 blocks, whose totals are few.
// RUN: shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-import-stablehlo)' | FileCheck %s
// RUN: shard-run %s --mesh 1 | FileCheck %s --check-prefix=RESULT
// RUN: shard-run %s --mesh 2 | FileCheck %s --check-prefix=RESULT
// RUN: shard-run %s --mesh 4 | FileCheck %s --check-prefix=RESULT
// RUN: shard-run %s --mesh 2x3 | FileCheck %s --check-prefix=RESULT
// RUN: shard-run %s --function last --mesh 4 | FileCheck %s --check-prefix=RESULT
// RUN: shard-run %s --function long --mesh 4 | FileCheck %s --check-prefix=RESULT
// RESULT: verified
// CHECK-LABEL: func.func @main
// CHECK-NOT: tensor<1000xf32>
// CHECK-COUNT-3: tensor.empty() : tensor<32xf32>
// CHECK-NOT: tensor<1000xf32>
// A short one, and windows that are shorter than the dimension, are windows.
// CHECK-LABEL: func.func @windows
// CHECK: tensor.empty() : tensor<100xf32>
// CHECK: tensor.empty() : tensor<999xf32>
func.func @main(%x: tensor<3x1000xf32>) -> (tensor<3x1000xf32>, tensor<3x1000xf32>, tensor<3x1000xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %inf = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %sum = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 1000>, padding = dense<[[0, 0], [999, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<3x1000xf32>, tensor<f32>) -> tensor<3x1000xf32>
  %backward = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 1000>, padding = dense<[[0, 0], [0, 999]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<3x1000xf32>, tensor<f32>) -> tensor<3x1000xf32>
  %max = "stablehlo.reduce_window"(%x, %inf) <{window_dimensions = array<i64: 1, 1000>, padding = dense<[[0, 0], [999, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<3x1000xf32>, tensor<f32>) -> tensor<3x1000xf32>
  return %sum, %backward, %max : tensor<3x1000xf32>, tensor<3x1000xf32>, tensor<3x1000xf32>
}

func.func @windows(%x: tensor<100xf32>, %y: tensor<1000xf32>) -> (tensor<100xf32>, tensor<1000xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 100>, padding = dense<[[99, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<100xf32>, tensor<f32>) -> tensor<100xf32>
  %1 = "stablehlo.reduce_window"(%y, %zero) <{window_dimensions = array<i64: 999>, padding = dense<[[998, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<1000xf32>, tensor<f32>) -> tensor<1000xf32>
  return %0, %1 : tensor<100xf32>, tensor<1000xf32>
}

// The last element that is not zero so far, and its index: an order matters, in both directions.
func.func @last(%x: tensor<301xi32>, %i: tensor<301xi32>) -> (tensor<301xi32>, tensor<301xi32>, tensor<301xi32>, tensor<301xi32>) {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %f:2 = "stablehlo.reduce_window"(%x, %i, %zero, %zero) <{window_dimensions = array<i64: 301>, padding = dense<[[300, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %p: tensor<i32>, %b: tensor<i32>, %q: tensor<i32>):
    %c = "stablehlo.compare"(%b, %zero) <{comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s = "stablehlo.select"(%c, %b, %a) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %t = "stablehlo.select"(%c, %q, %p) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%s, %t) : (tensor<i32>, tensor<i32>) -> ()
  }) : (tensor<301xi32>, tensor<301xi32>, tensor<i32>, tensor<i32>) -> (tensor<301xi32>, tensor<301xi32>)
  %b:2 = "stablehlo.reduce_window"(%x, %i, %zero, %zero) <{window_dimensions = array<i64: 301>, padding = dense<[[0, 300]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %p: tensor<i32>, %b: tensor<i32>, %q: tensor<i32>):
    %c = "stablehlo.compare"(%b, %zero) <{comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s = "stablehlo.select"(%c, %b, %a) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %t = "stablehlo.select"(%c, %q, %p) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%s, %t) : (tensor<i32>, tensor<i32>) -> ()
  }) : (tensor<301xi32>, tensor<301xi32>, tensor<i32>, tensor<i32>) -> (tensor<301xi32>, tensor<301xi32>)
  return %f#0, %f#1, %b#0, %b#1 : tensor<301xi32>, tensor<301xi32>, tensor<301xi32>, tensor<301xi32>
}

// Each of 20,000 results read all elements: 200 million additions.
func.func @long(%x: tensor<20000xi32> {tp.sharding = [["?"]]}) -> tensor<20000xi32> {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 20000>, padding = dense<[[19999, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%s) : (tensor<i32>) -> ()
  }) : (tensor<20000xi32>, tensor<i32>) -> tensor<20000xi32>
  return %0 : tensor<20000xi32>
}
