// Long context: 131072 rows, split over the devices before and behind the block; 32 heads, 8 of keys and values; weights whole. Gathered keys and
// values are 256 MiB each, so 384 MiB are sent by each of 4 devices; rows against heads in four all_to_alls are 2560 MiB over all devices,
// so 280 MiB by each of 8. Bytes are equal at 5 devices.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-decompose,tp-propagate{mesh=sp=4},tp-partition)' | FileCheck %s --check-prefix=GATHER
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-decompose,tp-propagate{mesh=sp=8},tp-partition)' | FileCheck %s --check-prefix=HEADS
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-decompose,tp-propagate{mesh=sp=16},tp-partition)' | FileCheck %s --check-prefix=PARTS

// Scores are 128 GiB on each of 8 devices, and no memory: they are made in blocks. What is added up from block to block is, in f32.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-decompose,tp-propagate{mesh=sp=8 memory-limit=1GiB})' | FileCheck %s --check-prefix=FITS
// In MiB: x, queries and the result 128 each; sums in f32 256; wq, wo, keys and values 32 each;
// what attention makes, 128, is converted from the sums when no queries are read any more; wk and wv 8 each; maxima and sums of 131072 rows of four heads 1 each; and
// three blocks of 65536 scores, 1/8 each. All but the sums in f32 are bf16.
// FITS: peak_memory = 824311808

// GATHER-NOT: shard.all_to_all
// GATHER-COUNT-2: shard.all_gather {{.*}} -> tensor<8x131072x128xbf16>
// GATHER-NOT: shard.{{all|reduce}}

// HEADS-NOT: shard.all_gather
// HEADS: shard.all_to_all {{.*}} -> tensor<1x4x131072x128xbf16>
// HEADS-COUNT-2: shard.all_to_all {{.*}} -> tensor<1x131072x128xbf16>
// HEADS: shard.all_to_all {{.*}} -> tensor<8x4x16384x128xbf16>
// HEADS-NOT: shard.{{all|reduce}}

// On 16 a head of keys and values belongs to two devices, with two of its four heads of queries each.
// PARTS: shard.grid @mesh.sub(shape = 8x2)
// PARTS: -> tensor<1x2x131072x128xbf16>
// PARTS: shard.all_gather {{.*}} grid_axes = [1] {{.*}} -> tensor<1x131072x128xbf16>

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
func.func @main(%x: tensor<131072x4096xbf16> {tp.sharding = [["sp"], []]}, %wq: tensor<4096x8x4x128xbf16> {tp.sharding = [[], [], [], []]}, %wk: tensor<4096x8x128xbf16> {tp.sharding = [[], [], []]}, %wv: tensor<4096x8x128xbf16> {tp.sharding = [[], [], []]}, %wo: tensor<8x4x128x4096xbf16> {tp.sharding = [[], [], [], []]})
    -> (tensor<131072x4096xbf16> {tp.sharding = [["sp"], []]}) {
  %zero = arith.constant 0.0 : bf16
  %eq = tensor.empty() : tensor<8x4x131072x128xbf16>
  %ek = tensor.empty() : tensor<8x131072x128xbf16>
  %es = tensor.empty() : tensor<8x4x131072x131072xbf16>
  %ey = tensor.empty() : tensor<131072x4096xbf16>
  %q0 = linalg.fill ins(%zero : bf16) outs(%eq : tensor<8x4x131072x128xbf16>) -> tensor<8x4x131072x128xbf16>
  %k0 = linalg.fill ins(%zero : bf16) outs(%ek : tensor<8x131072x128xbf16>) -> tensor<8x131072x128xbf16>
  %s0 = linalg.fill ins(%zero : bf16) outs(%es : tensor<8x4x131072x131072xbf16>) -> tensor<8x4x131072x131072xbf16>
  %y0 = linalg.fill ins(%zero : bf16) outs(%ey : tensor<131072x4096xbf16>) -> tensor<131072x4096xbf16>
  %q = linalg.contract indexing_maps = [#x, #wq, #q] ins(%x, %wq : tensor<131072x4096xbf16>, tensor<4096x8x4x128xbf16>) outs(%q0 : tensor<8x4x131072x128xbf16>) -> tensor<8x4x131072x128xbf16>
  %k = linalg.contract indexing_maps = [#xk, #wk, #k] ins(%x, %wk : tensor<131072x4096xbf16>, tensor<4096x8x128xbf16>) outs(%k0 : tensor<8x131072x128xbf16>) -> tensor<8x131072x128xbf16>
  %v = linalg.contract indexing_maps = [#xk, #wk, #k] ins(%x, %wv : tensor<131072x4096xbf16>, tensor<4096x8x128xbf16>) outs(%k0 : tensor<8x131072x128xbf16>) -> tensor<8x131072x128xbf16>
  %s = linalg.contract indexing_maps = [#sq, #sk, #s] ins(%q, %k : tensor<8x4x131072x128xbf16>, tensor<8x131072x128xbf16>) outs(%s0 : tensor<8x4x131072x131072xbf16>) -> tensor<8x4x131072x131072xbf16>
  %scale = arith.constant dense<0.0883789> : tensor<8x4x131072x131072xbf16>
  %t = arith.mulf %s, %scale : tensor<8x4x131072x131072xbf16>
  %p = linalg.softmax dimension(3) ins(%t : tensor<8x4x131072x131072xbf16>) outs(%es : tensor<8x4x131072x131072xbf16>) -> tensor<8x4x131072x131072xbf16>
  %o = linalg.contract indexing_maps = [#op, #ov, #o] ins(%p, %v : tensor<8x4x131072x131072xbf16>, tensor<8x131072x128xbf16>) outs(%q0 : tensor<8x4x131072x128xbf16>) -> tensor<8x4x131072x128xbf16>
  %y = linalg.contract indexing_maps = [#yo, #yw, #y] ins(%o, %wo : tensor<8x4x131072x128xbf16>, tensor<8x4x128x4096xbf16>) outs(%y0 : tensor<131072x4096xbf16>) -> tensor<131072x4096xbf16>
  return %y : tensor<131072x4096xbf16>
}
