#map = affine_map<() -> ()>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> ()>
module @jit_layers {
  func.func @main(%arg0: tensor<16x64xf32>, %arg1: tensor<12x64x256xf32>, %arg2: tensor<12x256x64xf32>) -> tensor<16x64xf32> {
    %c1_i32 = arith.constant 1 : i32
    %cst = arith.constant 0.000000e+00 : f32
    %c11 = arith.constant 11 : index
    %c0 = arith.constant 0 : index
    %c12_i32 = arith.constant 12 : i32
    %cst_0 = arith.constant dense<5.000000e-01> : tensor<f32>
    %cst_1 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_2 = arith.constant dense<0.797884583> : tensor<f32>
    %cst_3 = arith.constant dense<4.471500e-02> : tensor<f32>
    %cst_4 = arith.constant dense<0> : tensor<i32>
    %0:2 = scf.while (%arg3 = %cst_4, %arg4 = %arg0) : (tensor<i32>, tensor<16x64xf32>) -> (tensor<i32>, tensor<16x64xf32>) {
      %1 = tensor.empty() : tensor<i1>
      %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg3 : tensor<i32>) outs(%1 : tensor<i1>) {
      ^bb0(%in: i32, %out: i1):
        %3 = arith.cmpi slt, %in, %c12_i32 : i32
        linalg.yield %3 : i1
      } -> tensor<i1>
      %extracted = tensor.extract %2[] : tensor<i1>
      scf.condition(%extracted) %arg3, %arg4 : tensor<i32>, tensor<16x64xf32>
    } do {
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<16x64xf32>):
      %extracted = tensor.extract %arg3[] : tensor<i32>
      %1 = arith.index_cast %extracted : i32 to index
      %2 = arith.maxsi %1, %c0 : index
      %3 = arith.minsi %2, %c11 : index
      %extracted_slice = tensor.extract_slice %arg1[%3, 0, 0] [1, 64, 256] [1, 1, 1] : tensor<12x64x256xf32> to tensor<1x64x256xf32>
      %collapsed = tensor.collapse_shape %extracted_slice [[0, 1], [2]] : tensor<1x64x256xf32> into tensor<64x256xf32>
      %extracted_slice_5 = tensor.extract_slice %arg2[%3, 0, 0] [1, 256, 64] [1, 1, 1] : tensor<12x256x64xf32> to tensor<1x256x64xf32>
      %collapsed_6 = tensor.collapse_shape %extracted_slice_5 [[0, 1], [2]] : tensor<1x256x64xf32> into tensor<256x64xf32>
      %4 = tensor.empty() : tensor<16x256xf32>
      %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<16x256xf32>) -> tensor<16x256xf32>
      %6 = linalg.matmul ins(%arg4, %collapsed : tensor<16x64xf32>, tensor<64x256xf32>) outs(%5 : tensor<16x256xf32>) -> tensor<16x256xf32>
      %7 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%6, %6 : tensor<16x256xf32>, tensor<16x256xf32>) outs(%4 : tensor<16x256xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %26 = arith.mulf %in, %in_7 : f32
        linalg.yield %26 : f32
      } -> tensor<16x256xf32>
      %8 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%7, %6 : tensor<16x256xf32>, tensor<16x256xf32>) outs(%4 : tensor<16x256xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %26 = arith.mulf %in, %in_7 : f32
        linalg.yield %26 : f32
      } -> tensor<16x256xf32>
      %9 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%4 : tensor<16x256xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      } -> tensor<16x256xf32>
      %10 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%9, %8 : tensor<16x256xf32>, tensor<16x256xf32>) outs(%4 : tensor<16x256xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %26 = arith.mulf %in, %in_7 : f32
        linalg.yield %26 : f32
      } -> tensor<16x256xf32>
      %11 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%6, %10 : tensor<16x256xf32>, tensor<16x256xf32>) outs(%4 : tensor<16x256xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %26 = arith.addf %in, %in_7 : f32
        linalg.yield %26 : f32
      } -> tensor<16x256xf32>
      %12 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%4 : tensor<16x256xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      } -> tensor<16x256xf32>
      %13 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%12, %11 : tensor<16x256xf32>, tensor<16x256xf32>) outs(%4 : tensor<16x256xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %26 = arith.mulf %in, %in_7 : f32
        linalg.yield %26 : f32
      } -> tensor<16x256xf32>
      %14 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%13 : tensor<16x256xf32>) outs(%4 : tensor<16x256xf32>) {
      ^bb0(%in: f32, %out: f32):
        %26 = math.tanh %in : f32
        linalg.yield %26 : f32
      } -> tensor<16x256xf32>
      %15 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%4 : tensor<16x256xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      } -> tensor<16x256xf32>
      %16 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%15, %14 : tensor<16x256xf32>, tensor<16x256xf32>) outs(%4 : tensor<16x256xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %26 = arith.addf %in, %in_7 : f32
        linalg.yield %26 : f32
      } -> tensor<16x256xf32>
      %17 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%4 : tensor<16x256xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      } -> tensor<16x256xf32>
      %18 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%17, %16 : tensor<16x256xf32>, tensor<16x256xf32>) outs(%4 : tensor<16x256xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %26 = arith.mulf %in, %in_7 : f32
        linalg.yield %26 : f32
      } -> tensor<16x256xf32>
      %19 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%6, %18 : tensor<16x256xf32>, tensor<16x256xf32>) outs(%4 : tensor<16x256xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %26 = arith.mulf %in, %in_7 : f32
        linalg.yield %26 : f32
      } -> tensor<16x256xf32>
      %20 = tensor.empty() : tensor<16x64xf32>
      %21 = linalg.fill ins(%cst : f32) outs(%20 : tensor<16x64xf32>) -> tensor<16x64xf32>
      %22 = linalg.matmul ins(%19, %collapsed_6 : tensor<16x256xf32>, tensor<256x64xf32>) outs(%21 : tensor<16x64xf32>) -> tensor<16x64xf32>
      %23 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg4, %22 : tensor<16x64xf32>, tensor<16x64xf32>) outs(%20 : tensor<16x64xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %26 = arith.addf %in, %in_7 : f32
        linalg.yield %26 : f32
      } -> tensor<16x64xf32>
      %24 = tensor.empty() : tensor<i32>
      %25 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg3 : tensor<i32>) outs(%24 : tensor<i32>) {
      ^bb0(%in: i32, %out: i32):
        %26 = arith.addi %in, %c1_i32 : i32
        linalg.yield %26 : i32
      } -> tensor<i32>
      scf.yield %25, %23 : tensor<i32>, tensor<16x64xf32>
    }
    return %0#1 : tensor<16x64xf32>
  }
}
