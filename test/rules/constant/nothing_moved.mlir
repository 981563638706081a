// Padding, concatenating and gathering tensors of no elements.
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 1x3
// RUN: shard-run %s --mesh 5x1 --strategy follow

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(%x: tensor<4x0xf32> {tp.sharding = [["x"], []]}, %w: tensor<0x3xf32>) -> (tensor<4x0xf32> {tp.sharding = [[], []]}, tensor<4x3xf32> {tp.sharding = [[],["x"]]}, tensor<4x2xf32>, tensor<0xf32>, tensor<4x2xf32>) {
 %z = arith.constant 0.0 : f32
 %e = tensor.empty() : tensor<4x3xf32>
 %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
 %m = linalg.matmul ins(%x, %w : tensor<4x0xf32>, tensor<0x3xf32>) outs(%f : tensor<4x3xf32>) -> tensor<4x3xf32>
 %p = tensor.pad %x low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
   tensor.yield %z : f32
 } : tensor<4x0xf32> to tensor<4x2xf32>
 %c = tensor.collapse_shape %x [[0, 1]] : tensor<4x0xf32> into tensor<0xf32>
 %cat = tensor.concat dim(1) %x, %p : (tensor<4x0xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
 return %x, %m, %p, %c, %cat : tensor<4x0xf32>, tensor<4x3xf32>, tensor<4x2xf32>, tensor<0xf32>, tensor<4x2xf32> }
