// Rows that are gathered and multiplied, on four ranks against one: products of two types, matrices stored both ways, rows that something else reads, too, and
// rows that are reshaped before. On processors, and on GPUs that are none.
// RUN: shard-run %s --strategy follow --topology %S/../Inputs/kernels.json --fuse always 2>&1 | FileCheck %s
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so FAKE_PTX=%S/../../../runtime/cuda/generated/kernels.ptx FAKE_LATE=2 shard-run %s --strategy follow --topology %S/../Inputs/kernels.json --fuse always --target=cuda --no-graph --repeat 2 2>&1 | FileCheck %s
// CHECK: 'shard.all_gather': is done in slices with 3 matmuls: 8 rows of 16
// CHECK: 'shard.all_gather': is done in slices with 1 matmul: 16 rows of 8
// CHECK: verified
shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @main(%x: tensor<1x8x16xf32> {tp.sharding = [[], ["tp"], []]}, %w: tensor<16x32xf32> {tp.sharding = [[], ["tp"]]},
                %v: tensor<64x16xf32> {tp.sharding = [["tp"], []]}, %u: tensor<16x16xf32> {tp.sharding = [[], ["tp"]]},
                %z: tensor<16x8xbf16> {tp.sharding = [["tp"], []]}, %t: tensor<8x32xbf16> {tp.sharding = [[], ["tp"]]})
    -> (tensor<1x8x32xf32> {tp.sharding = [[], [], ["tp"]]}, tensor<1x8x64xf32> {tp.sharding = [[], [], ["tp"]]},
        tensor<8x16xf32> {tp.sharding = [[], ["tp"]]}, tensor<1x8x16xf32> {tp.sharding = [[], [], []]},
        tensor<16x32xbf16> {tp.sharding = [[], ["tp"]]}) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<1x8x32xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x8x32xf32>) -> tensor<1x8x32xf32>
  %y0 = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<1x8x16xf32>, tensor<16x32xf32>) outs(%f0 : tensor<1x8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x8x32xf32>
  %e1 = tensor.empty() : tensor<1x8x64xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x8x64xf32>) -> tensor<1x8x64xf32>
  %y1 = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%x, %v : tensor<1x8x16xf32>, tensor<64x16xf32>) outs(%f1 : tensor<1x8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x8x64xf32>
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<1x8x16xf32> into tensor<8x16xf32>
  %e2 = tensor.empty() : tensor<8x16xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y2 = linalg.matmul ins(%flat, %u : tensor<8x16xf32>, tensor<16x16xf32>) outs(%f2 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y3 = arith.addf %x, %x : tensor<1x8x16xf32>
  %zero4 = arith.constant 0.0 : bf16
  %e4 = tensor.empty() : tensor<16x32xbf16>
  %f4 = linalg.fill ins(%zero4 : bf16) outs(%e4 : tensor<16x32xbf16>) -> tensor<16x32xbf16>
  %y4 = linalg.matmul ins(%z, %t : tensor<16x8xbf16>, tensor<8x32xbf16>) outs(%f4 : tensor<16x32xbf16>) -> tensor<16x32xbf16>
  return %y0, %y1, %y2, %y3, %y4 : tensor<1x8x32xf32>, tensor<1x8x64xf32>, tensor<8x16xf32>, tensor<1x8x16xf32>, tensor<16x32xbf16>
}
