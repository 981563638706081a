// Ops that are expanded into others. python/tests/test_primitives.py runs them.
// RUN: shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-import-stablehlo)' | FileCheck %s

// The last dimensions of the result, by numpy's rule.
// CHECK-DAG: #[[LAST:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @broadcast
// CHECK-SAME: (%[[A:.*]]: tensor<4xi32> {tp.unsigned}, %[[B:.*]]: tensor<4x4xi32> {tp.unsigned})
// CHECK: %[[W:.*]] = linalg.generic {indexing_maps = [#[[LAST]],
// CHECK-SAME: ins(%[[A]] : tensor<4xi32>)
// CHECK: %[[U:.*]] = arith.divui
// CHECK: linalg.generic {indexing_maps = [#[[FIRST]],
// CHECK-SAME: ins(%[[A]] : tensor<4xi32>)
// CHECK: arith.addi %{{.*}}, %[[B]] : tensor<4x4xi32>
func.func @broadcast(%a: tensor<4xui32>, %b: tensor<4x4xui32>) -> (tensor<4x4xui32>, tensor<4x4xui32>) {
  %0 = "chlo.broadcast_divide"(%a, %b) : (tensor<4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
  %1 = "chlo.broadcast_add"(%a, %b) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xui32>, tensor<4x4xui32>) -> tensor<4x4xui32>
  return %0, %1 : tensor<4x4xui32>, tensor<4x4xui32>
}

// In the body of another op.
// CHECK-LABEL: func.func @body
// CHECK: linalg.generic
// CHECK: arith.maximumf %{{.*}}, %{{.*}} : f32
func.func @body(%a: tensor<4xf32>, %n: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.reduce"(%a, %n) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = "chlo.broadcast_maximum"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @constants
// CHECK-DAG: arith.constant dense<[1, 2]> : tensor<2xi32>
// CHECK-DAG: arith.constant dense<2.500000e+00> : tensor<4xf32>
func.func @constants(%a: tensor<4xf32>) -> (tensor<2xi32>, tensor<4xf32>) {
  %0 = "chlo.constant"() <{value = dense<[1, 2]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %1 = "chlo.constant_like"(%a) <{value = 2.5 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<2xi32>, tensor<4xf32>
}

// The constants of a batch norm: the number of elements of a feature, and epsilon.
// CHECK-LABEL: func.func @batch_norm
// CHECK: arith.constant dense<3.200000e+01> : tensor<3xf32>
// CHECK: arith.constant dense<1.000000e-03> : tensor<3xf32>
// CHECK: math.sqrt %{{.*}} : tensor<3xf32>
func.func @batch_norm(%x: tensor<8x3x4xf32>, %s: tensor<3xf32>) -> (tensor<8x3x4xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %s) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<8x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<8x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return %0#0, %0#1, %0#2 : tensor<8x3x4xf32>, tensor<3xf32>, tensor<3xf32>
}
