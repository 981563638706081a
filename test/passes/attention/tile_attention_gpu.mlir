// For GPUs, scores are tiled only if there are more than 2^29, and then in large blocks.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-decompose,convert-elementwise-to-linalg,tp-tile-attention{fused=keep},canonicalize,cse)' | FileCheck %s

#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>

// CHECK-LABEL: func.func @untiled(
// CHECK-NOT: scf.for
// CHECK: linalg.contract {{.*}} -> tensor<32x4096x4096xbf16>
// CHECK-NOT: scf.for
// CHECK: return
func.func @untiled(%q: tensor<32x4096x64xbf16>, %k: tensor<32x4096x64xbf16>) -> tensor<32x4096x64xbf16> {
  %zero = arith.constant 0.0 : bf16
  %es = tensor.empty() : tensor<32x4096x4096xbf16>
  %eo = tensor.empty() : tensor<32x4096x64xbf16>
  %s0 = linalg.fill ins(%zero : bf16) outs(%es : tensor<32x4096x4096xbf16>) -> tensor<32x4096x4096xbf16>
  %o0 = linalg.fill ins(%zero : bf16) outs(%eo : tensor<32x4096x64xbf16>) -> tensor<32x4096x64xbf16>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<32x4096x64xbf16>, tensor<32x4096x64xbf16>) outs(%s0 : tensor<32x4096x4096xbf16>) -> tensor<32x4096x4096xbf16>
  %p = linalg.softmax dimension(2) ins(%s : tensor<32x4096x4096xbf16>) outs(%es : tensor<32x4096x4096xbf16>) -> tensor<32x4096x4096xbf16>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %k : tensor<32x4096x4096xbf16>, tensor<32x4096x64xbf16>) outs(%o0 : tensor<32x4096x64xbf16>) -> tensor<32x4096x64xbf16>
  return %o : tensor<32x4096x64xbf16>
}

// Heads are cut in front of rows, because rows share keys: of 2^30 scores 2^26 at a time.
// CHECK-LABEL: func.func @tiled(
// CHECK: scf.for
// CHECK: linalg.contract {{.*}} -> tensor<2x4096x8192xbf16>
// CHECK: return
func.func @tiled(%q: tensor<32x4096x64xbf16>, %k: tensor<32x8192x64xbf16>) -> tensor<32x4096x64xbf16> {
  %zero = arith.constant 0.0 : bf16
  %es = tensor.empty() : tensor<32x4096x8192xbf16>
  %eo = tensor.empty() : tensor<32x4096x64xbf16>
  %s0 = linalg.fill ins(%zero : bf16) outs(%es : tensor<32x4096x8192xbf16>) -> tensor<32x4096x8192xbf16>
  %o0 = linalg.fill ins(%zero : bf16) outs(%eo : tensor<32x4096x64xbf16>) -> tensor<32x4096x64xbf16>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<32x4096x64xbf16>, tensor<32x8192x64xbf16>) outs(%s0 : tensor<32x4096x8192xbf16>) -> tensor<32x4096x8192xbf16>
  %p = linalg.softmax dimension(2) ins(%s : tensor<32x4096x8192xbf16>) outs(%es : tensor<32x4096x8192xbf16>) -> tensor<32x4096x8192xbf16>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %k : tensor<32x4096x8192xbf16>, tensor<32x8192x64xbf16>) outs(%o0 : tensor<32x4096x64xbf16>) -> tensor<32x4096x64xbf16>
  return %o : tensor<32x4096x64xbf16>
}
