// 12 heads on 8 devices: the whole axis would leave two devices without heads; cut 4x2, every pair of devices has 3 heads and shares their rows.
// The best plan on the whole axis splits the rows, and gathers all keys and values.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-decompose,tp-propagate,tp-partition)' | FileCheck %s
// An unused argument that the axis shards unevenly keeps the axis whole: then the plan costs more,
// by at least a twentieth.
// RUN: sed 's/@main(/&%u: tensor<9xi8> {tp.sharding = [["tp"]]}, /' %s > %t.whole
// RUN: shard-opt %t.whole --pass-pipeline='builtin.module(tp-decompose,tp-propagate)' -o %t.whole.mlir
// RUN: FileCheck %s --check-prefix=WHOLE --input-file=%t.whole.mlir
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-decompose,tp-propagate)' -o %t.parts.mlir
// RUN: %python -B %S/../../Inputs/relations.py parts=%t.parts.mlir whole=%t.whole.mlir -- \
// RUN:   'parts.cost_ps == parts.bound_ps' 'whole.cost_ps == whole.bound_ps' '1.05 * parts.cost_ps < whole.cost_ps'
// WHOLE-NOT: @mesh.sub
// WHOLE: linalg.contract
// RUN: shard-run %s --mesh tp=8

// CHECK: shard.grid @mesh.sub(shape = 4x2) {tp.axes = ["tp:(1)4", "tp:(4)2"], tp.of = @mesh}
// CHECK: linalg.contract {{.*}} -> tensor<3x64x8xf32>
// CHECK: shard.all_to_all {{.*}} grid_axes = [1] {{.*}} -> tensor<3x32x16xf32>
// CHECK: shard.all_gather {{.*}} grid_axes = [1] {{.*}} -> tensor<3x64x16xf32>
// CHECK: shard.all_gather {{.*}} grid_axes = [1] {{.*}} -> tensor<3x64x16xf32>
// Then heads and their features go for rows in one exchange, and the output is computed by rows.
// CHECK: shard.all_to_all {{.*}} grid_axes = [0] {{.*}} -> tensor<8x3x8x8xf32>
// CHECK: shard.all_gather {{.*}} grid_axes = [0] {{.*}} -> tensor<64x192xf32>

#xw = affine_map<(s, h, d, m) -> (s, m)>
#w = affine_map<(s, h, d, m) -> (m, h, d)>
#q = affine_map<(s, h, d, m) -> (h, s, d)>
#o = affine_map<(s, m, h, d) -> (h, s, d)>
#wo = affine_map<(s, m, h, d) -> (h, d, m)>
#y = affine_map<(s, m, h, d) -> (s, m)>
#kt = affine_map<(h, s, t, d) -> (h, s, d)>
#k = affine_map<(h, s, t, d) -> (h, t, d)>
#st = affine_map<(h, s, t, d) -> (h, s, t)>
#pv = affine_map<(h, s, d, t) -> (h, s, t)>
#v = affine_map<(h, s, d, t) -> (h, t, d)>
#os = affine_map<(h, s, d, t) -> (h, s, d)>
shard.grid @mesh(shape = 8) {tp.axes = ["tp"]}
func.func @main(%x: tensor<64x192xf32> {tp.sharding = [[], []]}, %wq: tensor<192x12x16xf32>, %wk: tensor<192x12x16xf32>,
                %wv: tensor<192x12x16xf32>, %wo: tensor<12x16x192xf32>) -> (tensor<64x192xf32> {tp.sharding = [[], []]}) {
  %zero = arith.constant 0.0 : f32
  %heads = tensor.empty() : tensor<12x64x16xf32>
  %scores = tensor.empty() : tensor<12x64x64xf32>
  %rows = tensor.empty() : tensor<64x192xf32>
  %h0 = linalg.fill ins(%zero : f32) outs(%heads : tensor<12x64x16xf32>) -> tensor<12x64x16xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%scores : tensor<12x64x64xf32>) -> tensor<12x64x64xf32>
  %y0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<64x192xf32>) -> tensor<64x192xf32>
  %q = linalg.contract indexing_maps = [#xw, #w, #q] ins(%x, %wq : tensor<64x192xf32>, tensor<192x12x16xf32>) outs(%h0 : tensor<12x64x16xf32>) -> tensor<12x64x16xf32>
  %k = linalg.contract indexing_maps = [#xw, #w, #q] ins(%x, %wk : tensor<64x192xf32>, tensor<192x12x16xf32>) outs(%h0 : tensor<12x64x16xf32>) -> tensor<12x64x16xf32>
  %v = linalg.contract indexing_maps = [#xw, #w, #q] ins(%x, %wv : tensor<64x192xf32>, tensor<192x12x16xf32>) outs(%h0 : tensor<12x64x16xf32>) -> tensor<12x64x16xf32>
  %s = linalg.contract indexing_maps = [#kt, #k, #st] ins(%q, %k : tensor<12x64x16xf32>, tensor<12x64x16xf32>) outs(%s0 : tensor<12x64x64xf32>) -> tensor<12x64x64xf32>
  %scale = arith.constant dense<0.005> : tensor<12x64x64xf32>
  %t = arith.mulf %s, %scale : tensor<12x64x64xf32>
  %p = linalg.softmax dimension(2) ins(%t : tensor<12x64x64xf32>) outs(%scores : tensor<12x64x64xf32>) -> tensor<12x64x64xf32>
  %o = linalg.contract indexing_maps = [#pv, #v, #os] ins(%p, %v : tensor<12x64x64xf32>, tensor<12x64x16xf32>) outs(%h0 : tensor<12x64x16xf32>) -> tensor<12x64x16xf32>
  %y = linalg.contract indexing_maps = [#o, #wo, #y] ins(%o, %wo : tensor<12x64x16xf32>, tensor<12x16x192xf32>) outs(%y0 : tensor<64x192xf32>) -> tensor<64x192xf32>
  return %y : tensor<64x192xf32>
}
