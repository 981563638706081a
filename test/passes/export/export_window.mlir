// RUN: shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-import-stablehlo,tp-export-stablehlo)' --mlir-print-op-generic | FileCheck %s

// A reduction over windows keeps its padding with the identity, its strides and dilations.
// CHECK-LABEL: sym_name = "max"
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<2x8x9xf32>):
// CHECK-NOT: "stablehlo.pad"
// CHECK: "stablehlo.reduce_window"(%[[X]], %{{.*}}) ({
// CHECK: "stablehlo.maximum"
// CHECK: }) {base_dilations = array<i64: 1, 2, 1>, padding = dense<{{\[\[}}0, 0], [1, 1], [1, 0]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 2>, window_dimensions = array<i64: 1, 3, 2>, window_strides = array<i64: 1, 2, 1>}
// CHECK-SAME: (tensor<2x8x9xf32>, tensor<f32>) -> tensor<2x8x8xf32>
func.func @max(%x: tensor<2x8x9xf32>) -> tensor<2x8x8xf32> {
  %low = "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %low) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%m) : (tensor<f32>) -> ()
  }) {base_dilations = array<i64: 1, 2, 1>, padding = dense<[[0, 0], [1, 2], [1, 0]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 2>, window_dimensions = array<i64: 1, 3, 2>,
      window_strides = array<i64: 1, 2, 1>} : (tensor<2x8x9xf32>, tensor<f32>) -> tensor<2x8x8xf32>
  return %0 : tensor<2x8x8xf32>
}

// Padding with another number stays a pad, and the number that a reduction starts from is added once.
// CHECK-LABEL: sym_name = "other_padding"
// CHECK: "stablehlo.pad"
// CHECK: "stablehlo.reduce_window"
// CHECK: "stablehlo.add"
// CHECK: padding = dense<0> : tensor<1x2xi64>
// CHECK: "stablehlo.add"
func.func @other_padding(%x: tensor<8xf32>) -> tensor<9xf32> {
  %one = "stablehlo.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %one) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%m) : (tensor<f32>) -> ()
  }) {padding = dense<[[1, 1]]> : tensor<1x2xi64>, window_dimensions = array<i64: 2>} : (tensor<8xf32>, tensor<f32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}
