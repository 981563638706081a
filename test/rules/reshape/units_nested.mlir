// Factors that several axes split unevenly, one after the other: 5 units of 4 are 2, 1, 2 and 0 units on 2x2, and 20 elements 5 each.
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 2x3 --strategy follow
// RUN: shard-run %s --mesh 2x4 --strategy follow

shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<5x4x3xi32> {tp.sharding = [["x", "y"], [], []]}, %b: tensor<20x3xi32> {tp.sharding = [["x", "y"], []]}) -> (tensor<20x3xi32> {tp.sharding = [["x", "y"], []]}, tensor<5x4x3xi32> {tp.sharding = [["x", "y"], [], []]}) {
  %0 = tensor.collapse_shape %a [[0, 1], [2]] {tp.sharding = [[["x", "y"], []]]} : tensor<5x4x3xi32> into tensor<20x3xi32>
  %1 = tensor.expand_shape %b [[0, 1], [2]] output_shape [5, 4, 3] {tp.sharding = [[["x", "y"], [], []]]} : tensor<20x3xi32> into tensor<5x4x3xi32>
  return %0, %1 : tensor<20x3xi32>, tensor<5x4x3xi32>
}
