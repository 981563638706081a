// Where an element stands in the whole, and constants: of the whole, cut into uneven parts by one axis and by two.
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 3 --strategy follow
// RUN: shard-run %s --mesh 4
// RUN: shard-run %s --mesh 2x2 --strategy follow
// RUN: shard-run %s --mesh 3x2 --strategy follow
// RUN: shard-run %s --mesh 2x4 --strategy follow

#id = affine_map<(d0, d1) -> (d0, d1)>
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a: tensor<10x3xi32> {tp.sharding = [["dp", "tp"], []]}, %b: tensor<3x10xi32> {tp.sharding = [["dp"], ["tp"]]}) -> (tensor<10x3xi32> {tp.sharding = [["dp", "tp"], []]}, tensor<3x10xi32>, tensor<10x3xi32>) {
  %c = arith.constant dense<[[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11], [12, 13, 14], [15, 16, 17], [18, 19, 20], [21, 22, 23], [24, 25, 26], [27, 28, 29]]> : tensor<10x3xi32>
  %e = tensor.empty() : tensor<10x3xi32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %c : tensor<10x3xi32>, tensor<10x3xi32>) outs(%e : tensor<10x3xi32>) {
  ^bb0(%x: i32, %y: i32, %o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.muli %i, %i : index
    %l = arith.addi %k, %j : index
    %m = arith.index_cast %l : index to i32
    %n = arith.addi %m, %y : i32
    %p = arith.addi %n, %x : i32
    linalg.yield %p : i32
  } -> tensor<10x3xi32>
  %e1 = tensor.empty() : tensor<3x10xi32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<3x10xi32>) outs(%e1 : tensor<3x10xi32>) {
  ^bb0(%x: i32, %o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.muli %i, %j : index
    %m = arith.index_cast %k : index to i32
    %n = arith.addi %m, %x : i32
    linalg.yield %n : i32
  } -> tensor<3x10xi32>
  %2 = arith.addi %a, %c : tensor<10x3xi32>
  return %0, %1, %2 : tensor<10x3xi32>, tensor<3x10xi32>, tensor<10x3xi32>
}
