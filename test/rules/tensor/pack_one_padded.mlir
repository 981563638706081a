// linalg.pack and unpack that pad one dimension only, the first or the last.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 3x1 --strategy follow

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(%x: tensor<5x6xf32> {tp.sharding = [["x"], []]}, %rows: tensor<2x2x4x3xf32>, %columns: tensor<5x2x4xf32>, %back: tensor<5x6xf32>)
    -> (tensor<2x2x4x3xf32> {tp.sharding = [["x"], [], [], []]}, tensor<5x6xf32> {tp.sharding = [["x"], []]}, tensor<5x2x4xf32>, tensor<5x6xf32> {tp.sharding = [[], ["x"]]}) {
  %c = arith.constant 3.5 : f32
  %p = linalg.pack %x padding_value(%c : f32) inner_dims_pos = [0, 1] inner_tiles = [4, 3] into %rows : tensor<5x6xf32> -> tensor<2x2x4x3xf32>
  %u = linalg.unpack %p inner_dims_pos = [0, 1] inner_tiles = [4, 3] into %back : tensor<2x2x4x3xf32> -> tensor<5x6xf32>
  %q = linalg.pack %x padding_value(%c : f32) inner_dims_pos = [1] inner_tiles = [4] into %columns : tensor<5x6xf32> -> tensor<5x2x4xf32>
  %v = linalg.unpack %q inner_dims_pos = [1] inner_tiles = [4] into %back : tensor<5x2x4xf32> -> tensor<5x6xf32>
  return %p, %u, %q, %v : tensor<2x2x4x3xf32>, tensor<5x6xf32>, tensor<5x2x4xf32>, tensor<5x6xf32>
}
