// Partial sums in front of a pad that a convolution reads in place: zeros let them through, ones do not.
// RUN: shard-run %s --mesh x=2 --strategy follow
// RUN: shard-run %s --mesh x=4

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x16xf32> {tp.sharding = [[], ["x"]]}, %b: tensor<16x8xf32> {tp.sharding = [["x"], []]}, %k: tensor<3x3xf32> {tp.sharding = [[], []]})
    -> (tensor<8x8xf32> {tp.sharding = [["x"], []]}, tensor<8x8xf32> {tp.sharding = [["x"], []]}) {
  %z = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = linalg.matmul {tp.sharding = {dims = [[], []], partial = {x = "sum"}}} ins(%a, %b : tensor<8x16xf32>, tensor<16x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = tensor.pad %m low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<8x8xf32> to tensor<10x10xf32>
  %0 = linalg.conv_2d {tp.sharding = {dims = [[], []], partial = {x = "sum"}}} ins(%p, %k : tensor<10x10xf32>, tensor<3x3xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = tensor.pad %m low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %one : f32
  } : tensor<8x8xf32> to tensor<10x10xf32>
  %1 = linalg.conv_2d ins(%q, %k : tensor<10x10xf32>, tensor<3x3xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}
