// Loops are what their outputs make of them: a parallel one in which the same elements are written again and again goes in order, and leaves what came last; a reduction
// in which each iteration has elements of its own is as good as parallel.
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so shard-run %s --mesh 1 --target=cuda --reference=device | FileCheck %s
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so shard-run %s --mesh 2 --target=cuda --reference=device | FileCheck %s
// CHECK-COUNT-3: against one device   ok
// CHECK: consistent with one device
#id = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0)>
#second = affine_map<(d0, d1) -> (d1)>
func.func @main(%a: tensor<40x33xf32>, %b: tensor<40xf32>) -> (tensor<40xf32>, tensor<40x33xf32>, tensor<33xf32>) {
  %e = tensor.empty() : tensor<40xf32>
  %last = linalg.generic {indexing_maps = [#id, #first], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<40x33xf32>) outs(%e : tensor<40xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<40xf32>
  %own = linalg.generic {indexing_maps = [#first, #id], iterator_types = ["parallel", "reduction"]}
      ins(%b : tensor<40xf32>) outs(%a : tensor<40x33xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  } -> tensor<40x33xf32>
  %z = tensor.empty() : tensor<33xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%z : tensor<33xf32>) -> tensor<33xf32>
  %sums = linalg.generic {indexing_maps = [#id, #second], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<40x33xf32>) outs(%f : tensor<33xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %o, %x : f32
    linalg.yield %s : f32
  } -> tensor<33xf32>
  return %last, %own, %sums : tensor<40xf32>, tensor<40x33xf32>, tensor<33xf32>
}
