// Collectives over two levels of a machine, in stages and back to back with the same in one go.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-stage-collectives{topology=%S/../Inputs/two_levels.json})' | FileCheck %s
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-stage-collectives)' | FileCheck %s --check-prefix=FLAT

module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 3x2) {tp.axes = ["out", "in"]}

// The small tensor goes through the network, the large one stays in the node.
// CHECK-LABEL: @gather
// CHECK: %[[A:.*]] = tensor.expand_shape %arg0 {{\[\[}}0], [1, 2, 3]] output_shape [2, 1, 1, 4]
// CHECK: %[[B:.*]] = shard.all_gather %[[A]] on @mesh grid_axes = [0] gather_axis = 1 : tensor<2x1x1x4xf32> -> tensor<2x3x1x4xf32>
// CHECK: %[[C:.*]] = shard.all_gather %[[B]] on @mesh grid_axes = [1] gather_axis = 2 : tensor<2x3x1x4xf32> -> tensor<2x3x2x4xf32>
// CHECK: %[[D:.*]] = tensor.collapse_shape %[[C]] {{\[\[}}0], [1, 2, 3]] : tensor<2x3x2x4xf32> into tensor<2x24xf32>
// CHECK: return %[[D]]
// FLAT-LABEL: @gather
// FLAT-NOT: expand_shape
func.func @gather(%x: tensor<2x4xf32>) -> tensor<2x24xf32> {
  %y = shard.all_gather %x on @mesh grid_axes = [0, 1] gather_axis = 1 : tensor<2x4xf32> -> tensor<2x24xf32>
  return %y : tensor<2x24xf32>
}

// The order of the group stays: `in` is the major axis here.
// CHECK-LABEL: @gather_reversed
// CHECK: shard.all_gather %{{.*}} on @mesh grid_axes = [0] gather_axis = 2 : tensor<2x1x1x4xf32> -> tensor<2x1x3x4xf32>
// CHECK: shard.all_gather %{{.*}} on @mesh grid_axes = [1] gather_axis = 1 : tensor<2x1x3x4xf32> -> tensor<2x2x3x4xf32>
func.func @gather_reversed(%x: tensor<2x4xf32>) -> tensor<2x24xf32> {
  %y = shard.all_gather %x on @mesh grid_axes = [1, 0] gather_axis = 1 : tensor<2x4xf32> -> tensor<2x24xf32>
  return %y : tensor<2x24xf32>
}

// CHECK-LABEL: @scatter
// CHECK: shard.reduce_scatter %{{.*}} on @mesh grid_axes = [1] reduction = max scatter_axis = 1 {tp.combiner = "maxnumf"} : tensor<3x2x2x5xf32> -> tensor<3x1x2x5xf32>
// CHECK: shard.reduce_scatter %{{.*}} on @mesh grid_axes = [0] reduction = max scatter_axis = 0 {tp.combiner = "maxnumf"} : tensor<3x1x2x5xf32> -> tensor<1x1x2x5xf32>
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1, 2], [3]] : tensor<1x1x2x5xf32> into tensor<2x5xf32>
func.func @scatter(%x: tensor<12x5xf32>) -> tensor<2x5xf32> {
  %y = shard.reduce_scatter %x on @mesh grid_axes = [0, 1] reduction = max scatter_axis = 0 {tp.combiner = "maxnumf"} : tensor<12x5xf32> -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// Along a dimension that divides; two axes of one stage do not matter here.
// CHECK-LABEL: @reduce
// CHECK: %[[A:.*]] = shard.reduce_scatter %arg0 on @mesh grid_axes = [1] scatter_axis = 1 : tensor<5x4xf32> -> tensor<5x2xf32>
// CHECK: %[[B:.*]] = shard.all_reduce %[[A]] on @mesh grid_axes = [0] : tensor<5x2xf32> -> tensor<5x2xf32>
// CHECK: %[[C:.*]] = shard.all_gather %[[B]] on @mesh grid_axes = [1] gather_axis = 1 : tensor<5x2xf32> -> tensor<5x4xf32>
// CHECK: return %[[C]]
func.func @reduce(%x: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %y = shard.all_reduce %x on @mesh grid_axes = [0, 1] reduction = sum : tensor<5x4xf32> -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// Neither dimension divides the pieces of three devices and two, but no number of elements does: it stays.
// CHECK-LABEL: @reduce_odd
// CHECK-NEXT: shard.all_reduce %arg0 on @mesh grid_axes = [0, 1]
// CHECK-NEXT: return
func.func @reduce_odd(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %y = shard.all_reduce %x on @mesh grid_axes = [0, 1] : tensor<5x7xf32> -> tensor<5x7xf32>
  return %y : tensor<5x7xf32>
}

// CHECK-LABEL: @average
// CHECK-NEXT: shard.all_reduce %arg0 on @mesh grid_axes = [0, 1] reduction = average
// CHECK-NEXT: return
func.func @average(%x: tensor<4xi32>) -> tensor<4xi32> {
  %y = shard.all_reduce %x on @mesh grid_axes = [0, 1] reduction = average : tensor<4xi32> -> tensor<4xi32>
  return %y : tensor<4xi32>
}

// An exchange sends more in stages; here latency of a large group decides.
// CHECK-LABEL: @exchange
// CHECK: tensor.expand_shape %arg0 {{\[\[}}0, 1, 2], [3, 4, 5]] output_shape [3, 2, 1, 1, 1, 2]
// CHECK: shard.all_to_all %{{.*}} on @mesh grid_axes = [0] split_axis = 0 concat_axis = 3 : tensor<3x2x1x1x1x2xf32> -> tensor<1x2x1x3x1x2xf32>
// CHECK: shard.all_to_all %{{.*}} on @mesh grid_axes = [1] split_axis = 1 concat_axis = 4 : tensor<1x2x1x3x1x2xf32> -> tensor<1x1x1x3x2x2xf32>
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1, 2], [3, 4, 5]] : tensor<1x1x1x3x2x2xf32> into tensor<1x12xf32>
func.func @exchange(%x: tensor<6x2xf32>) -> tensor<1x12xf32> {
  %y = shard.all_to_all %x on @mesh grid_axes = [0, 1] split_axis = 0 concat_axis = 1 : tensor<6x2xf32> -> tensor<1x12xf32>
  return %y : tensor<1x12xf32>
}

// One axis is one stage.
// CHECK-LABEL: @one
// CHECK-NEXT: shard.all_reduce %arg0 on @mesh grid_axes = [1]
// CHECK-NEXT: return
func.func @one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = shard.all_reduce %x on @mesh grid_axes = [1] : tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}
}

// -----

// No dimension divides, all elements together do.
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["out", "in"]}
// CHECK-LABEL: @reduce_line
// CHECK: tensor.collapse_shape %arg0 {{\[\[}}0, 1]] : tensor<2x6xf32> into tensor<12xf32>
// CHECK: shard.reduce_scatter %{{.*}} on @mesh grid_axes = [1] scatter_axis = 0 : tensor<12xf32> -> tensor<3xf32>
// CHECK: shard.all_reduce %{{.*}} on @mesh grid_axes = [0] : tensor<3xf32> -> tensor<3xf32>
// CHECK: shard.all_gather %{{.*}} on @mesh grid_axes = [1] gather_axis = 0 : tensor<3xf32> -> tensor<12xf32>
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1]] output_shape [2, 6]
func.func @reduce_line(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %y = shard.all_reduce %x on @mesh grid_axes = [0, 1] : tensor<2x6xf32> -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}
}
