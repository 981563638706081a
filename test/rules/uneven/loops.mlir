// Loops and branches that carry uneven values.
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 3 --strategy follow
// RUN: shard-run %s --mesh 4
// RUN: shard-run %s --mesh 2x2 --strategy follow
// RUN: shard-run %s --mesh 3x2 --strategy follow
// RUN: shard-run %s --mesh 2x4 --strategy follow

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<7x5xf32> {tp.sharding = [["dp"], ["tp"]]}, %w: tensor<5x5xf32> {tp.sharding = [["tp"], []]}, %n: tensor<i32>) -> (tensor<7x5xf32> {tp.sharding = [["dp"], ["tp"]]}, tensor<7x5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x) -> (tensor<7x5xf32>) {
    %e = tensor.empty() : tensor<7x5xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<7x5xf32>) -> tensor<7x5xf32>
    %m = linalg.matmul ins(%v, %w : tensor<7x5xf32>, tensor<5x5xf32>) outs(%f : tensor<7x5xf32>) -> tensor<7x5xf32>
    %t = math.tanh %m : tensor<7x5xf32>
    scf.yield %t : tensor<7x5xf32>
  }
  %k = tensor.extract %n[] : tensor<i32>
  %one = arith.constant 1 : i32
  %c = arith.cmpi sgt, %k, %one : i32
  %s = scf.if %c -> (tensor<7x5xf32>) {
    %y = arith.addf %r, %x : tensor<7x5xf32>
    scf.yield %y : tensor<7x5xf32>
  } else {
    scf.yield %x : tensor<7x5xf32>
  }
  return %r, %s : tensor<7x5xf32>, tensor<7x5xf32>
}
