// linalg.index counts globally on every shard, on parallel and on reduced loops.
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh x=2,y=2

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
shard.grid @mesh(shape = 4x1) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<8x16xi32> {tp.sharding = [["y"], ["x"]]}) -> (tensor<8x16xi32> {tp.sharding = [["x"], ["y"]]}, tensor<8xi32> {tp.sharding = [["y"]]}) {
  %zero = arith.constant 0 : i32
  %hundred = arith.constant 100 : i32
  %e = tensor.empty() : tensor<8x16xi32>
  %iota = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<8x16xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %x = arith.index_cast %i : index to i32
    %y = arith.index_cast %j : index to i32
    %z = arith.muli %x, %hundred : i32
    %w = arith.addi %z, %y : i32
    linalg.yield %w : i32
  } -> tensor<8x16xi32>
  %e1 = tensor.empty() : tensor<8xi32>
  %f1 = linalg.fill ins(%zero : i32) outs(%e1 : tensor<8xi32>) -> tensor<8xi32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<8x16xi32>) outs(%f1 : tensor<8xi32>) {
  ^bb0(%x: i32, %acc: i32):
    %j = linalg.index 1 : index
    %y = arith.index_cast %j : index to i32
    %p = arith.muli %x, %y : i32
    %v = arith.addi %acc, %p : i32
    linalg.yield %v : i32
  } -> tensor<8xi32>
  return %iota, %sum : tensor<8x16xi32>, tensor<8xi32>
}
