// Partial sums flow through linear ops and are combined once: one collective for three contractions that are added.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{mesh=x=4},tp-partition)' | FileCheck %s
// RUN: shard-run %s --mesh x=4

// CHECK-COUNT-3: linalg.matmul
// CHECK: shard.all_reduce
// CHECK-NOT: shard.all_reduce
#id = affine_map<(d0, d1) -> (d0, d1)>
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<64x64xf32> {tp.sharding = [[], ["x"]]}, %b: tensor<64x64xf32> {tp.sharding = [["x"], []]}, %c: tensor<64x64xf32> {tp.sharding = [["x"], []]},
                %d: tensor<64x64xf32> {tp.sharding = [["x"], []]}) -> (tensor<64x64xf32> {tp.sharding = [[], []]}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = linalg.matmul ins(%a, %c : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%a, %d : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %q : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %v = arith.addf %x, %y : f32
    linalg.yield %v : f32
  } -> tensor<64x64xf32>
  %t = arith.addf %s, %r : tensor<64x64xf32>
  return %t : tensor<64x64xf32>
}
