// Ops that go element by element, on sizes that no mesh divides. What stands in the padding must not trap: shard-run fills that of the
// arguments with -1, so that every divisor below is 0 there.
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 3 --strategy follow
// RUN: shard-run %s --mesh 4
// RUN: shard-run %s --mesh 2x2 --strategy follow
// RUN: shard-run %s --mesh 3x2 --strategy follow
// RUN: shard-run %s --mesh 2x4 --strategy follow

#id = affine_map<(d0, d1) -> (d0, d1)>
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a: tensor<7x10xf32> {tp.sharding = [["dp"], ["tp"]]}, %b: tensor<7x10xi32> {tp.sharding = [["dp"], ["tp"]]}) -> (tensor<7x10xf32>, tensor<7x10xi32>, tensor<7x10xi32> {tp.sharding = [["tp"], ["dp"]]}, tensor<7x10xi32>, tensor<7x10xi32>, tensor<7x10xi32>) {
  %one = arith.constant dense<1> : tensor<7x10xi32>
  %six = arith.constant dense<6> : tensor<7x10xi32>
  %f = math.exp %a : tensor<7x10xf32>
  %g = arith.mulf %f, %a : tensor<7x10xf32>
  %d = arith.addi %b, %one : tensor<7x10xi32>
  %0 = arith.divsi %six, %d : tensor<7x10xi32>
  %1 = arith.remui %six, %d : tensor<7x10xi32>
  %2 = arith.floordivsi %six, %d : tensor<7x10xi32>
  %3 = arith.ceildivui %six, %d : tensor<7x10xi32>
  %e = tensor.empty() : tensor<7x10xi32>
  %4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<7x10xi32>) outs(%e : tensor<7x10xi32>) {
  ^bb0(%x: i32, %o: i32):
    %c1 = arith.constant 1 : i32
    %c6 = arith.constant 6 : i32
    %y = arith.addi %x, %c1 : i32
    %q = arith.divui %c6, %y : i32
    %r = arith.remsi %c6, %y : i32
    %s = arith.addi %q, %r : i32
    linalg.yield %s : i32
  } -> tensor<7x10xi32>
  return %g, %0, %1, %2, %3, %4 : tensor<7x10xf32>, tensor<7x10xi32>, tensor<7x10xi32>, tensor<7x10xi32>, tensor<7x10xi32>, tensor<7x10xi32>
}
