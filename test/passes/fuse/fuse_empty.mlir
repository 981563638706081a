// Sums and gathers of no rows, which have no buffers. On processors, and on GPUs that are none.
// RUN: shard-run %s --strategy follow --topology %S/../Inputs/kernels.json --fuse always 2>&1 | FileCheck %s
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so shard-run %s --strategy follow --topology %S/../Inputs/kernels.json --fuse always --target=cuda 2>&1 | FileCheck %s
// CHECK: 'shard.reduce_scatter': its matmul is not computed in slices: it has no elements, or its contracted dimension has size 0
// CHECK: 'shard.reduce_scatter': is fused, 0 rows of 16
// CHECK: verified
shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @main(%x: tensor<0x32xf32> {tp.sharding = [[], ["tp"]]}, %w: tensor<32x16xf32> {tp.sharding = [["tp"], []]}, %v: tensor<0x16xf32> {tp.sharding = [["tp"], []]}, %u: tensor<16x32xf32>) -> (tensor<0x16xf32> {tp.sharding = [["tp"], []]}, tensor<0x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<0x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<0x16xf32>) -> tensor<0x16xf32>
  %y = linalg.matmul ins(%x, %w : tensor<0x32xf32>, tensor<32x16xf32>) outs(%f : tensor<0x16xf32>) -> tensor<0x16xf32>
  %e1 = tensor.empty() : tensor<0x32xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<0x32xf32>) -> tensor<0x32xf32>
  %y1 = linalg.matmul ins(%v, %u : tensor<0x16xf32>, tensor<16x32xf32>) outs(%f1 : tensor<0x32xf32>) -> tensor<0x32xf32>
  return %y, %y1 : tensor<0x16xf32>, tensor<0x32xf32>
}
