// A batch that does not divide, joined with the rows for a product and taken apart behind it; partial sums that move with the rest.
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 2 --strategy follow
// RUN: shard-run %s --mesh 3 --strategy follow
// RUN: shard-run %s --mesh 2x2 --strategy follow
// RUN: shard-run %s --mesh 4x2 --strategy follow

shard.grid @mesh(shape = 2x2) {tp.axes = ["tp", "dp"]}
func.func @main(%x: tensor<5x3x8xf32> {tp.sharding = [["dp"], [], ["tp"]]}, %w: tensor<8x6xf32> {tp.sharding = [["tp"], []]})
    -> (tensor<5x3x6xf32> {tp.sharding = [["dp"], [], []]}, tensor<6xf32>) {
  %zero = arith.constant 0.0 : f32
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<5x3x8xf32> into tensor<15x8xf32>
  %e = tensor.empty() : tensor<15x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<15x6xf32>) -> tensor<15x6xf32>
  %p = linalg.matmul ins(%rows, %w : tensor<15x8xf32>, tensor<8x6xf32>) outs(%f : tensor<15x6xf32>) -> tensor<15x6xf32>
  %y = tensor.expand_shape %p [[0, 1], [2]] output_shape [5, 3, 6] : tensor<15x6xf32> into tensor<5x3x6xf32>
  %e2 = tensor.empty() : tensor<6xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<6xf32>) -> tensor<6xf32>
  %s = linalg.reduce ins(%p : tensor<15x6xf32>) outs(%f2 : tensor<6xf32>) dimensions = [0]
    (%in: f32, %acc: f32) {
      %0 = arith.addf %in, %acc : f32
      linalg.yield %0 : f32
    }
  return %y, %s : tensor<5x3x6xf32>, tensor<6xf32>
}
