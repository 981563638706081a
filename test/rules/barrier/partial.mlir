// Partial sums pass through a barrier: they are added once, behind it.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=x=4})' | FileCheck %s
// RUN: shard-run %s --mesh x=4 --strategy follow | FileCheck %s --check-prefix=RANKS

// CHECK: linalg.matmul
// CHECK-NOT: shard.
// CHECK: bufferization.alloc_tensor() copy(%{{.*}}) : tensor<8x8xf32>
// CHECK-NEXT: shard.reduce_scatter
// RANKS: verified
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x12xf32> {tp.sharding = [[], ["x"]]}, %b: tensor<12x8xf32> {tp.sharding = [["x"], []]})
    -> (tensor<8x8xf32> {tp.sharding = [["x"], []]}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.matmul ins(%a, %b : tensor<8x12xf32>, tensor<12x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = bufferization.alloc_tensor() copy(%p) {tp.sharding = {dims = [[], []], partial = {x = "sum"}}} : tensor<8x8xf32>
  return %q : tensor<8x8xf32>
}
