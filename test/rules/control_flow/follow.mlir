// In strategy=follow the axis of what a loop starts from flows to what it carries.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{strategy=follow})' | FileCheck %s
// RUN: shard-run %s --mesh x=4 --strategy follow

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
// CHECK-LABEL: func.func @main
// CHECK-NOT: shard.all
// CHECK: scf.for {{.*}} -> (tensor<2x6xf32>)
// CHECK-NOT: shard.all
// CHECK: return {{.*}} : tensor<2x6xf32>
func.func @main(%a: tensor<8x6xf32> {tp.sharding = [["x"], []]}) -> tensor<8x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%x = %a) -> tensor<8x6xf32> {
    %y = math.tanh %x : tensor<8x6xf32>
    scf.yield %y : tensor<8x6xf32>
  }
  return %r : tensor<8x6xf32>
}
