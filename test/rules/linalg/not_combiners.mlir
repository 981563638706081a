// Sums that look at their accumulator in another way as well come out right in the given order only: their loop stays whole.
// RUN: shard-run %s --mesh x=4 --function both
// RUN: shard-run %s --mesh x=2,y=2 --function chosen --strategy follow
// RUN: shard-run %s --mesh x=4 --function chosen
// RUN: shard-run %s --mesh x=4 --function mixed
// RUN: shard-run %s --mesh x=4 --function prefix

#id = affine_map<(d0) -> (d0)>
#all = affine_map<(d0) -> ()>
shard.grid @mesh(shape = 4x1) {tp.axes = ["x", "y"]}

// acc = (acc + x) + acc: the accumulator on both sides.
func.func @both(%a: tensor<8192xi32> {tp.sharding = [["x", "y"]]}) -> tensor<i32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<i32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %r = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction"]} ins(%a : tensor<8192xi32>) outs(%f : tensor<i32>) {
  ^bb0(%x: i32, %acc: i32):
    %s = arith.addi %acc, %x : i32
    %v = arith.addi %s, %acc : i32
    linalg.yield %v : i32
  } -> tensor<i32>
  return %r : tensor<i32>
}

// acc = acc > x ? acc + x : acc: what is added depends on what there is.
func.func @chosen(%a: tensor<8192xi32> {tp.sharding = [["x", "y"]]}) -> tensor<i32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<i32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %r = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction"]} ins(%a : tensor<8192xi32>) outs(%f : tensor<i32>) {
  ^bb0(%x: i32, %acc: i32):
    %c = arith.cmpi sgt, %acc, %x : i32
    %s = arith.addi %acc, %x : i32
    %v = arith.select %c, %s, %acc : i32
    linalg.yield %v : i32
  } -> tensor<i32>
  return %r : tensor<i32>
}

// acc = max(acc + x, x): two combiners in one chain, the largest sum of neighbors.
func.func @mixed(%a: tensor<8192xi32> {tp.sharding = [["x", "y"]]}) -> tensor<i32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<i32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %r = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction"]} ins(%a : tensor<8192xi32>) outs(%f : tensor<i32>) {
  ^bb0(%x: i32, %acc: i32):
    %s = arith.addi %acc, %x : i32
    %v = arith.maxsi %s, %x : i32
    linalg.yield %v : i32
  } -> tensor<i32>
  return %r : tensor<i32>
}

// A sum, and the largest sum on the way to it: the second result reads the accumulator of the first.
func.func @prefix(%a: tensor<8192xi32> {tp.sharding = [["x", "y"]]}) -> (tensor<i32>, tensor<i32>) {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<i32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %r:2 = linalg.generic {indexing_maps = [#id, #all, #all], iterator_types = ["reduction"]} ins(%a : tensor<8192xi32>) outs(%f, %f : tensor<i32>, tensor<i32>) {
  ^bb0(%x: i32, %sum: i32, %most: i32):
    %s = arith.addi %sum, %x : i32
    %before = arith.maxsi %most, %sum : i32
    linalg.yield %s, %before : i32, i32
  } -> (tensor<i32>, tensor<i32>)
  return %r#0, %r#1 : tensor<i32>, tensor<i32>
}
