// More dimensions joined into one, or split from it, than have factors of their own: the minor ones stay whole together.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=x=4})' | FileCheck %s
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh x=4 --strategy follow
// RUN: shard-run %s --mesh x=16

// The video's frames and rows are split as they are joined, and the qubits' four major ones as they come apart.
// CHECK: func.func @main(%{{.*}}: tensor<1x2x8x2x3x16xf32>
// CHECK-NOT: all_gather
// CHECK: tensor.collapse_shape {{.*}} : tensor<1x2x8x2x3x16xf32> into tensor<96x16xf32>
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%video: tensor<2x4x8x2x3x16xf32> {tp.sharding = [["x:(1)2"], ["x:(2)2"], [], [], [], []]}, %state: tensor<256xf32> {tp.sharding = [["x"]]})
    -> (tensor<384x16xf32>, tensor<2x2x2x2x2x2x2x2xf32>, tensor<2x4x8x2x3x16xf32>) {
  %tokens = tensor.collapse_shape %video [[0, 1, 2, 3, 4], [5]] : tensor<2x4x8x2x3x16xf32> into tensor<384x16xf32>
  %exp = math.exp %tokens : tensor<384x16xf32>
  %qubits = tensor.expand_shape %state [[0, 1, 2, 3, 4, 5, 6, 7]] output_shape [2, 2, 2, 2, 2, 2, 2, 2] : tensor<256xf32> into tensor<2x2x2x2x2x2x2x2xf32>
  %sin = math.sin %qubits : tensor<2x2x2x2x2x2x2x2xf32>
  %back = tensor.expand_shape %exp [[0, 1, 2, 3, 4], [5]] output_shape [2, 4, 8, 2, 3, 16] : tensor<384x16xf32> into tensor<2x4x8x2x3x16xf32>
  return %exp, %sin, %back : tensor<384x16xf32>, tensor<2x2x2x2x2x2x2x2xf32>, tensor<2x4x8x2x3x16xf32>
}
