// Ops of a callee without a file get the place of the call below their name, through any number of calls. Ops that have a file keep it.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-inline-calls)' --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// CHECK: arith.negf {{.*}} loc("neg"("step/norm"("model.py":7:5)))
// CHECK: arith.addf {{.*}} loc("step/norm"("model.py":7:5))
// CHECK: arith.mulf {{.*}} loc("mul"("helpers.py":2:1))
// CHECK: arith.negf {{.*}} loc("neg"("step/norm"("model.py":9:5)))
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = func.call @norm(%x) : (tensor<8xf32>) -> tensor<8xf32> loc("step/norm"("model.py":7:5))
  %z = func.call @inner(%y) : (tensor<8xf32>) -> tensor<8xf32> loc("step/norm"("model.py":9:5))
  return %z : tensor<8xf32>
}
func.func private @norm(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = func.call @inner(%x) : (tensor<8xf32>) -> tensor<8xf32> loc("inner")
  %a = arith.addf %y, %y : tensor<8xf32> loc(unknown)
  %b = arith.mulf %a, %a : tensor<8xf32> loc("mul"("helpers.py":2:1))
  return %b : tensor<8xf32>
}
func.func private @inner(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = arith.negf %x : tensor<8xf32> loc("neg")
  return %y : tensor<8xf32>
}
