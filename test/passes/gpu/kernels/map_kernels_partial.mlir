// Kernels that write only some elements, each from another point: diagonals, strides, from the end, rows of a flat result, one row. The others are
// those of the init.
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so shard-run %s --mesh 1 --target=cuda --reference evaluator | FileCheck %s
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so TPRT_BLASLT_LIBRARY=%libraries/tprt_fake_blaslt.so shard-run %s --mesh 2 --target=cuda --reference evaluator | FileCheck %s
// CHECK: verified
func.func @main(%x: tensor<40xf32>, %m: tensor<7x5xf32>, %square: tensor<40x40xf32>, %long: tensor<90xf32>, %flat: tensor<60xf32>, %rows: tensor<9x5xf32>)
    -> (tensor<40x40xf32>, tensor<90xf32>, tensor<90xf32>, tensor<60xf32>, tensor<9x5xf32>) {
  %diagonal = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, -i + 39)>], iterator_types = ["parallel"]}
      ins(%x : tensor<40xf32>) outs(%square : tensor<40x40xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<40x40xf32>
  %stride = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i * 2 + 3)>], iterator_types = ["parallel"]}
      ins(%x : tensor<40xf32>) outs(%long : tensor<90xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<90xf32>
  %reversed = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (-i + 50)>], iterator_types = ["parallel"]}
      ins(%x : tensor<40xf32>) outs(%long : tensor<90xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<90xf32>
  // Rows of 5 begin 8 apart.
  %apart = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j + i * 8 + 1)>], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<7x5xf32>) outs(%flat : tensor<60xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<60xf32>
  %last = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (4, j)>], iterator_types = ["reduction", "parallel"]}
      ins(%m : tensor<7x5xf32>) outs(%rows : tensor<9x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<9x5xf32>
  return %diagonal, %stride, %reversed, %apart, %last : tensor<40x40xf32>, tensor<90xf32>, tensor<90xf32>, tensor<60xf32>, tensor<9x5xf32>
}
