// Concatenation along a dimension that the inputs are split on, and along one that they are not.
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh x=2,y=2

shard.grid @mesh(shape = 4x1) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<8x4xf32> {tp.sharding = [["x"], ["y"]]}, %b: tensor<8x12xf32> {tp.sharding = [["x"], ["y"]]}, %c: tensor<4x4xf32> {tp.sharding = [["x"], []]})
    -> (tensor<8x16xf32> {tp.sharding = [["x"], ["y"]]}, tensor<12x4xf32> {tp.sharding = [["x"], []]}) {
  %wide = tensor.concat dim(1) %a, %b : (tensor<8x4xf32>, tensor<8x12xf32>) -> tensor<8x16xf32>
  %tall = tensor.concat dim(0) %a, %c : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<12x4xf32>
  return %wide, %tall : tensor<8x16xf32>, tensor<12x4xf32>
}
