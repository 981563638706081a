// Products with bias, relu and gelu on 2 x 2 GPUs that are none, against one processor: by a cuBLASLt that multiplies on the host, or by the kernel where
// a product is tiny. A bias behind a sum over devices is added once, behind the sum. Two products of the same rows are one call.
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so FAKE_LATE=2 shard-run %s --strategy follow --fuse no --target=cuda --no-graph --repeat 2 2>&1 | FileCheck %s
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so "FAKE_ORDER=?" shard-run %s --strategy follow --fuse no --target=cuda 2>&1 | FileCheck %s --check-prefixes=CHECK,GRAPH
// RUN: shard-run %s --strategy follow 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: shard-run %s --strategy follow --fuse no --target=cuda --emit llvm -o %t.ll 2>&1
// RUN: FileCheck %s --check-prefix=CALLS < %t.ll
// CHECK: 'linalg.generic': is fused with bias, relu
// CHECK: 'linalg.matmul': is fused with bias, gelu
// CHECK: 'linalg.generic': is fused with bias
// CHECK: 'linalg.matmul': is fused with relu
// CHECK-NOT: is one call
// GRAPH: graph: each call is one graph launch
// CHECK-COUNT-5: against one device   ok
// CHECK: verified
// HOST-NOT: is one call
// HOST: verified
// CALLS-COUNT-3: call i32 @tprt_abi_fused(
// CALLS-NOT: call i32 @tprt_abi_fused(
shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<2x16x32xf32> {tp.sharding = [["dp"], [], []]}, %w: tensor<48x32xf32> {tp.sharding = [["tp"], []]}, %b: tensor<48xf32> {tp.sharding = [["tp"]]},
                %u: tensor<16x32xbf16> {tp.sharding = [["dp"], []]}, %v: tensor<32x16xbf16> {tp.sharding = [[], ["tp"]]}, %c: tensor<16xbf16> {tp.sharding = [["tp"]]},
                %h: tensor<32x4x6xf32> {tp.sharding = [[], ["tp"], []]}, %d: tensor<4x6xf32> {tp.sharding = [["tp"], []]},
                %s: tensor<8x6xf32> {tp.sharding = [["dp"], []]}, %t: tensor<6x10xf32> {tp.sharding = [[], ["tp"]]},
                %k: tensor<16x32xf32> {tp.sharding = [["dp"], ["tp"]]}, %l: tensor<32x16xf32> {tp.sharding = [["tp"], []]}, %m: tensor<16xf32>)
    -> (tensor<2x16x48xf32> {tp.sharding = [["dp"], [], ["tp"]]}, tensor<16x16xbf16> {tp.sharding = [["dp"], ["tp"]]}, tensor<2x16x4x6xf32> {tp.sharding = [["dp"], [], ["tp"], []]},
        tensor<8x10xf32> {tp.sharding = [["dp"], ["tp"]]}, tensor<16x16xf32> {tp.sharding = [["dp"], []]}) {
  %zero = arith.constant 0.0 : f32
  // bias, relu; the matrix is stored the other way round
  %z0 = arith.constant dense<0.0> : tensor<2x16x48xf32>
  %p0 = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<2x16x32xf32>, tensor<48x32xf32>) outs(%z0 : tensor<2x16x48xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32):
    %0 = arith.mulf %a0, %a1 : f32
    %1 = arith.addf %a2, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x16x48xf32>
  %e0 = tensor.empty() : tensor<2x16x48xf32>
  %y0 = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%p0, %b : tensor<2x16x48xf32>, tensor<48xf32>) outs(%e0 : tensor<2x16x48xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32):
    %0 = arith.addf %a0, %a1 : f32
    %1 = arith.maxnumf %0, %zero fastmath<nnan> : f32
    linalg.yield %1 : f32
  } -> tensor<2x16x48xf32>
  // bias, gelu, from bf16 to bf16 by way of f32
  %z1 = arith.constant dense<0.0> : tensor<16x16xf32>
  %p1 = linalg.matmul ins(%u, %v : tensor<16x32xbf16>, tensor<32x16xbf16>) outs(%z1 : tensor<16x16xf32>) -> tensor<16x16xf32>
  %e1 = tensor.empty() : tensor<16x16xbf16>
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.797884583 : f32
  %cube = arith.constant 0.044715 : f32
  %y1 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
    ins(%p1, %c : tensor<16x16xf32>, tensor<16xbf16>) outs(%e1 : tensor<16x16xbf16>) {
  ^bb0(%a0: f32, %a1: bf16, %a2: bf16):
    %a3 = arith.extf %a1 : bf16 to f32
    %0 = arith.addf %a0, %a3 : f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.mulf %1, %0 : f32
    %3 = arith.mulf %2, %cube : f32
    %4 = arith.addf %0, %3 : f32
    %5 = arith.mulf %4, %root : f32
    %6 = math.tanh %5 : f32
    %7 = arith.addf %6, %one : f32
    %8 = arith.mulf %0, %half : f32
    %9 = arith.mulf %8, %7 : f32
    %10 = arith.truncf %9 : f32 to bf16
    linalg.yield %10 : bf16
  } -> tensor<16x16xbf16>
  // the bias of several heads
  %z2 = arith.constant dense<0.0> : tensor<2x16x4x6xf32>
  %p2 = linalg.generic {indexing_maps = [affine_map<(b, t, h, d, k) -> (b, t, k)>, affine_map<(b, t, h, d, k) -> (k, h, d)>, affine_map<(b, t, h, d, k) -> (b, t, h, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%x, %h : tensor<2x16x32xf32>, tensor<32x4x6xf32>) outs(%z2 : tensor<2x16x4x6xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32):
    %0 = arith.mulf %a0, %a1 : f32
    %1 = arith.addf %a2, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x16x4x6xf32>
  %e2 = tensor.empty() : tensor<2x16x4x6xf32>
  %y2 = linalg.generic {indexing_maps = [affine_map<(b, t, h, d) -> (b, t, h, d)>, affine_map<(b, t, h, d) -> (h, d)>, affine_map<(b, t, h, d) -> (b, t, h, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%p2, %d : tensor<2x16x4x6xf32>, tensor<4x6xf32>) outs(%e2 : tensor<2x16x4x6xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32):
    %0 = arith.addf %a0, %a1 : f32
    linalg.yield %0 : f32
  } -> tensor<2x16x4x6xf32>
  // tiny
  %z3 = arith.constant dense<0.0> : tensor<8x10xf32>
  %p3 = linalg.matmul ins(%s, %t : tensor<8x6xf32>, tensor<6x10xf32>) outs(%z3 : tensor<8x10xf32>) -> tensor<8x10xf32>
  %y3 = arith.maxnumf %p3, %z3 fastmath<nnan> : tensor<8x10xf32>
  // summed over devices, then the bias
  %p4 = linalg.matmul ins(%k, %l : tensor<16x32xf32>, tensor<32x16xf32>) outs(%z1 : tensor<16x16xf32>) -> tensor<16x16xf32>
  %e4 = tensor.empty() : tensor<16x16xf32>
  %b4 = linalg.broadcast ins(%m : tensor<16xf32>) outs(%e4 : tensor<16x16xf32>) dimensions = [0]
  %y4 = arith.addf %p4, %b4 : tensor<16x16xf32>
  return %y0, %y1, %y2, %y3, %y4 : tensor<2x16x48xf32>, tensor<16x16xbf16>, tensor<2x16x4x6xf32>, tensor<8x10xf32>, tensor<16x16xf32>
}
