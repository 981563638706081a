// tp.gradient: the gradient of an argument has the layout of the argument, and the gradient at a result that of the result.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate)' | FileCheck %s
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate{strategy=follow})' | FileCheck %s

// The pins of x, w and y are also those of their gradients.
// CHECK-LABEL: func.func @pins
// CHECK-SAME: %arg1: tensor<8x4xf32> {tp.sharding = {{\[\[\], \["dp"\]\]}}}
// CHECK-SAME: %arg2: tensor<16x4xf32> {tp.gradient = 0 : i64, tp.sharding = {{\[\["dp"\], \[\]\]}}}
// CHECK-SAME: -> (tensor<16x4xf32> {tp.sharding = {{\[\["dp"\], \[\]\]}}}, tensor<8x4xf32> {tp.gradient = 1 : i64, tp.sharding = {{\[\[\], \["dp"\]\]}}})
shard.grid @mesh(shape = 2) {tp.axes = ["dp"]}
func.func @pins(%x: tensor<16x8xf32>, %w: tensor<8x4xf32> {tp.sharding = [[], ["dp"]]}, %g: tensor<16x4xf32> {tp.gradient = 0})
    -> (tensor<16x4xf32> {tp.sharding = [["dp"], []]}, tensor<8x4xf32> {tp.gradient = 1}) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<16x4xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<16x4xf32>) -> tensor<16x4xf32>
  %y = linalg.matmul ins(%x, %w : tensor<16x8xf32>, tensor<8x4xf32>) outs(%i0 : tensor<16x4xf32>) -> tensor<16x4xf32>
  %e1 = tensor.empty() : tensor<8x16xf32>
  %t = linalg.transpose ins(%x : tensor<16x8xf32>) outs(%e1 : tensor<8x16xf32>) permutation = [1, 0]
  %e2 = tensor.empty() : tensor<8x4xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8x4xf32>) -> tensor<8x4xf32>
  %d = linalg.matmul ins(%t, %g : tensor<8x16xf32>, tensor<16x4xf32>) outs(%i2 : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y, %d : tensor<16x4xf32>, tensor<8x4xf32>
}

// -----

// A result may be both: the new value of an argument, and something whose gradient is another one. All have one layout.
// CHECK-LABEL: func.func @both
// CHECK-SAME: %arg0: tensor<4xf32> {tp.sharding = {{\[\["dp"\]\]}}}, %arg1: tensor<4xf32> {tp.gradient = 0 : i64, tp.sharding = {{\[\["dp"\]\]}}}
// CHECK-SAME: tp.sharding = {{\[\["dp"\]\]}}, tp.updates = 0
// CHECK-SAME: tp.gradient = 0 : i64, tp.sharding = {{\[\["dp"\]\]}}
shard.grid @mesh(shape = 2) {tp.axes = ["dp"]}
func.func @both(%x: tensor<4xf32>, %g: tensor<4xf32> {tp.gradient = 0}) -> (tensor<4xf32> {tp.sharding = [["dp"]], tp.updates = 0}, tensor<4xf32> {tp.gradient = 0}) {
  %y = math.exp %x : tensor<4xf32>
  %d = arith.mulf %y, %g : tensor<4xf32>
  return %y, %d : tensor<4xf32>, tensor<4xf32>
}
