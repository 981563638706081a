// A border is the layout of its group: where the global value is split so, nothing is left to do, and the value of a device is its shard.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-spmd)' | FileCheck %s

// Two dimensions, in a region that is one op. The other dimension of the result is free.
// CHECK-LABEL: func.func @two
// CHECK-SAME: %arg0: tensor<4x8xf32> {tp.global = tensor<8x16xf32>, tp.sharding = {{\[}}["x"], ["y"]]}
// CHECK-SAME: -> (tensor<4x8xf32> {tp.global = tensor<8x16xf32>, tp.sharding = {{\[}}["x"], ["y"]]})
// CHECK-NEXT: %[[T:.*]] = math.tanh %arg0 : tensor<4x8xf32>
// CHECK-NEXT: return %[[T]]
shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @two(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %s = scf.execute_region -> tensor<4x8xf32> no_inline {
    %0 = shard.all_slice %a on @mesh grid_axes = [0] slice_axis = 0 : tensor<8x16xf32> -> tensor<4x16xf32>
    %1 = shard.all_slice %0 on @mesh grid_axes = [1] slice_axis = 1 : tensor<4x16xf32> -> tensor<4x8xf32>
    scf.yield %1 : tensor<4x8xf32>
  }
  %t = math.tanh %s : tensor<4x8xf32>
  %g = scf.execute_region -> tensor<8x16xf32> no_inline {
    %0 = shard.all_gather %t on @mesh grid_axes = [0] gather_axis = 0 : tensor<4x8xf32> -> tensor<8x8xf32>
    %1 = shard.all_gather %0 on @mesh grid_axes = [1] gather_axis = 1 : tensor<8x8xf32> -> tensor<8x16xf32>
    scf.yield %1 : tensor<8x16xf32>
  }
  return %g : tensor<8x16xf32>
}

// -----

// The order of the group counts, and is offered.
// CHECK-LABEL: func.func @order
// CHECK-SAME: tp.sharding = {{\[}}["y", "x"], []]
// CHECK-NEXT: math.exp %arg0 : tensor<2x16xf32>
// CHECK-NEXT: math.tanh
// CHECK-NEXT: return
shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @order(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %e = math.exp %a : tensor<8x16xf32>
  %s = shard.all_slice %e on @mesh grid_axes = [1, 0] slice_axis = 0 : tensor<8x16xf32> -> tensor<2x16xf32>
  %t = math.tanh %s : tensor<2x16xf32>
  %g = shard.all_gather %t on @mesh grid_axes = [1, 0] gather_axis = 0 : tensor<2x16xf32> -> tensor<8x16xf32>
  return %g : tensor<8x16xf32>
}

// -----

// The major axes of the group alone leave the rest of the op.
// CHECK-LABEL: func.func @rest
// CHECK-NEXT: %[[S:.*]] = shard.all_slice %arg0 on @mesh grid_axes = [1] slice_axis = 0 : tensor<4x16xf32> -> tensor<2x16xf32>
// CHECK-NEXT: %[[T:.*]] = math.tanh %[[S]]
// CHECK-NEXT: %[[G:.*]] = shard.all_gather %[[T]] on @mesh grid_axes = [1] gather_axis = 0 : tensor<2x16xf32> -> tensor<4x16xf32>
// CHECK-NEXT: return %[[G]]
shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @rest(%a: tensor<8x16xf32> {tp.sharding = [["x"], []]}) -> (tensor<8x16xf32> {tp.sharding = [["x"], []]}) {
  %s = shard.all_slice %a on @mesh grid_axes = [0, 1] slice_axis = 0 : tensor<8x16xf32> -> tensor<2x16xf32>
  %t = math.tanh %s : tensor<2x16xf32>
  %g = shard.all_gather %t on @mesh grid_axes = [0, 1] gather_axis = 0 : tensor<2x16xf32> -> tensor<8x16xf32>
  return %g : tensor<8x16xf32>
}

// -----

// The minor axis alone is another layout: it is gathered first.
// CHECK-LABEL: func.func @minor
// CHECK: shard.all_gather %arg0 {{.*}}grid_axes = [1]
// CHECK: math.tanh %{{.*}} : tensor<2x16xf32>
shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @minor(%a: tensor<8x16xf32> {tp.sharding = [["y"], []]}) -> tensor<8x16xf32> {
  %s = shard.all_slice %a on @mesh grid_axes = [0, 1] slice_axis = 0 : tensor<8x16xf32> -> tensor<2x16xf32>
  %t = math.tanh %s : tensor<2x16xf32>
  %g = shard.all_gather %t on @mesh grid_axes = [0, 1] gather_axis = 0 : tensor<2x16xf32> -> tensor<8x16xf32>
  return %g : tensor<8x16xf32>
}

// -----

// Copies that are equal on all devices may be joined likewise; the other axis splits what it may.
// CHECK-LABEL: func.func @copies
// CHECK-SAME: %arg0: tensor<8x8xf32>
// CHECK-SAME: -> (tensor<8x8xf32> {tp.global = tensor<16x16xf32>, tp.sharding = {{\[}}["x"], ["y"]]})
// CHECK-NOT: shard.
// CHECK: return
shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @copies(%a: tensor<8x16xf32>) -> tensor<16x16xf32> {
  %t = math.tanh %a : tensor<8x16xf32>
  %g = shard.all_gather %t on @mesh grid_axes = [0] gather_axis = 0 : tensor<8x16xf32> -> tensor<16x16xf32>
  return %g : tensor<16x16xf32>
}

// -----

// The part of a part: the second border has no global value, and stays.
// CHECK-LABEL: func.func @nested
// CHECK-SAME: %arg0: tensor<4x16xf32>
// CHECK-NEXT: shard.all_slice %arg0 on @mesh grid_axes = [1] slice_axis = 0 : tensor<4x16xf32> -> tensor<2x16xf32>
// CHECK-NEXT: math.tanh
// CHECK-NEXT: shard.all_gather %{{.*}} on @mesh grid_axes = [1] gather_axis = 0 : tensor<2x16xf32> -> tensor<4x16xf32>
// CHECK-NEXT: return
shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @nested(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %s = shard.all_slice %a on @mesh grid_axes = [0] slice_axis = 0 : tensor<8x16xf32> -> tensor<4x16xf32>
  %r = shard.all_slice %s on @mesh grid_axes = [1] slice_axis = 0 : tensor<4x16xf32> -> tensor<2x16xf32>
  %t = math.tanh %r : tensor<2x16xf32>
  %h = shard.all_gather %t on @mesh grid_axes = [1] gather_axis = 0 : tensor<2x16xf32> -> tensor<4x16xf32>
  %g = shard.all_gather %h on @mesh grid_axes = [0] gather_axis = 0 : tensor<4x16xf32> -> tensor<8x16xf32>
  return %g : tensor<8x16xf32>
}
