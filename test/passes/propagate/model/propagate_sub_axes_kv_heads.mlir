// Grouped queries, 8 key/value heads on 16 devices: the axis is cut 8x2, each head of keys and values belongs to two devices, which share its 4
// rows. No reshape asks for it: the weights are three-dimensional.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-decompose,tp-propagate,tp-partition)' | FileCheck %s
// An unused argument that the axis shards unevenly keeps the axis whole: then the plan costs at
// least one and a half times as much.
// RUN: sed 's/@main(/&%u: tensor<17xi8> {tp.sharding = [["tp"]]}, /' %s > %t.whole
// RUN: shard-opt %t.whole --pass-pipeline='builtin.module(tp-decompose,tp-propagate)' -o %t.whole.mlir
// RUN: FileCheck %s --check-prefix=WHOLE --input-file=%t.whole.mlir
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-decompose,tp-propagate)' -o %t.parts.mlir
// RUN: %python -B %S/../../Inputs/relations.py parts=%t.parts.mlir whole=%t.whole.mlir -- \
// RUN:   'parts.cost_ps == parts.bound_ps' 'whole.cost_ps == whole.bound_ps' '1.5 * parts.cost_ps < whole.cost_ps'
// WHOLE-NOT: @mesh.sub
// WHOLE: linalg.contract
// RUN: shard-run %s --mesh tp=16

// CHECK: shard.grid @mesh.sub(shape = 8x2) {tp.axes = ["tp:(1)8", "tp:(8)2"], tp.of = @mesh}
// CHECK: shard.all_gather {{.*}} grid_axes = [1] {{.*}} -> tensor<1x30x12xf32>
// CHECK: shard.all_gather {{.*}} grid_axes = [1] {{.*}} -> tensor<1x30x12xf32>
// CHECK: shard.all_reduce {{.*}} grid_axes = [0] : tensor<15x96xf32>

#x = affine_map<(s, h, g, d, m) -> (s, m)>
#wq = affine_map<(s, h, g, d, m) -> (m, h, g, d)>
#q = affine_map<(s, h, g, d, m) -> (h, g, s, d)>
#xk = affine_map<(s, h, d, m) -> (s, m)>
#wk = affine_map<(s, h, d, m) -> (m, h, d)>
#k = affine_map<(s, h, d, m) -> (h, s, d)>
#sq = affine_map<(h, g, s, t, d) -> (h, g, s, d)>
#sk = affine_map<(h, g, s, t, d) -> (h, t, d)>
#s = affine_map<(h, g, s, t, d) -> (h, g, s, t)>
#op = affine_map<(h, g, s, d, t) -> (h, g, s, t)>
#ov = affine_map<(h, g, s, d, t) -> (h, t, d)>
#o = affine_map<(h, g, s, d, t) -> (h, g, s, d)>
#yo = affine_map<(s, m, h, g, d) -> (h, g, s, d)>
#yw = affine_map<(s, m, h, g, d) -> (h, g, d, m)>
#y = affine_map<(s, m, h, g, d) -> (s, m)>
shard.grid @mesh(shape = 16) {tp.axes = ["tp"]}
func.func @main(%x: tensor<30x96xf32> {tp.sharding = [[], []]}, %wq: tensor<96x8x4x12xf32>, %wk: tensor<96x8x12xf32>, %wv: tensor<96x8x12xf32>,
                %wo: tensor<8x4x12x96xf32>) -> (tensor<30x96xf32> {tp.sharding = [[], []]}) {
  %zero = arith.constant 0.0 : f32
  %eq = tensor.empty() : tensor<8x4x30x12xf32>
  %ek = tensor.empty() : tensor<8x30x12xf32>
  %es = tensor.empty() : tensor<8x4x30x30xf32>
  %ey = tensor.empty() : tensor<30x96xf32>
  %q0 = linalg.fill ins(%zero : f32) outs(%eq : tensor<8x4x30x12xf32>) -> tensor<8x4x30x12xf32>
  %k0 = linalg.fill ins(%zero : f32) outs(%ek : tensor<8x30x12xf32>) -> tensor<8x30x12xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<8x4x30x30xf32>) -> tensor<8x4x30x30xf32>
  %y0 = linalg.fill ins(%zero : f32) outs(%ey : tensor<30x96xf32>) -> tensor<30x96xf32>
  %q = linalg.contract indexing_maps = [#x, #wq, #q] ins(%x, %wq : tensor<30x96xf32>, tensor<96x8x4x12xf32>) outs(%q0 : tensor<8x4x30x12xf32>) -> tensor<8x4x30x12xf32>
  %k = linalg.contract indexing_maps = [#xk, #wk, #k] ins(%x, %wk : tensor<30x96xf32>, tensor<96x8x12xf32>) outs(%k0 : tensor<8x30x12xf32>) -> tensor<8x30x12xf32>
  %v = linalg.contract indexing_maps = [#xk, #wk, #k] ins(%x, %wv : tensor<30x96xf32>, tensor<96x8x12xf32>) outs(%k0 : tensor<8x30x12xf32>) -> tensor<8x30x12xf32>
  %s = linalg.contract indexing_maps = [#sq, #sk, #s] ins(%q, %k : tensor<8x4x30x12xf32>, tensor<8x30x12xf32>) outs(%s0 : tensor<8x4x30x30xf32>) -> tensor<8x4x30x30xf32>
  %scale = arith.constant dense<0.01> : tensor<8x4x30x30xf32>
  %t = arith.mulf %s, %scale : tensor<8x4x30x30xf32>
  %p = linalg.softmax dimension(3) ins(%t : tensor<8x4x30x30xf32>) outs(%es : tensor<8x4x30x30xf32>) -> tensor<8x4x30x30xf32>
  %o = linalg.contract indexing_maps = [#op, #ov, #o] ins(%p, %v : tensor<8x4x30x30xf32>, tensor<8x30x12xf32>) outs(%q0 : tensor<8x4x30x12xf32>) -> tensor<8x4x30x12xf32>
  %y = linalg.contract indexing_maps = [#yo, #yw, #y] ins(%o, %wo : tensor<8x4x30x12xf32>, tensor<8x4x12x96xf32>) outs(%y0 : tensor<30x96xf32>) -> tensor<30x96xf32>
  return %y : tensor<30x96xf32>
}
