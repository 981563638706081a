// Partial sums that are scaled stay partial, on whichever side the factor stands: one collective for two contractions.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{mesh=x=4},tp-partition)' | FileCheck %s
// RUN: shard-run %s --mesh x=4

// CHECK-COUNT-2: linalg.matmul
// CHECK: shard.all_reduce
// CHECK-NOT: shard.all_reduce
#id = affine_map<(d0, d1) -> (d0, d1)>
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<64x64xf32> {tp.sharding = [[], ["x"]]}, %b: tensor<64x64xf32> {tp.sharding = [["x"], []]},
                %c: tensor<64x64xf32> {tp.sharding = [["x"], []]}) -> (tensor<64x64xf32> {tp.sharding = [[], []]}) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = linalg.matmul ins(%a, %c : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %q : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %u = arith.mulf %half, %x : f32
    %v = arith.mulf %y, %half : f32
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64x64xf32>
  return %s : tensor<64x64xf32>
}
