// An output reads the index of a loop of one iteration that is called a reduction.
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so shard-run %s --target=cuda --mesh 1 --reference=evaluator | FileCheck %s
// RUN: shard-run %s --mesh 1 --reference=evaluator | FileCheck %s
// CHECK: verified
func.func @main(%a: tensor<1x2xf32>, %b: tensor<2xf32>, %c: tensor<2x2xf32>) -> (tensor<2xf32>, tensor<2x2xf32>) {
  %s:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j, i + 1)>], iterator_types = ["reduction", "parallel"]}
      ins(%a : tensor<1x2xf32>) outs(%b, %c : tensor<2xf32>, tensor<2x2xf32>) {
  ^bb0(%x: f32, %p: f32, %q: f32):
    %y = arith.addf %p, %x : f32
    %z = arith.mulf %q, %x : f32
    linalg.yield %y, %z : f32, f32
  } -> (tensor<2xf32>, tensor<2x2xf32>)
  return %s#0, %s#1 : tensor<2xf32>, tensor<2x2xf32>
}
