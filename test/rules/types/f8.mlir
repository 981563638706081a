// Tensors of f8E4M3FN and f8E5M2: quantized for each token as frameworks write it, multiplied, moved between layouts, largest values of uneven rows.
// On processors, and on GPUs that are none.
// RUN: shard-run %s --strategy follow 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so shard-run %s --strategy follow --target=cuda --no-graph --repeat 1 2>&1 | FileCheck %s --check-prefix=SAME
// The same in f8E5M2.
// RUN: sed 's/f8E4M3FN/f8E5M2/g' %s > %t.mlir
// RUN: shard-run %t.mlir --strategy follow 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so shard-run %t.mlir --strategy follow --target=cuda --no-graph --repeat 1 2>&1 | FileCheck %s --check-prefix=SAME
// SAME-COUNT-7: against one device   ok
// SAME: verified
shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<8x64xf32> {tp.sharding = [["dp"], ["tp"]]}, %q: tensor<8x64xf8E4M3FN> {tp.sharding = [["tp"], []]},
                %a: tensor<8x64xf8E4M3FN> {tp.sharding = [[], ["tp"]]}, %b: tensor<64x12xf8E4M3FN> {tp.sharding = [["tp"], []]},
                %u: tensor<3x7xf8E4M3FN> {tp.sharding = [[], ["tp"]]})
    -> (tensor<8x64xf8E4M3FN> {tp.sharding = [["dp"], []]}, tensor<8xf32>, tensor<64x8xf8E4M3FN> {tp.sharding = [["tp"], []]}, tensor<8x12xf8E4M3FN>,
        tensor<3xf8E4M3FN>, tensor<3xf8E4M3FN>, tensor<8x64xf8E4M3FN>) {
  // q = truncf(clamp(x / scale)), scale = largest |x| of the row / 448
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %e1 = tensor.empty() : tensor<8x64xf8E4M3FN>
  %amax = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf32>) outs(%zero : tensor<8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %0 = math.absf %i : f32
    %1 = arith.maximumf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%x, %amax : tensor<8x64xf32>, tensor<8xf32>) outs(%e1 : tensor<8x64xf8E4M3FN>) {
  ^bb0(%i: f32, %s: f32, %o: f8E4M3FN):
    %most = arith.constant 448.0 : f32
    %least = arith.constant -448.0 : f32
    %0 = arith.divf %s, %most : f32
    %1 = arith.divf %i, %0 : f32
    %2 = arith.minimumf %1, %most : f32
    %3 = arith.maximumf %2, %least : f32
    %4 = arith.truncf %3 : f32 to f8E4M3FN
    linalg.yield %4 : f8E4M3FN
  } -> tensor<8x64xf8E4M3FN>
  // moved to another layout
  %e = tensor.empty() : tensor<64x8xf8E4M3FN>
  %t = linalg.transpose ins(%q : tensor<8x64xf8E4M3FN>) outs(%e : tensor<64x8xf8E4M3FN>) permutation = [1, 0]
  // a product of which each device has a part of the sum, in f32
  %z = arith.constant dense<0.0> : tensor<8x12xf32>
  %p = linalg.matmul ins(%a, %b : tensor<8x64xf8E4M3FN>, tensor<64x12xf8E4M3FN>) outs(%z : tensor<8x12xf32>) -> tensor<8x12xf32>
  %small = arith.constant dense<2.5e-1> : tensor<8x12xf32>
  %scaled = arith.mulf %p, %small : tensor<8x12xf32>
  %n = arith.truncf %scaled : tensor<8x12xf32> to tensor<8x12xf8E4M3FN>
  // rows of 7 on 2 devices: what is beyond them is less than all others
  %least = arith.constant dense<[-448.0, -448.0, 2.0]> : tensor<3xf8E4M3FN>
  %max = linalg.reduce ins(%u : tensor<3x7xf8E4M3FN>) outs(%least : tensor<3xf8E4M3FN>) dimensions = [1] (%i: f8E4M3FN, %o: f8E4M3FN) {
    %0 = arith.negf %i : f8E4M3FN
    %1 = arith.maximumf %0, %o : f8E4M3FN
    linalg.yield %1 : f8E4M3FN
  }
  %greatest = arith.constant dense<448.0> : tensor<3xf8E4M3FN>
  %min = linalg.reduce { arith.minnumf } ins(%u : tensor<3x7xf8E4M3FN>) outs(%greatest : tensor<3xf8E4M3FN>) dimensions = [1]
  // arithmetic of it is that of f32, rounded after each op
  %half = arith.constant dense<0.5> : tensor<8x64xf8E4M3FN>
  %s = arith.mulf %q, %half : tensor<8x64xf8E4M3FN>
  %f = math.fma %s, %half, %q : tensor<8x64xf8E4M3FN>
  %r = math.absf %f : tensor<8x64xf8E4M3FN>
  return %y, %amax, %t, %n, %max, %min, %r : tensor<8x64xf8E4M3FN>, tensor<8xf32>, tensor<64x8xf8E4M3FN>, tensor<8x12xf8E4M3FN>, tensor<3xf8E4M3FN>, tensor<3xf8E4M3FN>, tensor<8x64xf8E4M3FN>
}
