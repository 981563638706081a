// Loops over narrow integers whose bounds are further apart than their type reaches, whose counter would wrap around behind
// the last value, that compare without signs, and whose bounds are data.
// RUN: shard-run %s --mesh 1 | FileCheck %s
// RUN: shard-run %s --mesh 2 | FileCheck %s
// RUN: shard-run %s --mesh 3 --strategy follow | FileCheck %s
// CHECK: verified

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @main(%a: tensor<7xi64> {tp.sharding = [["x"]]})
    -> (tensor<7xi64>, tensor<7xi64>, tensor<7xi64>, tensor<7xi64>, tensor<7xi64>, tensor<7xi64>) {
  %m100 = arith.constant -100 : i8
  %p100 = arith.constant 100 : i8
  %p127 = arith.constant 127 : i8
  %s50 = arith.constant 50 : i8
  %s13 = arith.constant 13 : i8
  // -100, -50, 0, 50
  %far = scf.for %i = %m100 to %p100 step %s50 iter_args(%t = %a) -> tensor<7xi64> : i8 {
    %k = arith.extsi %i : i8 to i64
    %s = tensor.splat %k : tensor<7xi64>
    %n = arith.addi %t, %t : tensor<7xi64>
    %u = arith.addi %n, %s : tensor<7xi64>
    scf.yield %u : tensor<7xi64>
  }
  // 100, 113, 126
  %near = scf.for %i = %p100 to %p127 step %s13 iter_args(%t = %a) -> tensor<7xi64> : i8 {
    %k = arith.extsi %i : i8 to i64
    %s = tensor.splat %k : tensor<7xi64>
    %u = arith.addi %t, %s : tensor<7xi64>
    scf.yield %u : tensor<7xi64>
  }
  // 100, 113, 126, 139, 152
  %unsigned = scf.for unsigned %i = %p100 to %m100 step %s13 iter_args(%t = %a) -> tensor<7xi64> : i8 {
    %k = arith.extui %i : i8 to i64
    %s = tensor.splat %k : tensor<7xi64>
    %u = arith.addi %t, %s : tensor<7xi64>
    scf.yield %u : tensor<7xi64>
  }
  // none, and once up to the upper bound of the type
  %none = scf.for %i = %p100 to %m100 step %s13 iter_args(%t = %a) -> tensor<7xi64> : i8 {
    %u = arith.addi %t, %t : tensor<7xi64>
    scf.yield %u : tensor<7xi64>
  }
  // 0 to the 120 of a constant tensor, by 100: the sum of counter and step is no i8
  %c0 = arith.constant 0 : index
  %z = arith.constant 0 : i8
  %bounds = arith.constant dense<[120, 100]> : tensor<2xi8>
  %to = tensor.extract %bounds[%c0] : tensor<2xi8>
  %some = scf.for %i = %z to %to step %p100 iter_args(%t = %a) -> tensor<7xi64> : i8 {
    %k = arith.extsi %i : i8 to i64
    %s = tensor.splat %k : tensor<7xi64>
    %n = arith.addi %t, %s : tensor<7xi64>
    %u = arith.addi %n, %t : tensor<7xi64>
    scf.yield %u : tensor<7xi64>
  }
  // Inside of a body.
  %e = tensor.empty() : tensor<7xi64>
  %inside = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<7xi64>) outs(%e : tensor<7xi64>) {
  ^bb0(%x: i64, %o: i64):
    %sum = scf.for %i = %m100 to %p100 step %s50 iter_args(%t = %x) -> i64 : i8 {
      %k = arith.extsi %i : i8 to i64
      %u = arith.addi %t, %k : i64
      scf.yield %u : i64
    }
    linalg.yield %sum : i64
  } -> tensor<7xi64>
  return %far, %near, %unsigned, %none, %some, %inside : tensor<7xi64>, tensor<7xi64>, tensor<7xi64>, tensor<7xi64>, tensor<7xi64>, tensor<7xi64>
}
