// The weight does not change in the loop: it is gathered once, in front of it.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate,tp-partition)' | FileCheck %s
// RUN: shard-run %s --mesh x=4

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
// CHECK-LABEL: func.func @main
// CHECK: shard.all_gather
// CHECK: scf.for
// CHECK-NOT: shard.all
// CHECK: return
func.func @main(%x: tensor<64x64xf32> {tp.sharding = [["x"], []]}, %w: tensor<64x64xf32> {tp.sharding = [["x"], []]})
    -> (tensor<64x64xf32> {tp.sharding = [["x"], []]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x) -> tensor<64x64xf32> {
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %p = linalg.matmul ins(%a, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
    %t = math.tanh %p : tensor<64x64xf32>
    scf.yield %t : tensor<64x64xf32>
  }
  return %y : tensor<64x64xf32>
}
