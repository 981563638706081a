#map = affine_map<(d0, d1, d2) -> ()>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<() -> ()>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d1)>
#map5 = affine_map<(d0, d1) -> (0, d1)>
#map6 = affine_map<(d0, d1) -> ()>
#map7 = affine_map<(d0, d1, d2) -> (d1, d2)>
module @jit_lstm {
  func.func @main(%arg0: tensor<24x8x32xf32>, %arg1: tensor<8x64xf32>, %arg2: tensor<8x64xf32>, %arg3: tensor<32x256xf32>, %arg4: tensor<64x256xf32>, %arg5: tensor<256xf32>) -> (tensor<24x8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>) {
    %c1_i32 = arith.constant 1 : i32
    %cst = arith.constant 0.000000e+00 : f32
    %c23 = arith.constant 23 : index
    %c0 = arith.constant 0 : index
    %c24_i32 = arith.constant 24 : i32
    %cst_0 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_1 = arith.constant dense<0> : tensor<i32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %0 = tensor.empty() : tensor<24x8x64xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%0 : tensor<24x8x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<24x8x64xf32>
    %2:4 = scf.while (%arg6 = %cst_1, %arg7 = %arg1, %arg8 = %arg2, %arg9 = %1) : (tensor<i32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<24x8x64xf32>) -> (tensor<i32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<24x8x64xf32>) {
      %3 = tensor.empty() : tensor<i1>
      %4 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = []} ins(%arg6 : tensor<i32>) outs(%3 : tensor<i1>) {
      ^bb0(%in: i32, %out: i1):
        %5 = arith.cmpi slt, %in, %c24_i32 : i32
        linalg.yield %5 : i1
      } -> tensor<i1>
      %extracted = tensor.extract %4[] : tensor<i1>
      scf.condition(%extracted) %arg6, %arg7, %arg8, %arg9 : tensor<i32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<24x8x64xf32>
    } do {
    ^bb0(%arg6: tensor<i32>, %arg7: tensor<8x64xf32>, %arg8: tensor<8x64xf32>, %arg9: tensor<24x8x64xf32>):
      %extracted = tensor.extract %arg6[] : tensor<i32>
      %3 = arith.index_cast %extracted : i32 to index
      %4 = arith.maxsi %3, %c0 : index
      %5 = arith.minsi %4, %c23 : index
      %extracted_slice = tensor.extract_slice %arg0[%5, 0, 0] [1, 8, 32] [1, 1, 1] : tensor<24x8x32xf32> to tensor<1x8x32xf32>
      %collapsed = tensor.collapse_shape %extracted_slice [[0, 1], [2]] : tensor<1x8x32xf32> into tensor<8x32xf32>
      %6 = tensor.empty() : tensor<8x256xf32>
      %7 = linalg.fill ins(%cst : f32) outs(%6 : tensor<8x256xf32>) -> tensor<8x256xf32>
      %8 = linalg.matmul ins(%collapsed, %arg3 : tensor<8x32xf32>, tensor<32x256xf32>) outs(%7 : tensor<8x256xf32>) -> tensor<8x256xf32>
      %9 = linalg.matmul ins(%arg7, %arg4 : tensor<8x64xf32>, tensor<64x256xf32>) outs(%7 : tensor<8x256xf32>) -> tensor<8x256xf32>
      %10 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%8, %9 : tensor<8x256xf32>, tensor<8x256xf32>) outs(%6 : tensor<8x256xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %39 = arith.addf %in, %in_7 : f32
        linalg.yield %39 : f32
      } -> tensor<8x256xf32>
      %11 = tensor.empty() : tensor<1x256xf32>
      %12 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg5 : tensor<256xf32>) outs(%11 : tensor<1x256xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      } -> tensor<1x256xf32>
      %13 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel"]} ins(%12 : tensor<1x256xf32>) outs(%6 : tensor<8x256xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      } -> tensor<8x256xf32>
      %14 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%10, %13 : tensor<8x256xf32>, tensor<8x256xf32>) outs(%6 : tensor<8x256xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %39 = arith.addf %in, %in_7 : f32
        linalg.yield %39 : f32
      } -> tensor<8x256xf32>
      %extracted_slice_3 = tensor.extract_slice %14[0, 0] [8, 64] [1, 1] : tensor<8x256xf32> to tensor<8x64xf32>
      %extracted_slice_4 = tensor.extract_slice %14[0, 64] [8, 64] [1, 1] : tensor<8x256xf32> to tensor<8x64xf32>
      %extracted_slice_5 = tensor.extract_slice %14[0, 128] [8, 64] [1, 1] : tensor<8x256xf32> to tensor<8x64xf32>
      %extracted_slice_6 = tensor.extract_slice %14[0, 192] [8, 64] [1, 1] : tensor<8x256xf32> to tensor<8x64xf32>
      %15 = tensor.empty() : tensor<8x64xf32>
      %16 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_4 : tensor<8x64xf32>) outs(%15 : tensor<8x64xf32>) {
      ^bb0(%in: f32, %out: f32):
        %39 = arith.negf %in : f32
        linalg.yield %39 : f32
      } -> tensor<8x64xf32>
      %17 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%16 : tensor<8x64xf32>) outs(%15 : tensor<8x64xf32>) {
      ^bb0(%in: f32, %out: f32):
        %39 = math.exp %in : f32
        linalg.yield %39 : f32
      } -> tensor<8x64xf32>
      %18 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%15 : tensor<8x64xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      } -> tensor<8x64xf32>
      %19 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%18, %17 : tensor<8x64xf32>, tensor<8x64xf32>) outs(%15 : tensor<8x64xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %39 = arith.addf %in, %in_7 : f32
        linalg.yield %39 : f32
      } -> tensor<8x64xf32>
      %20 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%18, %19 : tensor<8x64xf32>, tensor<8x64xf32>) outs(%15 : tensor<8x64xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %39 = arith.divf %in, %in_7 : f32
        linalg.yield %39 : f32
      } -> tensor<8x64xf32>
      %21 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%20, %arg8 : tensor<8x64xf32>, tensor<8x64xf32>) outs(%15 : tensor<8x64xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %39 = arith.mulf %in, %in_7 : f32
        linalg.yield %39 : f32
      } -> tensor<8x64xf32>
      %22 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_3 : tensor<8x64xf32>) outs(%15 : tensor<8x64xf32>) {
      ^bb0(%in: f32, %out: f32):
        %39 = arith.negf %in : f32
        linalg.yield %39 : f32
      } -> tensor<8x64xf32>
      %23 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%22 : tensor<8x64xf32>) outs(%15 : tensor<8x64xf32>) {
      ^bb0(%in: f32, %out: f32):
        %39 = math.exp %in : f32
        linalg.yield %39 : f32
      } -> tensor<8x64xf32>
      %24 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%18, %23 : tensor<8x64xf32>, tensor<8x64xf32>) outs(%15 : tensor<8x64xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %39 = arith.addf %in, %in_7 : f32
        linalg.yield %39 : f32
      } -> tensor<8x64xf32>
      %25 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%18, %24 : tensor<8x64xf32>, tensor<8x64xf32>) outs(%15 : tensor<8x64xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %39 = arith.divf %in, %in_7 : f32
        linalg.yield %39 : f32
      } -> tensor<8x64xf32>
      %26 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_5 : tensor<8x64xf32>) outs(%15 : tensor<8x64xf32>) {
      ^bb0(%in: f32, %out: f32):
        %39 = math.tanh %in : f32
        linalg.yield %39 : f32
      } -> tensor<8x64xf32>
      %27 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%25, %26 : tensor<8x64xf32>, tensor<8x64xf32>) outs(%15 : tensor<8x64xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %39 = arith.mulf %in, %in_7 : f32
        linalg.yield %39 : f32
      } -> tensor<8x64xf32>
      %28 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%21, %27 : tensor<8x64xf32>, tensor<8x64xf32>) outs(%15 : tensor<8x64xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %39 = arith.addf %in, %in_7 : f32
        linalg.yield %39 : f32
      } -> tensor<8x64xf32>
      %29 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_6 : tensor<8x64xf32>) outs(%15 : tensor<8x64xf32>) {
      ^bb0(%in: f32, %out: f32):
        %39 = arith.negf %in : f32
        linalg.yield %39 : f32
      } -> tensor<8x64xf32>
      %30 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%29 : tensor<8x64xf32>) outs(%15 : tensor<8x64xf32>) {
      ^bb0(%in: f32, %out: f32):
        %39 = math.exp %in : f32
        linalg.yield %39 : f32
      } -> tensor<8x64xf32>
      %31 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%18, %30 : tensor<8x64xf32>, tensor<8x64xf32>) outs(%15 : tensor<8x64xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %39 = arith.addf %in, %in_7 : f32
        linalg.yield %39 : f32
      } -> tensor<8x64xf32>
      %32 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%18, %31 : tensor<8x64xf32>, tensor<8x64xf32>) outs(%15 : tensor<8x64xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %39 = arith.divf %in, %in_7 : f32
        linalg.yield %39 : f32
      } -> tensor<8x64xf32>
      %33 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%28 : tensor<8x64xf32>) outs(%15 : tensor<8x64xf32>) {
      ^bb0(%in: f32, %out: f32):
        %39 = math.tanh %in : f32
        linalg.yield %39 : f32
      } -> tensor<8x64xf32>
      %34 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%32, %33 : tensor<8x64xf32>, tensor<8x64xf32>) outs(%15 : tensor<8x64xf32>) {
      ^bb0(%in: f32, %in_7: f32, %out: f32):
        %39 = arith.mulf %in, %in_7 : f32
        linalg.yield %39 : f32
      } -> tensor<8x64xf32>
      %35 = tensor.empty() : tensor<1x8x64xf32>
      %36 = linalg.generic {indexing_maps = [#map7, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%34 : tensor<8x64xf32>) outs(%35 : tensor<1x8x64xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      } -> tensor<1x8x64xf32>
      %inserted_slice = tensor.insert_slice %36 into %arg9[%5, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<1x8x64xf32> into tensor<24x8x64xf32>
      %37 = tensor.empty() : tensor<i32>
      %38 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = []} ins(%arg6 : tensor<i32>) outs(%37 : tensor<i32>) {
      ^bb0(%in: i32, %out: i32):
        %39 = arith.addi %in, %c1_i32 : i32
        linalg.yield %39 : i32
      } -> tensor<i32>
      scf.yield %38, %34, %28, %inserted_slice : tensor<i32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<24x8x64xf32>
    }
    return %2#3, %2#1, %2#2 : tensor<24x8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>
  }
}
