// Of rank 0 there is nothing to arrange. As a transpose, the program crashed in upstream's verifier.
// RUN: shard-run %s --mesh 2
func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %p = linalg.pack %x inner_dims_pos = [] inner_tiles = [] into %y : tensor<f32> -> tensor<f32>
  %q = arith.addf %p, %y : tensor<f32>
  %r = linalg.unpack %q inner_dims_pos = [] inner_tiles = [] into %y {tp.sharding = []} : tensor<f32> -> tensor<f32>
  return %p, %r : tensor<f32>, tensor<f32>
}
