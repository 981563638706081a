// Changes of layout on unequal axes, executed: swapped axes, several axes gathered at once, reordered ones, sub-axes.
// RUN: shard-run %s --mesh x=4,y=2
// RUN: shard-run %s --mesh x=2,y=2 --launch processes
// RUN: shard-run %s --mesh x=4,y=1

shard.grid @mesh(shape = 4x2) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<8x16xf32> {tp.sharding = [["x"], ["y"]]}, %b: tensor<16x8xf32> {tp.sharding = [["x", "y"], []]},
                %c: tensor<16xi32> {tp.sharding = [["x", "y"]]}, %d: tensor<4x8x8xf64> {tp.sharding = [["x"], [], ["y"]]})
    -> (tensor<8x16xf32> {tp.sharding = [["y"], ["x"]]}, tensor<16x8xf32> {tp.sharding = [[], []]}, tensor<16xi32> {tp.sharding = [["y", "x"]]},
        tensor<4x8x8xf64> {tp.sharding = [[], ["y", "x"], []]}, tensor<16x8xf32> {tp.sharding = [["y"], ["x"]]}) {
  return %a, %b, %c, %d, %b : tensor<8x16xf32>, tensor<16x8xf32>, tensor<16xi32>, tensor<4x8x8xf64>, tensor<16x8xf32>
}
