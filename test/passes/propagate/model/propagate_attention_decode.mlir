// One query against keys and values that are split along their length: every device takes its part, then maxima, sums and outputs are reduced. The
// cache does not move.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-decompose,tp-propagate,tp-partition)' | FileCheck %s
// RUN: shard-run %s

// CHECK-NOT: shard.all_gather
// CHECK: shard.all_reduce {{.*}} reduction = max {{.*}} tensor<4xf32>
// CHECK: shard.all_reduce {{.*}} tensor<4xf32>
// CHECK: shard.all_reduce {{.*}} tensor<4x64xf32>
// CHECK-NOT: shard.{{all|reduce}}

#sq = affine_map<(h, t, d) -> (h, d)>
#sk = affine_map<(h, t, d) -> (h, t, d)>
#s = affine_map<(h, t, d) -> (h, t)>
#op = affine_map<(h, d, t) -> (h, t)>
#ov = affine_map<(h, d, t) -> (h, t, d)>
#o = affine_map<(h, d, t) -> (h, d)>
shard.grid @mesh(shape = 4) {tp.axes = ["sp"]}
func.func @main(%q: tensor<4x64xf32> {tp.sharding = [[], []]}, %k: tensor<4x4096x64xf32> {tp.sharding = [[], ["sp"], []]},
                %v: tensor<4x4096x64xf32> {tp.sharding = [[], ["sp"], []]}) -> (tensor<4x64xf32> {tp.sharding = [[], []]}) {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<4x4096xf32>
  %eo = tensor.empty() : tensor<4x64xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<4x4096xf32>) -> tensor<4x4096xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x64xf32>) -> tensor<4x64xf32>
  %s = linalg.contract indexing_maps = [#sq, #sk, #s] ins(%q, %k : tensor<4x64xf32>, tensor<4x4096x64xf32>) outs(%s0 : tensor<4x4096xf32>) -> tensor<4x4096xf32>
  %scale = arith.constant dense<0.125> : tensor<4x4096xf32>
  %t = arith.mulf %s, %scale : tensor<4x4096xf32>
  %p = linalg.softmax dimension(1) ins(%t : tensor<4x4096xf32>) outs(%es : tensor<4x4096xf32>) -> tensor<4x4096xf32>
  %o = linalg.contract indexing_maps = [#op, #ov, #o] ins(%p, %v : tensor<4x4096xf32>, tensor<4x4096x64xf32>) outs(%o0 : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %o : tensor<4x64xf32>
}
