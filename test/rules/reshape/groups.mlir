// Joining and splitting dimensions: whole axes on the major part, sub-axes where the major part is smaller than the axis.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate,tp-partition)' | FileCheck %s
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh x=2

// CHECK: shard.grid @mesh.sub(shape = 2x2)
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<16x8xf32> {tp.sharding = [["x"], []]}, %b: tensor<4x4x8xf32> {tp.sharding = [[], ["x"], []]})
    -> (tensor<2x8x8xf32>, tensor<16x8xf32> {tp.sharding = [["x"], []]}, tensor<2x2x4x8xf32>) {
  %split = tensor.expand_shape %a [[0, 1], [2]] output_shape [2, 8, 8] : tensor<16x8xf32> into tensor<2x8x8xf32>
  %exp = math.exp %split : tensor<2x8x8xf32>
  %joined = tensor.collapse_shape %b [[0, 1], [2]] : tensor<4x4x8xf32> into tensor<16x8xf32>
  %sum = arith.addf %joined, %a : tensor<16x8xf32>
  %again = tensor.expand_shape %sum [[0, 1, 2], [3]] output_shape [2, 2, 4, 8] : tensor<16x8xf32> into tensor<2x2x4x8xf32>
  return %exp, %sum, %again : tensor<2x8x8xf32>, tensor<16x8xf32>, tensor<2x2x4x8xf32>
}
