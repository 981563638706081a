// Attention of a small block with its rows split, executed: gathered keys and values, and rows against heads, whichever is cheaper.
// RUN: shard-run %s --mesh sp=4 | FileCheck %s --check-prefix=GATHER
// RUN: shard-run %s --mesh sp=8 | FileCheck %s --check-prefix=BOTH
// GATHER: all_gather sp 2 
// GATHER: verified
// BOTH: all_to_all sp 1 
// BOTH: verified

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
shard.grid @mesh(shape = 8) {tp.axes = ["sp"]}
func.func @main(%x: tensor<64x64xf32> {tp.sharding = [["sp"], []]}, %wq: tensor<64x8x2x8xf32> {tp.sharding = [[], [], [], []]}, %wk: tensor<64x8x8xf32> {tp.sharding = [[], [], []]}, %wv: tensor<64x8x8xf32> {tp.sharding = [[], [], []]}, %wo: tensor<8x2x8x64xf32> {tp.sharding = [[], [], [], []]})
    -> (tensor<64x64xf32> {tp.sharding = [["sp"], []]}) {
  %zero = arith.constant 0.0 : f32
  %eq = tensor.empty() : tensor<8x2x64x8xf32>
  %ek = tensor.empty() : tensor<8x64x8xf32>
  %es = tensor.empty() : tensor<8x2x64x64xf32>
  %ey = tensor.empty() : tensor<64x64xf32>
  %q0 = linalg.fill ins(%zero : f32) outs(%eq : tensor<8x2x64x8xf32>) -> tensor<8x2x64x8xf32>
  %k0 = linalg.fill ins(%zero : f32) outs(%ek : tensor<8x64x8xf32>) -> tensor<8x64x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<8x2x64x64xf32>) -> tensor<8x2x64x64xf32>
  %y0 = linalg.fill ins(%zero : f32) outs(%ey : tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = linalg.contract indexing_maps = [#x, #wq, #q] ins(%x, %wq : tensor<64x64xf32>, tensor<64x8x2x8xf32>) outs(%q0 : tensor<8x2x64x8xf32>) -> tensor<8x2x64x8xf32>
  %k = linalg.contract indexing_maps = [#xk, #wk, #k] ins(%x, %wk : tensor<64x64xf32>, tensor<64x8x8xf32>) outs(%k0 : tensor<8x64x8xf32>) -> tensor<8x64x8xf32>
  %v = linalg.contract indexing_maps = [#xk, #wk, #k] ins(%x, %wv : tensor<64x64xf32>, tensor<64x8x8xf32>) outs(%k0 : tensor<8x64x8xf32>) -> tensor<8x64x8xf32>
  %s = linalg.contract indexing_maps = [#sq, #sk, #s] ins(%q, %k : tensor<8x2x64x8xf32>, tensor<8x64x8xf32>) outs(%s0 : tensor<8x2x64x64xf32>) -> tensor<8x2x64x64xf32>
  %scale = arith.constant dense<0.01> : tensor<8x2x64x64xf32>
  %t = arith.mulf %s, %scale : tensor<8x2x64x64xf32>
  %p = linalg.softmax dimension(3) ins(%t : tensor<8x2x64x64xf32>) outs(%es : tensor<8x2x64x64xf32>) -> tensor<8x2x64x64xf32>
  %o = linalg.contract indexing_maps = [#op, #ov, #o] ins(%p, %v : tensor<8x2x64x64xf32>, tensor<8x64x8xf32>) outs(%q0 : tensor<8x2x64x8xf32>) -> tensor<8x2x64x8xf32>
  %y = linalg.contract indexing_maps = [#yo, #yw, #y] ins(%o, %wo : tensor<8x2x64x8xf32>, tensor<8x2x8x64xf32>) outs(%y0 : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
