// A layer on [tokens, batch], as nn.MultiheadAttention has it, split over its batch: nothing is sent, and no work is repeated.
// RUN: shard-run %s | FileCheck %s
// RUN: shard-run %s --topology h100 | FileCheck %s
// RUN: shard-run %s --mesh 3
// RUN: shard-run %s --mesh 4 --strategy follow
// CHECK: no communication
// CHECK: 0.125 of the whole
// CHECK: {{^}}verified
shard.grid @mesh(shape = 8) {tp.axes = ["dp"]}
func.func @main(%x: tensor<20x8x16xf32> {tp.sharding = [[], ["dp"], []]}, %w: tensor<16x12xf32>, %b: tensor<12xf32>)
    -> (tensor<20x8x12xf32> {tp.sharding = [[], ["dp"], []]}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<160x12xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<160x12xf32>) -> tensor<160x12xf32>
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<20x8x16xf32> into tensor<160x16xf32>
  %y = linalg.matmul ins(%rows, %w : tensor<160x16xf32>, tensor<16x12xf32>) outs(%f : tensor<160x12xf32>) -> tensor<160x12xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%y, %b : tensor<160x12xf32>, tensor<12xf32>) outs(%e : tensor<160x12xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %s = arith.addf %in, %bias : f32
    linalg.yield %s : f32
  } -> tensor<160x12xf32>
  %r = tensor.expand_shape %sum [[0, 1], [2]] output_shape [20, 8, 12] : tensor<160x12xf32> into tensor<20x8x12xf32>
  return %r : tensor<20x8x12xf32>
}
