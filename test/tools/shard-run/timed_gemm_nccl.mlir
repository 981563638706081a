// TPRT_TIMED_GEMM=1 with a GPU for each rank, over NCCL: rank 0 measures, and all ranks use what it found. On GPUs that are none.
// RUN: rm -rf %t.cache && mkdir %t.cache
// RUN: env XDG_CACHE_HOME=%t.cache TPRT_TIMED_GEMM=1 TPRT_CUDA_LIBRARY=%libraries/tprt_fake_nccl.so TPRT_NCCL_LIBRARY=%libraries/tprt_fake_nccl.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so shard-run %s --mesh 2 --target=cuda --backend nccl --repeat 1 --report %t.json 2>&1 | FileCheck %s
// CHECK: verified
// RUN: FileCheck %s --check-prefix=REPORT --input-file %t.json
// REPORT: "gemm": "cuBLASLt (timed by rank 0: 1 measured, 0 from the cache, 0 not timed)"
shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}
func.func @main(%x: tensor<64x256xf32> {tp.sharding = [[], []]}, %w: tensor<256x64xf32> {tp.sharding = [[], ["tp"]]}) -> (tensor<64x64xf32> {tp.sharding = [[], ["tp"]]}) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %y = linalg.matmul ins(%x, %w : tensor<64x256xf32>, tensor<256x64xf32>) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
