// Communication written by a user stays as it is; the axes of its group shard nothing that it works on, the other axes may.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-spmd{strategy=follow})' | FileCheck %s

// dp stays on the rows; tp is gathered first, although it would fit.
// CHECK-LABEL: func.func @sum
// CHECK: %[[G:.*]] = shard.all_gather %arg0 on @mesh grid_axes = [1] gather_axis = 1 : tensor<4x4xf32> -> tensor<4x8xf32>
// CHECK: %[[R:.*]] = shard.all_reduce %[[G]] on @mesh grid_axes = [1] reduction = max : tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK: math.tanh
shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @sum(%x: tensor<8x8xf32> {tp.sharding = [["dp"], ["tp"]]}) -> (tensor<8x8xf32> {tp.sharding = [["dp"], []]}) {
  %r = shard.all_reduce %x on @mesh grid_axes = [1] reduction = max : tensor<8x8xf32> -> tensor<8x8xf32>
  %t = math.tanh %r : tensor<8x8xf32>
  return %t : tensor<8x8xf32>
}

// -----

// What differs between devices is sharded along no axis: dp is gathered in front, and comes back behind.
// CHECK-LABEL: func.func @own
// CHECK: %[[G:.*]] = shard.all_gather %arg0 on @mesh grid_axes = [0] gather_axis = 0 : tensor<4x8xf32> -> tensor<8x8xf32>
// CHECK: %[[S:.*]] = shard.all_slice %[[G]] on @mesh grid_axes = [1] slice_axis = 1 : tensor<8x8xf32> -> tensor<8x4xf32>
// CHECK: %[[T:.*]] = math.tanh %[[S]] : tensor<8x4xf32>
// CHECK: shard.all_gather %[[T]] on @mesh grid_axes = [1] gather_axis = 1
shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @own(%x: tensor<8x8xf32> {tp.sharding = [["dp"], []]}) -> (tensor<8x8xf32> {tp.sharding = [["dp"], []]}) {
  %s = shard.all_slice %x on @mesh grid_axes = [1] slice_axis = 1 : tensor<8x8xf32> -> tensor<8x4xf32>
  %t = math.tanh %s : tensor<8x4xf32>
  %g = shard.all_gather %t on @mesh grid_axes = [1] gather_axis = 1 : tensor<8x4xf32> -> tensor<8x8xf32>
  return %g : tensor<8x8xf32>
}

// -----

// A group of one device differs from nobody.
// CHECK-LABEL: func.func @alone
// CHECK: math.tanh %{{.*}} : tensor<2x8xf32>
shard.grid @mesh(shape = 4x1) {tp.axes = ["dp", "tp"]}
func.func @alone(%x: tensor<8x8xf32> {tp.sharding = [["dp"], []]}) -> (tensor<8x8xf32> {tp.sharding = [["dp"], []]}) {
  %s = shard.all_slice %x on @mesh grid_axes = [1] slice_axis = 1 : tensor<8x8xf32> -> tensor<8x8xf32>
  %t = math.tanh %s : tensor<8x8xf32>
  return %t : tensor<8x8xf32>
}
