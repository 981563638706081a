// A loop that compares without signs. The evaluator counts in the same way.
// RUN: shard-run %s --mesh 2 --reference=evaluator | FileCheck %s
// CHECK: verified

func.func @main(%a: tensor<6xi64>) -> tensor<6xi64> {
  %low = arith.constant 100 : i8
  %high = arith.constant -100 : i8
  %step = arith.constant 13 : i8
  // 100, 113, 126, 139, 152
  %r = scf.for unsigned %i = %low to %high step %step iter_args(%t = %a) -> tensor<6xi64> : i8 {
    %k = arith.extui %i : i8 to i64
    %s = tensor.splat %k : tensor<6xi64>
    %u = arith.addi %t, %s : tensor<6xi64>
    scf.yield %u : tensor<6xi64>
  }
  return %r : tensor<6xi64>
}
