// --tf32 also holds for matmuls of gathered rows, in slices, and for those in front of a fused all-reduce. On GPUs that are none.
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so FAKE_PTX=%S/../../../runtime/cuda/generated/kernels.ptx shard-run %s --strategy follow --topology %S/../Inputs/kernels.json --fuse always --target=cuda --no-graph --repeat 1 --output @%t.y.npy --output @%t.s.npy 2>&1 | FileCheck %s
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so FAKE_PTX=%S/../../../runtime/cuda/generated/kernels.ptx shard-run %s --strategy follow --topology %S/../Inputs/kernels.json --fuse always --target=cuda --no-graph --repeat 1 --tf32 --output @%t.y32.npy --output @%t.s32.npy 2>&1 | FileCheck %s
// CHECK-DAG: 'shard.all_reduce': is fused with residual
// CHECK-DAG: 'shard.all_gather': is done in slices with 1 matmul
// CHECK: verified
// RUN: not cmp %t.y.npy %t.y32.npy
// RUN: not cmp %t.s.npy %t.s32.npy
shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}
func.func @main(%x: tensor<64x256xf32> {tp.sharding = [["tp"], []]}, %w: tensor<256x128xf32> {tp.sharding = [[], ["tp"]]},
                %a: tensor<64x256xf32> {tp.sharding = [[], ["tp"]]}, %v: tensor<256x128xf32> {tp.sharding = [["tp"], []]}, %r: tensor<64x128xf32> {tp.sharding = [[], []]})
    -> (tensor<64x128xf32> {tp.sharding = [[], ["tp"]]}, tensor<64x128xf32> {tp.sharding = [[], []]}) {
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %y = linalg.matmul ins(%x, %w : tensor<64x256xf32>, tensor<256x128xf32>) outs(%zero : tensor<64x128xf32>) -> tensor<64x128xf32>
  %p = linalg.matmul ins(%a, %v : tensor<64x256xf32>, tensor<256x128xf32>) outs(%zero : tensor<64x128xf32>) -> tensor<64x128xf32>
  %s = arith.addf %p, %r : tensor<64x128xf32>
  return %y, %s : tensor<64x128xf32>, tensor<64x128xf32>
}
