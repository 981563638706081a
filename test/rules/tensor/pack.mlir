// linalg.pack and unpack, even and padded, with permuted dimensions.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 3x1 --strategy follow
// RUN: shard-run %s --mesh 5x1

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(%x: tensor<8x6xf32> {tp.sharding = [["x"], ["y"]]}, %y: tensor<5x7xf32> {tp.sharding = [["x"], []]}, %o1: tensor<4x2x2x3xf32>, %o2: tensor<4x2x2x4xf32>, %b1: tensor<8x6xf32>, %b2: tensor<5x7xf32>, %o3: tensor<3x8x2xf32>)
  -> (tensor<4x2x2x3xf32> {tp.sharding = [["x"], [], [], []]}, tensor<8x6xf32> {tp.sharding = [["x"], []]}, tensor<4x2x2x4xf32>, tensor<5x7xf32> {tp.sharding = [[], ["x"]]}, tensor<3x8x2xf32> {tp.sharding = [["x"], ["y"], []]}, tensor<8x6xf32>) {
  %p = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %o1 : tensor<8x6xf32> -> tensor<4x2x2x3xf32>
  %u = linalg.unpack %p inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %b1 : tensor<4x2x2x3xf32> -> tensor<8x6xf32>
  %c = arith.constant 3.5 : f32
  %q = linalg.pack %y padding_value(%c : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [2, 4] into %o2 : tensor<5x7xf32> -> tensor<4x2x2x4xf32>
  %v = linalg.unpack %q outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [2, 4] into %b2 : tensor<4x2x2x4xf32> -> tensor<5x7xf32>
  %r = linalg.pack %x outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [2] into %o3 : tensor<8x6xf32> -> tensor<3x8x2xf32>
  %w = linalg.unpack %r outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [2] into %b1 : tensor<3x8x2xf32> -> tensor<8x6xf32>
  return %p, %u, %q, %v, %r, %w : tensor<4x2x2x3xf32>, tensor<8x6xf32>, tensor<4x2x2x4xf32>, tensor<5x7xf32>, tensor<3x8x2xf32>, tensor<8x6xf32>
}
