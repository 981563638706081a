// Softmax along a sharded dimension, along a whole one, and on sizes that do not divide.
// RUN: shard-run %s --mesh x=2,y=2
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh x=3

shard.grid @mesh(shape = 4x1) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<8x16xf32> {tp.sharding = [["x"], ["y"]]}, %b: tensor<5x7xf64> {tp.sharding = [[], ["x"]]})
    -> (tensor<8x16xf32> {tp.sharding = [["x"], ["y"]]}, tensor<8x16xf32> {tp.sharding = [["x"], []]}, tensor<5x7xf64> {tp.sharding = [[], ["x"]]}) {
  %e = tensor.empty() : tensor<8x16xf32>
  %r = linalg.softmax dimension(1) ins(%a : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %s = linalg.softmax dimension(0) ins(%r : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %f = tensor.empty() : tensor<5x7xf64>
  %t = linalg.softmax dimension(1) ins(%b : tensor<5x7xf64>) outs(%f : tensor<5x7xf64>) -> tensor<5x7xf64>
  return %r, %s, %t : tensor<8x16xf32>, tensor<8x16xf32>, tensor<5x7xf64>
}
