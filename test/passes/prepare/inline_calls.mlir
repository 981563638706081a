// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-inline-calls)' | FileCheck %s

// Annotations of the callee's arguments and results become constraints, those of its ops are kept; the private callee is gone.

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
// CHECK-LABEL: func.func @main
// CHECK: scf.for
// CHECK: %[[IN:.*]] = shard.shard %{{.*}} {tp.sharding = {{\[}}["x"]]}
// CHECK: %[[Y:.*]] = arith.negf %[[IN]] {tp.sharding = {{\[}}["x"]]}
// CHECK: %[[OUT:.*]] = shard.shard %[[Y]] {{.*}} {tp.sharding = {{\[}}[]]}
// CHECK: scf.yield %[[OUT]]
// CHECK-NOT: call @
// CHECK-NOT: func.func private
func.func @main(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %r = scf.for %i = %n to %n step %n iter_args(%a = %x) -> tensor<8xf32> {
    %y = func.call @outer(%a) : (tensor<8xf32>) -> tensor<8xf32>
    scf.yield %y : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
func.func private @outer(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = func.call @inner(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func private @inner(%x: tensor<8xf32> {tp.sharding = [["x"]]}) -> (tensor<8xf32> {tp.sharding = [[]]}) {
  %y = arith.negf %x {tp.sharding = [["x"]]} : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// Public callees keep their symbol, declarations their calls.

// CHECK-LABEL: func.func @caller
// CHECK: arith.negf
// CHECK: call @outside
// CHECK: func.func @public
// CHECK: func.func private @outside
func.func @caller(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = func.call @public(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %z = func.call @outside(%y) : (tensor<8xf32>) -> tensor<8xf32>
  return %z : tensor<8xf32>
}
func.func @public(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = arith.negf %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func private @outside(tensor<8xf32>) -> tensor<8xf32>
