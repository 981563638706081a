// Factors of f16, bf16 and f8 with a result of f32: a GPU multiplies them as they are. For CPUs they are widened.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-optimize-local{fused=keep})' | FileCheck %s --check-prefix=GPU
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-optimize-local)' | FileCheck %s --check-prefix=CPU
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-to-cuda)' | FileCheck %s --check-prefix=CUDA

// The types of A and B stand in the table, f8E4M3FN 16 and f8E5M2 17. The transpose is a stride.
// GPU-LABEL: func.func @f8
// GPU-NOT: extf
// GPU: linalg.contract {{.*}} ins(%arg0, %arg1 : tensor<32x64xf8E4M3FN>, tensor<48x64xf8E5M2>)
// CPU-LABEL: func.func @f8
// CPU: arith.extf {{.*}} : f8E4M3FN to f32
// CPU: arith.extf {{.*}} : f8E5M2 to f32
// CPU: linalg.contract {{.*}} : tensor<32x64xf32>, tensor<48x64xf32>)
// CUDA: @f8.tprt(dense<[{{.*}}, 1, 16, 17, 56, 13, 3, 32, 64, 0, 48, 48, 0, 64, 1, 64, 1, 1, 0]>
func.func @f8(%a: tensor<32x64xf8E4M3FN>, %b: tensor<48x64xf8E5M2>) -> tensor<32x48xf32> {
  %zero = arith.constant 0.0 : f32
  %o = tensor.empty() : tensor<32x48xf32>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<32x48xf32>) -> tensor<32x48xf32>
  %e = tensor.empty() : tensor<64x48xf8E5M2>
  %t = linalg.transpose ins(%b : tensor<48x64xf8E5M2>) outs(%e : tensor<64x48xf8E5M2>) permutation = [1, 0]
  %p = linalg.matmul ins(%a, %t : tensor<32x64xf8E4M3FN>, tensor<64x48xf8E5M2>) outs(%z : tensor<32x48xf32>) -> tensor<32x48xf32>
  return %p : tensor<32x48xf32>
}

// -----

// Terms of f8 become contiguous: tensor cores multiply nothing else. Those of bf16 stay.
// GPU-LABEL: func.func @turned
// GPU: %[[T:.*]] = linalg.transpose ins(%arg1 : tensor<64x48xf8E4M3FN>) {{.*}} permutation = [1, 0]
// GPU: linalg.contract {{.*}} ins(%arg0, %[[T]] : tensor<32x64xf8E4M3FN>, tensor<48x64xf8E4M3FN>)
// GPU: linalg.contract {{.*}} ins(%arg2, %arg3 : tensor<32x64xbf16>, tensor<64x48xbf16>)
// CUDA-LABEL: llvm.func @turned
// CUDA-COUNT-2: llvm.call @tprt_abi_contract
func.func @turned(%a: tensor<32x64xf8E4M3FN>, %b: tensor<64x48xf8E4M3FN>, %c: tensor<32x64xbf16>, %d: tensor<64x48xbf16>) -> (tensor<32x48xf32>, tensor<32x48xf32>) {
  %zero = arith.constant 0.0 : f32
  %o = tensor.empty() : tensor<32x48xf32>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<32x48xf32>) -> tensor<32x48xf32>
  %p = linalg.matmul ins(%a, %b : tensor<32x64xf8E4M3FN>, tensor<64x48xf8E4M3FN>) outs(%z : tensor<32x48xf32>) -> tensor<32x48xf32>
  %q = linalg.matmul ins(%c, %d : tensor<32x64xbf16>, tensor<64x48xbf16>) outs(%z : tensor<32x48xf32>) -> tensor<32x48xf32>
  return %p, %q : tensor<32x48xf32>, tensor<32x48xf32>
}

// -----

// Factors of two types, and rows that a program has widened and scaled, are multiplied in f32.
// GPU-LABEL: func.func @widened
// GPU-COUNT-2: linalg.contract {{.*}} : tensor<32x64xf32>, tensor<64x48xf32>)
func.func @widened(%a: tensor<32x64xf8E4M3FN>, %s: tensor<32x64xf32>, %b: tensor<64x48xf32>) -> (tensor<32x48xf32>, tensor<32x48xf32>) {
  %zero = arith.constant 0.0 : f32
  %o = tensor.empty() : tensor<32x48xf32>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<32x48xf32>) -> tensor<32x48xf32>
  %p = linalg.matmul ins(%a, %b : tensor<32x64xf8E4M3FN>, tensor<64x48xf32>) outs(%z : tensor<32x48xf32>) -> tensor<32x48xf32>
  %w = arith.extf %a : tensor<32x64xf8E4M3FN> to tensor<32x64xf32>
  %x = arith.mulf %w, %s : tensor<32x64xf32>
  %q = linalg.matmul ins(%x, %b : tensor<32x64xf32>, tensor<64x48xf32>) outs(%z : tensor<32x48xf32>) -> tensor<32x48xf32>
  return %p, %q : tensor<32x48xf32>, tensor<32x48xf32>
}

// -----

// Results that are narrower than f32: sums in f32, rounded once behind the matmul.
// GPU-LABEL: func.func @rounded
// GPU: %[[P:.*]] = linalg.contract {{.*}} ins(%arg0, %arg1 : tensor<32x64xf8E4M3FN>, tensor<48x64xf8E4M3FN>) {{.*}} -> tensor<32x48xf32>
// GPU: arith.truncf {{.*}} : f32 to bf16
// GPU: linalg.contract {{.*}} -> tensor<32x48xf32>
// GPU: arith.truncf {{.*}} : f32 to f8E4M3FN
// CPU-LABEL: func.func @rounded
// CPU: linalg.contract {{.*}} : tensor<32x64xf32>, tensor<48x64xf32>)
func.func @rounded(%a: tensor<32x64xf8E4M3FN>, %b: tensor<48x64xf8E4M3FN>, %i: tensor<32x48xf8E4M3FN>) -> (tensor<32x48xbf16>, tensor<32x48xf8E4M3FN>) {
  %zero = arith.constant 0.0 : bf16
  %o = tensor.empty() : tensor<32x48xbf16>
  %z = linalg.fill ins(%zero : bf16) outs(%o : tensor<32x48xbf16>) -> tensor<32x48xbf16>
  %e = tensor.empty() : tensor<64x48xf8E4M3FN>
  %t = linalg.transpose ins(%b : tensor<48x64xf8E4M3FN>) outs(%e : tensor<64x48xf8E4M3FN>) permutation = [1, 0]
  %p = linalg.matmul ins(%a, %t : tensor<32x64xf8E4M3FN>, tensor<64x48xf8E4M3FN>) outs(%z : tensor<32x48xbf16>) -> tensor<32x48xbf16>
  %q = linalg.matmul ins(%a, %t : tensor<32x64xf8E4M3FN>, tensor<64x48xf8E4M3FN>) outs(%i : tensor<32x48xf8E4M3FN>) -> tensor<32x48xf8E4M3FN>
  return %p, %q : tensor<32x48xbf16>, tensor<32x48xf8E4M3FN>
}
