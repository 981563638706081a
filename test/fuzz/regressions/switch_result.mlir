// The result of an scf.index_switch is the argument or the constant that a region yields, and ops overwrote it: a constant is in memory
// that cannot be written, and an argument had changed when the next op read it.
// RUN: shard-run %s --mesh 2 --seed 1 | FileCheck %s

// CHECK: against the evaluator ok
// CHECK: against the evaluator ok
// CHECK: verified
func.func @main(%choice: tensor<i1>, %x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %bit = tensor.extract %choice[] : tensor<i1>
  %none = arith.index_castui %bit : i1 to index
  %two = arith.constant 2 : index
  %other = arith.addi %none, %two : index
  %c = arith.constant dense<3.0> : tensor<8xf32>
  %of_arguments = scf.index_switch %other -> tensor<8xf32>
  case 0 {
    scf.yield %y : tensor<8xf32>
  }
  default {
    scf.yield %x : tensor<8xf32>
  }
  %of_constants = scf.index_switch %other -> tensor<8xf32>
  case 0 {
    scf.yield %y : tensor<8xf32>
  }
  default {
    scf.yield %c : tensor<8xf32>
  }
  %s = linalg.add ins(%of_arguments, %y : tensor<8xf32>, tensor<8xf32>) outs(%of_arguments : tensor<8xf32>) -> tensor<8xf32>
  %t = linalg.sub ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%of_constants : tensor<8xf32>) -> tensor<8xf32>
  return %s, %t : tensor<8xf32>, tensor<8xf32>
}
