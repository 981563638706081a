// RUN: shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-import-stablehlo,tp-export-stablehlo)' --mlir-print-op-generic | FileCheck %s

// Imported convolutions are exported as they were, with their dilation, and the padding that windows read; no other op is left.
// CHECK-LABEL: sym_name = "plain"
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<2x8x9x4xf32>, %[[K:.*]]: tensor<3x2x4x6xf32>):
// CHECK-NEXT: "stablehlo.convolution"(%[[X]], %[[K]]) {batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 2, 1>, padding = dense<{{\[\[}}2, 2], [1, 0]]> : tensor<2x2xi64>,
// CHECK-SAME: rhs_dilation = array<i64: 1, 3>, window_strides = array<i64: 2, 1>}
// CHECK-NEXT: "func.return"
func.func @plain(%x: tensor<2x8x9x4xf32>, %k: tensor<3x2x4x6xf32>) -> tensor<2x9x7x6xf32> {
  %0 = "stablehlo.convolution"(%x, %k) {batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64,
    lhs_dilation = array<i64: 2, 1>, padding = dense<[[2, 3], [1, 0]]> : tensor<2x2xi64>, rhs_dilation = array<i64: 1, 3>, window_strides = array<i64: 2, 1>}
    : (tensor<2x8x9x4xf32>, tensor<3x2x4x6xf32>) -> tensor<2x9x7x6xf32>
  return %0 : tensor<2x9x7x6xf32>
}

// Dimensions in another order, and a stride that leaves elements over.
// CHECK-LABEL: sym_name = "order"
// CHECK-NOT: "stablehlo.transpose"
// CHECK: #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>
// CHECK-SAME: padding = dense<0>
// CHECK-SAME: window_strides = array<i64: 2, 2>
func.func @order(%x: tensor<2x4x10x9xf32>, %k: tensor<6x4x3x2xf32>) -> tensor<2x6x4x4xf32> {
  %0 = "stablehlo.convolution"(%x, %k) {batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64,
    padding = dense<0> : tensor<2x2xi64>, window_strides = array<i64: 2, 2>}
    : (tensor<2x4x10x9xf32>, tensor<6x4x3x2xf32>) -> tensor<2x6x4x4xf32>
  return %0 : tensor<2x6x4x4xf32>
}

// CHECK-LABEL: sym_name = "groups"
// CHECK-NOT: "stablehlo.reshape"
// CHECK: "stablehlo.convolution"
// CHECK-SAME: feature_group_count = 2 : i64
// CHECK-SAME: (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32>
func.func @groups(%x: tensor<2x8x8x4xf32>, %k: tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32> {
  %0 = "stablehlo.convolution"(%x, %k) {batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64,
    padding = dense<0> : tensor<2x2xi64>}
    : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32>
  return %0 : tensor<2x6x6x6xf32>
}

// CHECK-LABEL: sym_name = "batch_groups"
// CHECK-NOT: "stablehlo.transpose"
// CHECK: "stablehlo.convolution"
// CHECK-SAME: batch_group_count = 2 : i64
// CHECK-SAME: feature_group_count = 1 : i64
// CHECK-SAME: (tensor<4x8x8x3xf32>, tensor<3x3x3x6xf32>) -> tensor<2x6x6x6xf32>
func.func @batch_groups(%x: tensor<4x8x8x3xf32>, %k: tensor<3x3x3x6xf32>) -> tensor<2x6x6x6xf32> {
  %0 = "stablehlo.convolution"(%x, %k) {batch_group_count = 2 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64,
    padding = dense<0> : tensor<2x2xi64>}
    : (tensor<4x8x8x3xf32>, tensor<3x3x3x6xf32>) -> tensor<2x6x6x6xf32>
  return %0 : tensor<2x6x6x6xf32>
}

// No batch, no features: the op gets dimensions of size 1. The image starts at element 1, and has elements behind the last window.
// CHECK-LABEL: sym_name = "line"
// CHECK: "stablehlo.slice"(%{{.*}}) {limit_indices = array<i64: 9>, start_indices = array<i64: 1>
// CHECK: "stablehlo.convolution"
// CHECK-SAME: #stablehlo.conv<[0, b, f]x[0, i, o]->[0, b, f]>
// CHECK-SAME: (tensor<8x1x1xf32>, tensor<3x1x1xf32>) -> tensor<6x1x1xf32>
// CHECK-NEXT: "stablehlo.reshape"({{.*}}) -> tensor<6xf32>
// CHECK-NEXT: "stablehlo.add"
func.func @line(%x: tensor<10xf32>, %k: tensor<3xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j + 1)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %k : tensor<10xf32>, tensor<3xf32>) outs(%y : tensor<6xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  // the import runs on programs of StableHLO
  %1 = "stablehlo.add"(%0, %y) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}
