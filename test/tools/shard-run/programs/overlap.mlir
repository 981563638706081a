// A collective runs beside products that do not need it, in a thread of its own or with the thread that waits; results are those of one rank.
// RUN: env TPRT_PROGRESS=0 TPRT_TRACE=%t.0 shard-run %s --strategy=follow --topology=%S/../../../models/Inputs/slow.json --overlap=run --repeat=3 | FileCheck %s
// RUN: %python -B %S/../../Inputs/overlap_trace.py %t.0 2 | FileCheck %s --check-prefix=BESIDE
// RUN: env TPRT_PROGRESS=1 TPRT_TRACE=%t.1 shard-run %s --strategy=follow --topology=%S/../../../models/Inputs/slow.json --overlap=run --repeat=3 | FileCheck %s
// RUN: %python -B %S/../../Inputs/overlap_trace.py %t.1 2 | FileCheck %s --check-prefix=BESIDE
// RUN: env TPRT_PROGRESS=1 TPRT_TRACE=%t.p shard-run %s --launch=processes --strategy=follow --topology=%S/../../../models/Inputs/slow.json --overlap=plan --repeat=3 | FileCheck %s
// RUN: %python -B %S/../../Inputs/overlap_trace.py %t.p 2 | FileCheck %s --check-prefix=BESIDE
// RUN: env TPRT_TRACE=%t.n shard-run %s --strategy=follow --topology=%S/../../../models/Inputs/slow.json --repeat=3 | FileCheck %s
// RUN: %python -B %S/../../Inputs/overlap_trace.py %t.n 2 | FileCheck %s --check-prefix=APART
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so FAKE_ORDER=0011 TPRT_TRACE=%t.g shard-run %s --target=cuda --no-graph --strategy=follow --topology=%S/../../../models/Inputs/slow.json --overlap=run --repeat=3 | FileCheck %s
// RUN: %python -B %S/../../Inputs/overlap_trace.py %t.g 2 | FileCheck %s --check-prefix=BESIDE
// RUN: not shard-run %s --overlap=maybe 2>&1 | FileCheck %s --check-prefix=USAGE
// CHECK: all_reduce tp 1
// CHECK: verified
// Four executions of four calls that are not split: each begins with the product whose sum is reduced, and does two more meanwhile.
// BESIDE: rank 0: 20 calls, 4 collectives started, 8 products beside them
// BESIDE: rank 1: 20 calls, 4 collectives started, 8 products beside them
// APART: rank 0: 16 calls, 0 collectives started, 0 products beside them
// USAGE: --overlap takes no, run or plan, not 'maybe'
shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}
func.func @main(%x: tensor<64x128xf32> {tp.sharding = [[], ["tp"]]}, %w: tensor<128x64xf32> {tp.sharding = [["tp"], []]}, %u: tensor<64x64xf32> {tp.sharding=[[],[]]}) -> (tensor<64x64xf32> {tp.sharding = [[],[]]}, tensor<64x64xf32> {tp.sharding = [[],[]]}) {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = linalg.matmul ins(%x, %w : tensor<64x128xf32>, tensor<128x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = linalg.matmul ins(%u, %u : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = linalg.matmul ins(%b, %u : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.exp ins(%a : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r, %d : tensor<64x64xf32>, tensor<64x64xf32>
}
