// What a program computes again behind a barrier is computed again: the long tensor of the first step is dead while that of the second
// one lives. Without the barrier there is one of them, which lives until the end. Uneven shards and two axes; the judge is the evaluator.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=x=2})' | FileCheck %s
// RUN: shard-run %s --mesh x=1 | FileCheck %s --check-prefix=APART
// RUN: sed 's/ins(%%again, /ins(%%x, /' %s > %t.joined.mlir
// RUN: shard-run %t.joined.mlir --mesh x=1 | FileCheck %s --check-prefix=JOINED
// RUN: shard-run %s --mesh x=3 | FileCheck %s --check-prefix=RANKS
// RUN: shard-run %s --mesh x=2,y=2 --launch processes | FileCheck %s --check-prefix=RANKS

// CHECK: bufferization.alloc_tensor() copy(%arg0) : tensor<32x8xf32>

// APART: buffers 65.0 KiB
// JOINED: buffers 129.0 KiB
// RANKS: verified
func.func @main(%x: tensor<32x8xf32>, %v: tensor<8x512xf32>, %w: tensor<512x8xf32>) -> (tensor<32x8xf32>, tensor<512x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x512xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x512xf32>) -> tensor<32x512xf32>
  %short = tensor.empty() : tensor<32x8xf32>
  %y = linalg.fill ins(%zero : f32) outs(%short : tensor<32x8xf32>) -> tensor<32x8xf32>
  %g = tensor.empty() : tensor<512x8xf32>
  %u = linalg.fill ins(%zero : f32) outs(%g : tensor<512x8xf32>) -> tensor<512x8xf32>
  %a = linalg.matmul ins(%x, %v : tensor<32x8xf32>, tensor<8x512xf32>) outs(%z : tensor<32x512xf32>) -> tensor<32x512xf32>
  %b = math.tanh %a : tensor<32x512xf32>
  %c = linalg.matmul ins(%b, %w : tensor<32x512xf32>, tensor<512x8xf32>) outs(%y : tensor<32x8xf32>) -> tensor<32x8xf32>
  %a2 = linalg.matmul ins(%c, %v : tensor<32x8xf32>, tensor<8x512xf32>) outs(%z : tensor<32x512xf32>) -> tensor<32x512xf32>
  %b2 = math.tanh %a2 : tensor<32x512xf32>
  %c2 = linalg.matmul ins(%b2, %w : tensor<32x512xf32>, tensor<512x8xf32>) outs(%y : tensor<32x8xf32>) -> tensor<32x8xf32>
  %again = bufferization.alloc_tensor() copy(%x) : tensor<32x8xf32>
  %a3 = linalg.matmul ins(%again, %v : tensor<32x8xf32>, tensor<8x512xf32>) outs(%z : tensor<32x512xf32>) -> tensor<32x512xf32>
  %b3 = math.tanh %a3 : tensor<32x512xf32>
  %d = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]
    ins(%b3, %c2 : tensor<32x512xf32>, tensor<32x8xf32>) outs(%u : tensor<512x8xf32>) -> tensor<512x8xf32>
  return %c2, %d : tensor<32x8xf32>, tensor<512x8xf32>
}
