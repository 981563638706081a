// What looks like the scores of attention is what another contraction adds to, not one of its factors.
// RUN: shard-run %s
// RUN: shard-run %s --mesh 4 --strategy follow

shard.grid @mesh(shape = 3x2) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<12x4xi32>, %b: tensor<4x4xi32>, %c: tensor<4xi32>, %d: tensor<4x12xi32>) -> tensor<4xi32> {
  %scores = linalg.matvec ins(%b, %c : tensor<4x4xi32>, tensor<4xi32>) outs(%c : tensor<4xi32>) -> tensor<4xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d1)>],
                       iterator_types = ["reduction", "parallel"]} ins(%a, %d : tensor<12x4xi32>, tensor<4x12xi32>) outs(%scores : tensor<4xi32>) {
  ^bb0(%x: i32, %y: i32, %o: i32):
    %p = arith.muli %x, %y : i32
    %s = arith.addi %o, %p : i32
    linalg.yield %s : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}
