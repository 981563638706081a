#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2) -> ()>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map4 = affine_map<(d0, d1, d2) -> (d2)>
#map5 = affine_map<(d0, d1, d2) -> (0, 0, d2)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
#map12 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#map13 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>
#map14 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map15 = affine_map<() -> ()>
#map16 = affine_map<(d0, d1, d2, d3) -> ()>
#map17 = affine_map<(d0, d1) -> ()>
#map18 = affine_map<(d0, d1) -> (d0, d1)>
#map19 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map20 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map21 = affine_map<(d0, d1, d2) -> (d1, d2, d0)>
#map22 = affine_map<(d0, d1, d2) -> (d0)>
#map23 = affine_map<(d0, d1, d2, d3) -> (d2, d3, d0)>
#map24 = affine_map<(d0, d1, d2, d3) -> (d2, d3, d1)>
#map25 = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#map26 = affine_map<(d0, d1) -> (d1, d0)>
#map27 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d2)>
#map28 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map29 = affine_map<(d0) -> ()>
#map30 = affine_map<(d0) -> (d0)>
module @jit_gpt2 {
  func.func @main(%arg0: tensor<2x32x64xf32>, %arg1: tensor<2x32x64xf32>, %arg2: tensor<64xf32>, %arg3: tensor<64xf32>, %arg4: tensor<64x192xf32>, %arg5: tensor<192xf32>, %arg6: tensor<64x64xf32>, %arg7: tensor<64xf32>, %arg8: tensor<64xf32>, %arg9: tensor<64xf32>, %arg10: tensor<64x256xf32>, %arg11: tensor<256xf32>, %arg12: tensor<256x64xf32>, %arg13: tensor<64xf32>) -> (tensor<f32>, tensor<64xf32>, tensor<64xf32>, tensor<64x192xf32>, tensor<192xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x256xf32>, tensor<256xf32>, tensor<256x64xf32>, tensor<64xf32>) {
    %c128 = arith.constant 128 : index
    %c64 = arith.constant 64 : index
    %cst = arith.constant 2.44140625E-4 : f32
    %cst_0 = arith.constant 4.000000e+00 : f32
    %cst_1 = arith.constant 4.096000e+03 : f32
    %cst_2 = arith.constant 0xFF800000 : f32
    %cst_3 = arith.constant -1.000000e+09 : f32
    %cst_4 = arith.constant dense<1.000000e-01> : tensor<f32>
    %cst_5 = arith.constant dense<5.000000e-01> : tensor<f32>
    %cst_6 = arith.constant dense<0.797884583> : tensor<f32>
    %cst_7 = arith.constant dense<4.471500e-02> : tensor<f32>
    %cst_8 = arith.constant dense<3.000000e+00> : tensor<f32>
    %cst_9 = arith.constant dense<-5.000000e-01> : tensor<f32>
    %cst_10 = arith.constant dense<2.000000e+00> : tensor<f32>
    %cst_11 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_12 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_13 = arith.constant dense<false> : tensor<i1>
    %cst_14 = arith.constant dense<0> : tensor<i32>
    %cst_15 = arith.constant dense<true> : tensor<i1>
    %cst_16 = arith.constant dense<9.99999974E-6> : tensor<f32>
    %cst_17 = arith.constant dense<6.400000e+01> : tensor<f32>
    %cst_18 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_19 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<2x32xf32>
    %1 = linalg.fill ins(%cst_19 : f32) outs(%0 : tensor<2x32xf32>) -> tensor<2x32xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0 : tensor<2x32x64xf32>) outs(%1 : tensor<2x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<2x32xf32>
    %3 = tensor.empty() : tensor<2x32x1xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2 : tensor<2x32xf32>) outs(%3 : tensor<2x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x1xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_17 : tensor<f32>) outs(%3 : tensor<2x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x1xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4, %5 : tensor<2x32x1xf32>, tensor<2x32x1xf32>) outs(%3 : tensor<2x32x1xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.divf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x1xf32>
    %7 = tensor.empty() : tensor<2x32x64xf32>
    %8 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6 : tensor<2x32x1xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x64xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %8 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.subf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %9 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%10 : tensor<2x32x64xf32>) outs(%1 : tensor<2x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<2x32xf32>
    %12 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11 : tensor<2x32xf32>) outs(%3 : tensor<2x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x1xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12, %5 : tensor<2x32x1xf32>, tensor<2x32x1xf32>) outs(%3 : tensor<2x32x1xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.divf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x1xf32>
    %14 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_16 : tensor<f32>) outs(%3 : tensor<2x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x1xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13, %14 : tensor<2x32x1xf32>, tensor<2x32x1xf32>) outs(%3 : tensor<2x32x1xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.addf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<2x32x1xf32>) outs(%3 : tensor<2x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = math.rsqrt %in : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x1xf32>
    %17 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%16 : tensor<2x32x1xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x64xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %17 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %19 = tensor.empty() : tensor<1x1x64xf32>
    %20 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg2 : tensor<64xf32>) outs(%19 : tensor<1x1x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x64xf32>
    %21 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20 : tensor<1x1x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x64xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18, %21 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %23 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg3 : tensor<64xf32>) outs(%19 : tensor<1x1x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x64xf32>
    %24 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23 : tensor<1x1x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x64xf32>
    %25 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22, %24 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.addf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %26 = tensor.empty() : tensor<2x32x192xf32>
    %27 = linalg.fill ins(%cst_19 : f32) outs(%26 : tensor<2x32x192xf32>) -> tensor<2x32x192xf32>
    %28 = linalg.generic {indexing_maps = [#map6, #map7, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%25, %arg4 : tensor<2x32x64xf32>, tensor<64x192xf32>) outs(%27 : tensor<2x32x192xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      %284 = arith.addf %out, %283 : f32
      linalg.yield %284 : f32
    } -> tensor<2x32x192xf32>
    %29 = tensor.empty() : tensor<1x1x192xf32>
    %30 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg5 : tensor<192xf32>) outs(%29 : tensor<1x1x192xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x192xf32>
    %31 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%30 : tensor<1x1x192xf32>) outs(%26 : tensor<2x32x192xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x192xf32>
    %32 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%28, %31 : tensor<2x32x192xf32>, tensor<2x32x192xf32>) outs(%26 : tensor<2x32x192xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.addf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x192xf32>
    %extracted_slice = tensor.extract_slice %32[0, 0, 0] [2, 32, 64] [1, 1, 1] : tensor<2x32x192xf32> to tensor<2x32x64xf32>
    %extracted_slice_20 = tensor.extract_slice %32[0, 0, 64] [2, 32, 64] [1, 1, 1] : tensor<2x32x192xf32> to tensor<2x32x64xf32>
    %extracted_slice_21 = tensor.extract_slice %32[0, 0, 128] [2, 32, 64] [1, 1, 1] : tensor<2x32x192xf32> to tensor<2x32x64xf32>
    %expanded = tensor.expand_shape %extracted_slice [[0], [1], [2, 3]] output_shape [2, 32, 4, 16] : tensor<2x32x64xf32> into tensor<2x32x4x16xf32>
    %33 = tensor.empty() : tensor<2x4x32x16xf32>
    %34 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<2x32x4x16xf32>) outs(%33 : tensor<2x4x32x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x32x16xf32>
    %expanded_22 = tensor.expand_shape %extracted_slice_20 [[0], [1], [2, 3]] output_shape [2, 32, 4, 16] : tensor<2x32x64xf32> into tensor<2x32x4x16xf32>
    %35 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_22 : tensor<2x32x4x16xf32>) outs(%33 : tensor<2x4x32x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x32x16xf32>
    %expanded_23 = tensor.expand_shape %extracted_slice_21 [[0], [1], [2, 3]] output_shape [2, 32, 4, 16] : tensor<2x32x64xf32> into tensor<2x32x4x16xf32>
    %36 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_23 : tensor<2x32x4x16xf32>) outs(%33 : tensor<2x4x32x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x32x16xf32>
    %37 = tensor.empty() : tensor<2x4x16x32xf32>
    %38 = linalg.generic {indexing_maps = [#map11, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%35 : tensor<2x4x32x16xf32>) outs(%37 : tensor<2x4x16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x16x32xf32>
    %39 = tensor.empty() : tensor<2x4x32x32xf32>
    %40 = linalg.fill ins(%cst_19 : f32) outs(%39 : tensor<2x4x32x32xf32>) -> tensor<2x4x32x32xf32>
    %41 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%34, %38 : tensor<2x4x32x16xf32>, tensor<2x4x16x32xf32>) outs(%40 : tensor<2x4x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      %284 = arith.addf %out, %283 : f32
      linalg.yield %284 : f32
    } -> tensor<2x4x32x32xf32>
    %42 = tensor.empty() : tensor<f32>
    %43 = linalg.generic {indexing_maps = [#map15], iterator_types = []} outs(%42 : tensor<f32>) {
    ^bb0(%out: f32):
      linalg.yield %cst_0 : f32
    } -> tensor<f32>
    %44 = linalg.generic {indexing_maps = [#map16, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%43 : tensor<f32>) outs(%39 : tensor<2x4x32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x32x32xf32>
    %45 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%41, %44 : tensor<2x4x32x32xf32>, tensor<2x4x32x32xf32>) outs(%39 : tensor<2x4x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.divf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x4x32x32xf32>
    %46 = tensor.empty() : tensor<32x32xi1>
    %47 = linalg.generic {indexing_maps = [#map17, #map18], iterator_types = ["parallel", "parallel"]} ins(%cst_15 : tensor<i1>) outs(%46 : tensor<32x32xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<32x32xi1>
    %48 = tensor.empty() : tensor<32x32xi32>
    %49 = linalg.generic {indexing_maps = [#map18], iterator_types = ["parallel", "parallel"]} outs(%48 : tensor<32x32xi32>) {
    ^bb0(%out: i32):
      %283 = linalg.index 0 : index
      %284 = arith.index_cast %283 : index to i32
      linalg.yield %284 : i32
    } -> tensor<32x32xi32>
    %50 = linalg.generic {indexing_maps = [#map17, #map18], iterator_types = ["parallel", "parallel"]} ins(%cst_14 : tensor<i32>) outs(%48 : tensor<32x32xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<32x32xi32>
    %51 = linalg.generic {indexing_maps = [#map18, #map18, #map18], iterator_types = ["parallel", "parallel"]} ins(%49, %50 : tensor<32x32xi32>, tensor<32x32xi32>) outs(%48 : tensor<32x32xi32>) {
    ^bb0(%in: i32, %in_40: i32, %out: i32):
      %283 = arith.addi %in, %in_40 : i32
      linalg.yield %283 : i32
    } -> tensor<32x32xi32>
    %52 = linalg.generic {indexing_maps = [#map18], iterator_types = ["parallel", "parallel"]} outs(%48 : tensor<32x32xi32>) {
    ^bb0(%out: i32):
      %283 = linalg.index 1 : index
      %284 = arith.index_cast %283 : index to i32
      linalg.yield %284 : i32
    } -> tensor<32x32xi32>
    %53 = linalg.generic {indexing_maps = [#map18, #map18, #map18], iterator_types = ["parallel", "parallel"]} ins(%51, %52 : tensor<32x32xi32>, tensor<32x32xi32>) outs(%46 : tensor<32x32xi1>) {
    ^bb0(%in: i32, %in_40: i32, %out: i1):
      %283 = arith.cmpi sge, %in, %in_40 : i32
      linalg.yield %283 : i1
    } -> tensor<32x32xi1>
    %54 = linalg.generic {indexing_maps = [#map17, #map18], iterator_types = ["parallel", "parallel"]} ins(%cst_13 : tensor<i1>) outs(%46 : tensor<32x32xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<32x32xi1>
    %55 = linalg.generic {indexing_maps = [#map18, #map18, #map18, #map18], iterator_types = ["parallel", "parallel"]} ins(%53, %47, %54 : tensor<32x32xi1>, tensor<32x32xi1>, tensor<32x32xi1>) outs(%46 : tensor<32x32xi1>) {
    ^bb0(%in: i1, %in_40: i1, %in_41: i1, %out: i1):
      %283 = arith.select %in, %in_40, %in_41 : i1
      linalg.yield %283 : i1
    } -> tensor<32x32xi1>
    %56 = linalg.generic {indexing_maps = [#map15], iterator_types = []} outs(%42 : tensor<f32>) {
    ^bb0(%out: f32):
      linalg.yield %cst_3 : f32
    } -> tensor<f32>
    %57 = tensor.empty() : tensor<2x4x32x32xi1>
    %58 = linalg.generic {indexing_maps = [#map19, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%55 : tensor<32x32xi1>) outs(%57 : tensor<2x4x32x32xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x4x32x32xi1>
    %59 = linalg.generic {indexing_maps = [#map16, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%56 : tensor<f32>) outs(%39 : tensor<2x4x32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x32x32xf32>
    %60 = linalg.generic {indexing_maps = [#map10, #map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%58, %45, %59 : tensor<2x4x32x32xi1>, tensor<2x4x32x32xf32>, tensor<2x4x32x32xf32>) outs(%39 : tensor<2x4x32x32xf32>) {
    ^bb0(%in: i1, %in_40: f32, %in_41: f32, %out: f32):
      %283 = arith.select %in, %in_40, %in_41 : f32
      linalg.yield %283 : f32
    } -> tensor<2x4x32x32xf32>
    %61 = tensor.empty() : tensor<2x4x32xf32>
    %62 = linalg.fill ins(%cst_2 : f32) outs(%61 : tensor<2x4x32xf32>) -> tensor<2x4x32xf32>
    %63 = linalg.generic {indexing_maps = [#map10, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%60 : tensor<2x4x32x32xf32>) outs(%62 : tensor<2x4x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.maximumf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<2x4x32xf32>
    %64 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_12 : tensor<f32>) outs(%61 : tensor<2x4x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x32xf32>
    %65 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%64, %63 : tensor<2x4x32xf32>, tensor<2x4x32xf32>) outs(%61 : tensor<2x4x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.maximumf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x4x32xf32>
    %66 = tensor.empty() : tensor<2x4x32x1xf32>
    %67 = linalg.generic {indexing_maps = [#map8, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%65 : tensor<2x4x32xf32>) outs(%66 : tensor<2x4x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x32x1xf32>
    %68 = linalg.generic {indexing_maps = [#map20, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%67 : tensor<2x4x32x1xf32>) outs(%39 : tensor<2x4x32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x32x32xf32>
    %69 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%60, %68 : tensor<2x4x32x32xf32>, tensor<2x4x32x32xf32>) outs(%39 : tensor<2x4x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.subf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x4x32x32xf32>
    %70 = linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%69 : tensor<2x4x32x32xf32>) outs(%39 : tensor<2x4x32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = math.exp %in : f32
      linalg.yield %283 : f32
    } -> tensor<2x4x32x32xf32>
    %71 = linalg.fill ins(%cst_19 : f32) outs(%61 : tensor<2x4x32xf32>) -> tensor<2x4x32xf32>
    %72 = linalg.generic {indexing_maps = [#map10, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%70 : tensor<2x4x32x32xf32>) outs(%71 : tensor<2x4x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<2x4x32xf32>
    %73 = linalg.generic {indexing_maps = [#map8, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%72 : tensor<2x4x32xf32>) outs(%66 : tensor<2x4x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x32x1xf32>
    %74 = linalg.generic {indexing_maps = [#map20, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%73 : tensor<2x4x32x1xf32>) outs(%39 : tensor<2x4x32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x32x32xf32>
    %75 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%70, %74 : tensor<2x4x32x32xf32>, tensor<2x4x32x32xf32>) outs(%39 : tensor<2x4x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.divf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x4x32x32xf32>
    %76 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%73, %73 : tensor<2x4x32x1xf32>, tensor<2x4x32x1xf32>) outs(%66 : tensor<2x4x32x1xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x4x32x1xf32>
    %77 = linalg.generic {indexing_maps = [#map16, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_11 : tensor<f32>) outs(%66 : tensor<2x4x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x32x1xf32>
    %78 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%77, %76 : tensor<2x4x32x1xf32>, tensor<2x4x32x1xf32>) outs(%66 : tensor<2x4x32x1xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.divf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x4x32x1xf32>
    %79 = linalg.fill ins(%cst_19 : f32) outs(%33 : tensor<2x4x32x16xf32>) -> tensor<2x4x32x16xf32>
    %80 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%75, %36 : tensor<2x4x32x32xf32>, tensor<2x4x32x16xf32>) outs(%79 : tensor<2x4x32x16xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      %284 = arith.addf %out, %283 : f32
      linalg.yield %284 : f32
    } -> tensor<2x4x32x16xf32>
    %81 = tensor.empty() : tensor<2x32x4x16xf32>
    %82 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%80 : tensor<2x4x32x16xf32>) outs(%81 : tensor<2x32x4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x4x16xf32>
    %collapsed = tensor.collapse_shape %82 [[0], [1], [2, 3]] : tensor<2x32x4x16xf32> into tensor<2x32x64xf32>
    %83 = linalg.fill ins(%cst_19 : f32) outs(%7 : tensor<2x32x64xf32>) -> tensor<2x32x64xf32>
    %84 = linalg.generic {indexing_maps = [#map6, #map7, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed, %arg6 : tensor<2x32x64xf32>, tensor<64x64xf32>) outs(%83 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      %284 = arith.addf %out, %283 : f32
      linalg.yield %284 : f32
    } -> tensor<2x32x64xf32>
    %85 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %84 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.addf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %86 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg7 : tensor<64xf32>) outs(%19 : tensor<1x1x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x64xf32>
    %87 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%86 : tensor<1x1x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x64xf32>
    %88 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%85, %87 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.addf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %89 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%88 : tensor<2x32x64xf32>) outs(%1 : tensor<2x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<2x32xf32>
    %90 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%89 : tensor<2x32xf32>) outs(%3 : tensor<2x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x1xf32>
    %91 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%90, %5 : tensor<2x32x1xf32>, tensor<2x32x1xf32>) outs(%3 : tensor<2x32x1xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.divf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x1xf32>
    %92 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%91 : tensor<2x32x1xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x64xf32>
    %93 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%88, %92 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.subf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %94 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93, %93 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %95 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_10 : tensor<f32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x64xf32>
    %96 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95, %93 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %97 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%94 : tensor<2x32x64xf32>) outs(%1 : tensor<2x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<2x32xf32>
    %98 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%97 : tensor<2x32xf32>) outs(%3 : tensor<2x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x1xf32>
    %99 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%98, %5 : tensor<2x32x1xf32>, tensor<2x32x1xf32>) outs(%3 : tensor<2x32x1xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.divf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x1xf32>
    %100 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%99, %14 : tensor<2x32x1xf32>, tensor<2x32x1xf32>) outs(%3 : tensor<2x32x1xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.addf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x1xf32>
    %101 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100 : tensor<2x32x1xf32>) outs(%3 : tensor<2x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = math.rsqrt %in : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x1xf32>
    %102 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%101, %100 : tensor<2x32x1xf32>, tensor<2x32x1xf32>) outs(%3 : tensor<2x32x1xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.divf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x1xf32>
    %103 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_9 : tensor<f32>) outs(%3 : tensor<2x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x1xf32>
    %104 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%103, %102 : tensor<2x32x1xf32>, tensor<2x32x1xf32>) outs(%3 : tensor<2x32x1xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x1xf32>
    %105 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%101 : tensor<2x32x1xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x64xf32>
    %106 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93, %105 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %107 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg8 : tensor<64xf32>) outs(%19 : tensor<1x1x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x64xf32>
    %108 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%107 : tensor<1x1x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x64xf32>
    %109 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%106, %108 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %110 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg9 : tensor<64xf32>) outs(%19 : tensor<1x1x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x64xf32>
    %111 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%110 : tensor<1x1x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x64xf32>
    %112 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%109, %111 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.addf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %113 = tensor.empty() : tensor<2x32x256xf32>
    %114 = linalg.fill ins(%cst_19 : f32) outs(%113 : tensor<2x32x256xf32>) -> tensor<2x32x256xf32>
    %115 = linalg.generic {indexing_maps = [#map6, #map7, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%112, %arg10 : tensor<2x32x64xf32>, tensor<64x256xf32>) outs(%114 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      %284 = arith.addf %out, %283 : f32
      linalg.yield %284 : f32
    } -> tensor<2x32x256xf32>
    %116 = tensor.empty() : tensor<1x1x256xf32>
    %117 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg11 : tensor<256xf32>) outs(%116 : tensor<1x1x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x256xf32>
    %118 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%117 : tensor<1x1x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x256xf32>
    %119 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%115, %118 : tensor<2x32x256xf32>, tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.addf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %120 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%119, %119 : tensor<2x32x256xf32>, tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %121 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%120, %119 : tensor<2x32x256xf32>, tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %122 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_8 : tensor<f32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x256xf32>
    %123 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%122, %120 : tensor<2x32x256xf32>, tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %124 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_7 : tensor<f32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x256xf32>
    %125 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%124, %121 : tensor<2x32x256xf32>, tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %126 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%119, %125 : tensor<2x32x256xf32>, tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.addf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %127 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_6 : tensor<f32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x256xf32>
    %128 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%127, %126 : tensor<2x32x256xf32>, tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %129 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%128 : tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = math.tanh %in : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %130 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_11 : tensor<f32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x256xf32>
    %131 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%130, %129 : tensor<2x32x256xf32>, tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.subf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %132 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%130, %129 : tensor<2x32x256xf32>, tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.addf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %133 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_5 : tensor<f32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x256xf32>
    %134 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%133, %132 : tensor<2x32x256xf32>, tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %135 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%119, %134 : tensor<2x32x256xf32>, tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %136 = linalg.generic {indexing_maps = [#map6, #map7, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%135, %arg12 : tensor<2x32x256xf32>, tensor<256x64xf32>) outs(%83 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      %284 = arith.addf %out, %283 : f32
      linalg.yield %284 : f32
    } -> tensor<2x32x64xf32>
    %137 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%88, %136 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.addf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %138 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg13 : tensor<64xf32>) outs(%19 : tensor<1x1x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x64xf32>
    %139 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%138 : tensor<1x1x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x64xf32>
    %140 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%137, %139 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.addf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %141 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%140, %arg1 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.subf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %142 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%141, %141 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %143 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95, %141 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %144 = linalg.fill ins(%cst_19 : f32) outs(%42 : tensor<f32>) -> tensor<f32>
    %145 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["reduction", "reduction", "reduction"]} ins(%142 : tensor<2x32x64xf32>) outs(%144 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<f32>
    %146 = linalg.generic {indexing_maps = [#map15, #map15], iterator_types = []} ins(%145 : tensor<f32>) outs(%42 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.divf %in, %cst_1 : f32
      linalg.yield %283 : f32
    } -> tensor<f32>
    %147 = linalg.generic {indexing_maps = [#map15], iterator_types = []} outs(%42 : tensor<f32>) {
    ^bb0(%out: f32):
      linalg.yield %cst : f32
    } -> tensor<f32>
    %148 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%147 : tensor<f32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x64xf32>
    %149 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%148, %143 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %150 = tensor.empty() : tensor<64xf32>
    %151 = linalg.fill ins(%cst_19 : f32) outs(%150 : tensor<64xf32>) -> tensor<64xf32>
    %152 = linalg.generic {indexing_maps = [#map21, #map22], iterator_types = ["parallel", "reduction", "reduction"]} ins(%149 : tensor<2x32x64xf32>) outs(%151 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %expanded_24 = tensor.expand_shape %152 [[0, 1, 2]] output_shape [1, 1, 64] : tensor<64xf32> into tensor<1x1x64xf32>
    %153 = linalg.generic {indexing_maps = [#map21, #map22], iterator_types = ["parallel", "reduction", "reduction"]} ins(%expanded_24 : tensor<1x1x64xf32>) outs(%151 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %154 = tensor.empty() : tensor<64x256xf32>
    %155 = linalg.fill ins(%cst_19 : f32) outs(%154 : tensor<64x256xf32>) -> tensor<64x256xf32>
    %156 = linalg.generic {indexing_maps = [#map23, #map24, #map25], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%149, %135 : tensor<2x32x64xf32>, tensor<2x32x256xf32>) outs(%155 : tensor<64x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      %284 = arith.addf %out, %283 : f32
      linalg.yield %284 : f32
    } -> tensor<64x256xf32>
    %157 = tensor.empty() : tensor<256x64xf32>
    %158 = linalg.generic {indexing_maps = [#map26, #map18], iterator_types = ["parallel", "parallel"]} ins(%156 : tensor<64x256xf32>) outs(%157 : tensor<256x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<256x64xf32>
    %159 = linalg.generic {indexing_maps = [#map6, #map19, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%149, %arg12 : tensor<2x32x64xf32>, tensor<256x64xf32>) outs(%114 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      %284 = arith.addf %out, %283 : f32
      linalg.yield %284 : f32
    } -> tensor<2x32x256xf32>
    %160 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%119, %159 : tensor<2x32x256xf32>, tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %161 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%159, %134 : tensor<2x32x256xf32>, tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %162 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%133, %160 : tensor<2x32x256xf32>, tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %163 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%162, %131 : tensor<2x32x256xf32>, tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %164 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%163, %129 : tensor<2x32x256xf32>, tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %165 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%163, %164 : tensor<2x32x256xf32>, tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.addf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %166 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%127, %165 : tensor<2x32x256xf32>, tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %167 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%161, %166 : tensor<2x32x256xf32>, tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.addf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %168 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%124, %166 : tensor<2x32x256xf32>, tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %169 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%168, %123 : tensor<2x32x256xf32>, tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %170 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%167, %169 : tensor<2x32x256xf32>, tensor<2x32x256xf32>) outs(%113 : tensor<2x32x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.addf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x256xf32>
    %171 = tensor.empty() : tensor<256xf32>
    %172 = linalg.fill ins(%cst_19 : f32) outs(%171 : tensor<256xf32>) -> tensor<256xf32>
    %173 = linalg.generic {indexing_maps = [#map21, #map22], iterator_types = ["parallel", "reduction", "reduction"]} ins(%170 : tensor<2x32x256xf32>) outs(%172 : tensor<256xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<256xf32>
    %expanded_25 = tensor.expand_shape %173 [[0, 1, 2]] output_shape [1, 1, 256] : tensor<256xf32> into tensor<1x1x256xf32>
    %174 = linalg.generic {indexing_maps = [#map21, #map22], iterator_types = ["parallel", "reduction", "reduction"]} ins(%expanded_25 : tensor<1x1x256xf32>) outs(%172 : tensor<256xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<256xf32>
    %175 = linalg.fill ins(%cst_19 : f32) outs(%157 : tensor<256x64xf32>) -> tensor<256x64xf32>
    %176 = linalg.generic {indexing_maps = [#map23, #map24, #map25], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%170, %112 : tensor<2x32x256xf32>, tensor<2x32x64xf32>) outs(%175 : tensor<256x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      %284 = arith.addf %out, %283 : f32
      linalg.yield %284 : f32
    } -> tensor<256x64xf32>
    %177 = linalg.generic {indexing_maps = [#map26, #map18], iterator_types = ["parallel", "parallel"]} ins(%176 : tensor<256x64xf32>) outs(%154 : tensor<64x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<64x256xf32>
    %178 = linalg.generic {indexing_maps = [#map6, #map19, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%170, %arg10 : tensor<2x32x256xf32>, tensor<64x256xf32>) outs(%83 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      %284 = arith.addf %out, %283 : f32
      linalg.yield %284 : f32
    } -> tensor<2x32x64xf32>
    %179 = linalg.generic {indexing_maps = [#map21, #map22], iterator_types = ["parallel", "reduction", "reduction"]} ins(%178 : tensor<2x32x64xf32>) outs(%151 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %expanded_26 = tensor.expand_shape %179 [[0, 1, 2]] output_shape [1, 1, 64] : tensor<64xf32> into tensor<1x1x64xf32>
    %180 = linalg.generic {indexing_maps = [#map21, #map22], iterator_types = ["parallel", "reduction", "reduction"]} ins(%expanded_26 : tensor<1x1x64xf32>) outs(%151 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %181 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%106, %178 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %182 = linalg.generic {indexing_maps = [#map21, #map22], iterator_types = ["parallel", "reduction", "reduction"]} ins(%181 : tensor<2x32x64xf32>) outs(%151 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %expanded_27 = tensor.expand_shape %182 [[0, 1, 2]] output_shape [1, 1, 64] : tensor<64xf32> into tensor<1x1x64xf32>
    %183 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%178, %108 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %184 = linalg.generic {indexing_maps = [#map21, #map22], iterator_types = ["parallel", "reduction", "reduction"]} ins(%expanded_27 : tensor<1x1x64xf32>) outs(%151 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %185 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93, %183 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %186 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%185 : tensor<2x32x64xf32>) outs(%1 : tensor<2x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<2x32xf32>
    %expanded_28 = tensor.expand_shape %186 [[0], [1, 2]] output_shape [2, 32, 1] : tensor<2x32xf32> into tensor<2x32x1xf32>
    %187 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%183, %105 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %188 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_28, %104 : tensor<2x32x1xf32>, tensor<2x32x1xf32>) outs(%3 : tensor<2x32x1xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x1xf32>
    %189 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%187 : tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.negf %in : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %190 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%189 : tensor<2x32x64xf32>) outs(%1 : tensor<2x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<2x32xf32>
    %expanded_29 = tensor.expand_shape %190 [[0], [1, 2]] output_shape [2, 32, 1] : tensor<2x32xf32> into tensor<2x32x1xf32>
    %191 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%149, %187 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.addf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %192 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%188, %5 : tensor<2x32x1xf32>, tensor<2x32x1xf32>) outs(%3 : tensor<2x32x1xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.divf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x1xf32>
    %193 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%192 : tensor<2x32x1xf32>) outs(%1 : tensor<2x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<2x32xf32>
    %194 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%193 : tensor<2x32xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x64xf32>
    %195 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%194, %96 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %196 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%195 : tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.negf %in : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %197 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%196 : tensor<2x32x64xf32>) outs(%1 : tensor<2x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<2x32xf32>
    %expanded_30 = tensor.expand_shape %197 [[0], [1, 2]] output_shape [2, 32, 1] : tensor<2x32xf32> into tensor<2x32x1xf32>
    %198 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%191, %195 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.addf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %199 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_29, %expanded_30 : tensor<2x32x1xf32>, tensor<2x32x1xf32>) outs(%3 : tensor<2x32x1xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.addf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x1xf32>
    %200 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%199, %5 : tensor<2x32x1xf32>, tensor<2x32x1xf32>) outs(%3 : tensor<2x32x1xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.divf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x1xf32>
    %201 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%200 : tensor<2x32x1xf32>) outs(%1 : tensor<2x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<2x32xf32>
    %202 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%201 : tensor<2x32xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x64xf32>
    %203 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%198, %202 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.addf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %204 = linalg.generic {indexing_maps = [#map21, #map22], iterator_types = ["parallel", "reduction", "reduction"]} ins(%203 : tensor<2x32x64xf32>) outs(%151 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %expanded_31 = tensor.expand_shape %204 [[0, 1, 2]] output_shape [1, 1, 64] : tensor<64xf32> into tensor<1x1x64xf32>
    %205 = linalg.generic {indexing_maps = [#map21, #map22], iterator_types = ["parallel", "reduction", "reduction"]} ins(%expanded_31 : tensor<1x1x64xf32>) outs(%151 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %206 = tensor.empty() : tensor<64x64xf32>
    %207 = linalg.fill ins(%cst_19 : f32) outs(%206 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %208 = linalg.generic {indexing_maps = [#map23, #map24, #map25], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%203, %collapsed : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%207 : tensor<64x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      %284 = arith.addf %out, %283 : f32
      linalg.yield %284 : f32
    } -> tensor<64x64xf32>
    %209 = linalg.generic {indexing_maps = [#map26, #map18], iterator_types = ["parallel", "parallel"]} ins(%208 : tensor<64x64xf32>) outs(%206 : tensor<64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<64x64xf32>
    %210 = linalg.generic {indexing_maps = [#map6, #map19, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%203, %arg6 : tensor<2x32x64xf32>, tensor<64x64xf32>) outs(%83 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      %284 = arith.addf %out, %283 : f32
      linalg.yield %284 : f32
    } -> tensor<2x32x64xf32>
    %expanded_32 = tensor.expand_shape %210 [[0], [1], [2, 3]] output_shape [2, 32, 4, 16] : tensor<2x32x64xf32> into tensor<2x32x4x16xf32>
    %211 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_32 : tensor<2x32x4x16xf32>) outs(%33 : tensor<2x4x32x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x32x16xf32>
    %212 = linalg.fill ins(%cst_19 : f32) outs(%37 : tensor<2x4x16x32xf32>) -> tensor<2x4x16x32xf32>
    %213 = linalg.generic {indexing_maps = [#map27, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%211, %75 : tensor<2x4x32x16xf32>, tensor<2x4x32x32xf32>) outs(%212 : tensor<2x4x16x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      %284 = arith.addf %out, %283 : f32
      linalg.yield %284 : f32
    } -> tensor<2x4x16x32xf32>
    %214 = linalg.generic {indexing_maps = [#map11, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%213 : tensor<2x4x16x32xf32>) outs(%33 : tensor<2x4x32x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x32x16xf32>
    %215 = linalg.generic {indexing_maps = [#map12, #map28, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%211, %36 : tensor<2x4x32x16xf32>, tensor<2x4x32x16xf32>) outs(%40 : tensor<2x4x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      %284 = arith.addf %out, %283 : f32
      linalg.yield %284 : f32
    } -> tensor<2x4x32x32xf32>
    %216 = linalg.generic {indexing_maps = [#map20, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%78 : tensor<2x4x32x1xf32>) outs(%39 : tensor<2x4x32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x32x32xf32>
    %217 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%215, %216 : tensor<2x4x32x32xf32>, tensor<2x4x32x32xf32>) outs(%39 : tensor<2x4x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x4x32x32xf32>
    %218 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%217, %70 : tensor<2x4x32x32xf32>, tensor<2x4x32x32xf32>) outs(%39 : tensor<2x4x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x4x32x32xf32>
    %219 = linalg.generic {indexing_maps = [#map10, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%218 : tensor<2x4x32x32xf32>) outs(%71 : tensor<2x4x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<2x4x32xf32>
    %expanded_33 = tensor.expand_shape %219 [[0], [1], [2, 3]] output_shape [2, 4, 32, 1] : tensor<2x4x32xf32> into tensor<2x4x32x1xf32>
    %220 = linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_33 : tensor<2x4x32x1xf32>) outs(%66 : tensor<2x4x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.negf %in : f32
      linalg.yield %283 : f32
    } -> tensor<2x4x32x1xf32>
    %221 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%215, %74 : tensor<2x4x32x32xf32>, tensor<2x4x32x32xf32>) outs(%39 : tensor<2x4x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.divf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x4x32x32xf32>
    %222 = linalg.generic {indexing_maps = [#map10, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%220 : tensor<2x4x32x1xf32>) outs(%71 : tensor<2x4x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<2x4x32xf32>
    %223 = linalg.generic {indexing_maps = [#map8, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%222 : tensor<2x4x32xf32>) outs(%39 : tensor<2x4x32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x32x32xf32>
    %224 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%221, %223 : tensor<2x4x32x32xf32>, tensor<2x4x32x32xf32>) outs(%39 : tensor<2x4x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.addf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x4x32x32xf32>
    %225 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%224, %70 : tensor<2x4x32x32xf32>, tensor<2x4x32x32xf32>) outs(%39 : tensor<2x4x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x4x32x32xf32>
    %226 = linalg.generic {indexing_maps = [#map16, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_18 : tensor<f32>) outs(%39 : tensor<2x4x32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x32x32xf32>
    %227 = linalg.generic {indexing_maps = [#map10, #map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%58, %225, %226 : tensor<2x4x32x32xi1>, tensor<2x4x32x32xf32>, tensor<2x4x32x32xf32>) outs(%39 : tensor<2x4x32x32xf32>) {
    ^bb0(%in: i1, %in_40: f32, %in_41: f32, %out: f32):
      %283 = arith.select %in, %in_40, %in_41 : f32
      linalg.yield %283 : f32
    } -> tensor<2x4x32x32xf32>
    %228 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%227, %44 : tensor<2x4x32x32xf32>, tensor<2x4x32x32xf32>) outs(%39 : tensor<2x4x32x32xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.divf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x4x32x32xf32>
    %229 = linalg.generic {indexing_maps = [#map27, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%228, %34 : tensor<2x4x32x32xf32>, tensor<2x4x32x16xf32>) outs(%79 : tensor<2x4x32x16xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      %284 = arith.addf %out, %283 : f32
      linalg.yield %284 : f32
    } -> tensor<2x4x32x16xf32>
    %230 = linalg.generic {indexing_maps = [#map11, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%229 : tensor<2x4x32x16xf32>) outs(%37 : tensor<2x4x16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x16x32xf32>
    %231 = linalg.generic {indexing_maps = [#map12, #map28, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%228, %38 : tensor<2x4x32x32xf32>, tensor<2x4x16x32xf32>) outs(%79 : tensor<2x4x32x16xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      %284 = arith.addf %out, %283 : f32
      linalg.yield %284 : f32
    } -> tensor<2x4x32x16xf32>
    %232 = linalg.generic {indexing_maps = [#map11, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%230 : tensor<2x4x16x32xf32>) outs(%33 : tensor<2x4x32x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x4x32x16xf32>
    %233 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%214 : tensor<2x4x32x16xf32>) outs(%81 : tensor<2x32x4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x4x16xf32>
    %collapsed_34 = tensor.collapse_shape %233 [[0], [1], [2, 3]] : tensor<2x32x4x16xf32> into tensor<2x32x64xf32>
    %234 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%232 : tensor<2x4x32x16xf32>) outs(%81 : tensor<2x32x4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x4x16xf32>
    %collapsed_35 = tensor.collapse_shape %234 [[0], [1], [2, 3]] : tensor<2x32x4x16xf32> into tensor<2x32x64xf32>
    %235 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%231 : tensor<2x4x32x16xf32>) outs(%81 : tensor<2x32x4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x32x4x16xf32>
    %collapsed_36 = tensor.collapse_shape %235 [[0], [1], [2, 3]] : tensor<2x32x4x16xf32> into tensor<2x32x64xf32>
    %236 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel"]} outs(%26 : tensor<2x32x192xf32>) {
    ^bb0(%out: f32):
      %283 = linalg.index 0 : index
      %284 = linalg.index 1 : index
      %285 = linalg.index 2 : index
      %286 = arith.cmpi ult, %285, %c64 : index
      %287 = scf.if %286 -> (f32) {
        %extracted = tensor.extract %collapsed_36[%283, %284, %285] : tensor<2x32x64xf32>
        scf.yield %extracted : f32
      } else {
        %288 = arith.cmpi ult, %285, %c128 : index
        %289 = scf.if %288 -> (f32) {
          %290 = arith.subi %285, %c64 : index
          %extracted = tensor.extract %collapsed_35[%283, %284, %290] : tensor<2x32x64xf32>
          scf.yield %extracted : f32
        } else {
          %290 = arith.subi %285, %c128 : index
          %extracted = tensor.extract %collapsed_34[%283, %284, %290] : tensor<2x32x64xf32>
          scf.yield %extracted : f32
        }
        scf.yield %289 : f32
      }
      linalg.yield %287 : f32
    } -> tensor<2x32x192xf32>
    %237 = tensor.empty() : tensor<192xf32>
    %238 = linalg.fill ins(%cst_19 : f32) outs(%237 : tensor<192xf32>) -> tensor<192xf32>
    %239 = linalg.generic {indexing_maps = [#map21, #map22], iterator_types = ["parallel", "reduction", "reduction"]} ins(%236 : tensor<2x32x192xf32>) outs(%238 : tensor<192xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<192xf32>
    %expanded_37 = tensor.expand_shape %239 [[0, 1, 2]] output_shape [1, 1, 192] : tensor<192xf32> into tensor<1x1x192xf32>
    %240 = linalg.generic {indexing_maps = [#map21, #map22], iterator_types = ["parallel", "reduction", "reduction"]} ins(%expanded_37 : tensor<1x1x192xf32>) outs(%238 : tensor<192xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<192xf32>
    %241 = tensor.empty() : tensor<192x64xf32>
    %242 = linalg.fill ins(%cst_19 : f32) outs(%241 : tensor<192x64xf32>) -> tensor<192x64xf32>
    %243 = linalg.generic {indexing_maps = [#map23, #map24, #map25], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%236, %25 : tensor<2x32x192xf32>, tensor<2x32x64xf32>) outs(%242 : tensor<192x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      %284 = arith.addf %out, %283 : f32
      linalg.yield %284 : f32
    } -> tensor<192x64xf32>
    %244 = tensor.empty() : tensor<64x192xf32>
    %245 = linalg.generic {indexing_maps = [#map26, #map18], iterator_types = ["parallel", "parallel"]} ins(%243 : tensor<192x64xf32>) outs(%244 : tensor<64x192xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<64x192xf32>
    %246 = linalg.generic {indexing_maps = [#map6, #map19, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%236, %arg4 : tensor<2x32x192xf32>, tensor<64x192xf32>) outs(%83 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      %284 = arith.addf %out, %283 : f32
      linalg.yield %284 : f32
    } -> tensor<2x32x64xf32>
    %247 = linalg.generic {indexing_maps = [#map21, #map22], iterator_types = ["parallel", "reduction", "reduction"]} ins(%246 : tensor<2x32x64xf32>) outs(%151 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %expanded_38 = tensor.expand_shape %247 [[0, 1, 2]] output_shape [1, 1, 64] : tensor<64xf32> into tensor<1x1x64xf32>
    %248 = linalg.generic {indexing_maps = [#map21, #map22], iterator_types = ["parallel", "reduction", "reduction"]} ins(%expanded_38 : tensor<1x1x64xf32>) outs(%151 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %249 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18, %246 : tensor<2x32x64xf32>, tensor<2x32x64xf32>) outs(%7 : tensor<2x32x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<2x32x64xf32>
    %250 = linalg.generic {indexing_maps = [#map21, #map22], iterator_types = ["parallel", "reduction", "reduction"]} ins(%249 : tensor<2x32x64xf32>) outs(%151 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %expanded_39 = tensor.expand_shape %250 [[0, 1, 2]] output_shape [1, 1, 64] : tensor<64xf32> into tensor<1x1x64xf32>
    %251 = linalg.generic {indexing_maps = [#map21, #map22], iterator_types = ["parallel", "reduction", "reduction"]} ins(%expanded_39 : tensor<1x1x64xf32>) outs(%151 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %283 = arith.addf %out, %in : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %252 = linalg.generic {indexing_maps = [#map29, #map30], iterator_types = ["parallel"]} ins(%cst_4 : tensor<f32>) outs(%150 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<64xf32>
    %253 = linalg.generic {indexing_maps = [#map30, #map30, #map30], iterator_types = ["parallel"]} ins(%252, %251 : tensor<64xf32>, tensor<64xf32>) outs(%150 : tensor<64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %254 = linalg.generic {indexing_maps = [#map30, #map30, #map30], iterator_types = ["parallel"]} ins(%arg2, %253 : tensor<64xf32>, tensor<64xf32>) outs(%150 : tensor<64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.subf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %255 = linalg.generic {indexing_maps = [#map30, #map30, #map30], iterator_types = ["parallel"]} ins(%252, %248 : tensor<64xf32>, tensor<64xf32>) outs(%150 : tensor<64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %256 = linalg.generic {indexing_maps = [#map30, #map30, #map30], iterator_types = ["parallel"]} ins(%arg3, %255 : tensor<64xf32>, tensor<64xf32>) outs(%150 : tensor<64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.subf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %257 = linalg.generic {indexing_maps = [#map17, #map18], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%244 : tensor<64x192xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<64x192xf32>
    %258 = linalg.generic {indexing_maps = [#map18, #map18, #map18], iterator_types = ["parallel", "parallel"]} ins(%257, %245 : tensor<64x192xf32>, tensor<64x192xf32>) outs(%244 : tensor<64x192xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<64x192xf32>
    %259 = linalg.generic {indexing_maps = [#map18, #map18, #map18], iterator_types = ["parallel", "parallel"]} ins(%arg4, %258 : tensor<64x192xf32>, tensor<64x192xf32>) outs(%244 : tensor<64x192xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.subf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<64x192xf32>
    %260 = linalg.generic {indexing_maps = [#map29, #map30], iterator_types = ["parallel"]} ins(%cst_4 : tensor<f32>) outs(%237 : tensor<192xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<192xf32>
    %261 = linalg.generic {indexing_maps = [#map30, #map30, #map30], iterator_types = ["parallel"]} ins(%260, %240 : tensor<192xf32>, tensor<192xf32>) outs(%237 : tensor<192xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<192xf32>
    %262 = linalg.generic {indexing_maps = [#map30, #map30, #map30], iterator_types = ["parallel"]} ins(%arg5, %261 : tensor<192xf32>, tensor<192xf32>) outs(%237 : tensor<192xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.subf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<192xf32>
    %263 = linalg.generic {indexing_maps = [#map17, #map18], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%206 : tensor<64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<64x64xf32>
    %264 = linalg.generic {indexing_maps = [#map18, #map18, #map18], iterator_types = ["parallel", "parallel"]} ins(%263, %209 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%206 : tensor<64x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<64x64xf32>
    %265 = linalg.generic {indexing_maps = [#map18, #map18, #map18], iterator_types = ["parallel", "parallel"]} ins(%arg6, %264 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%206 : tensor<64x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.subf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<64x64xf32>
    %266 = linalg.generic {indexing_maps = [#map30, #map30, #map30], iterator_types = ["parallel"]} ins(%252, %205 : tensor<64xf32>, tensor<64xf32>) outs(%150 : tensor<64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %267 = linalg.generic {indexing_maps = [#map30, #map30, #map30], iterator_types = ["parallel"]} ins(%arg7, %266 : tensor<64xf32>, tensor<64xf32>) outs(%150 : tensor<64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.subf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %268 = linalg.generic {indexing_maps = [#map30, #map30, #map30], iterator_types = ["parallel"]} ins(%252, %184 : tensor<64xf32>, tensor<64xf32>) outs(%150 : tensor<64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %269 = linalg.generic {indexing_maps = [#map30, #map30, #map30], iterator_types = ["parallel"]} ins(%arg8, %268 : tensor<64xf32>, tensor<64xf32>) outs(%150 : tensor<64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.subf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %270 = linalg.generic {indexing_maps = [#map30, #map30, #map30], iterator_types = ["parallel"]} ins(%252, %180 : tensor<64xf32>, tensor<64xf32>) outs(%150 : tensor<64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %271 = linalg.generic {indexing_maps = [#map30, #map30, #map30], iterator_types = ["parallel"]} ins(%arg9, %270 : tensor<64xf32>, tensor<64xf32>) outs(%150 : tensor<64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.subf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %272 = linalg.generic {indexing_maps = [#map17, #map18], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%154 : tensor<64x256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<64x256xf32>
    %273 = linalg.generic {indexing_maps = [#map18, #map18, #map18], iterator_types = ["parallel", "parallel"]} ins(%272, %177 : tensor<64x256xf32>, tensor<64x256xf32>) outs(%154 : tensor<64x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<64x256xf32>
    %274 = linalg.generic {indexing_maps = [#map18, #map18, #map18], iterator_types = ["parallel", "parallel"]} ins(%arg10, %273 : tensor<64x256xf32>, tensor<64x256xf32>) outs(%154 : tensor<64x256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.subf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<64x256xf32>
    %275 = linalg.generic {indexing_maps = [#map29, #map30], iterator_types = ["parallel"]} ins(%cst_4 : tensor<f32>) outs(%171 : tensor<256xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<256xf32>
    %276 = linalg.generic {indexing_maps = [#map30, #map30, #map30], iterator_types = ["parallel"]} ins(%275, %174 : tensor<256xf32>, tensor<256xf32>) outs(%171 : tensor<256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<256xf32>
    %277 = linalg.generic {indexing_maps = [#map30, #map30, #map30], iterator_types = ["parallel"]} ins(%arg11, %276 : tensor<256xf32>, tensor<256xf32>) outs(%171 : tensor<256xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.subf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<256xf32>
    %278 = linalg.generic {indexing_maps = [#map17, #map18], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%157 : tensor<256x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<256x64xf32>
    %279 = linalg.generic {indexing_maps = [#map18, #map18, #map18], iterator_types = ["parallel", "parallel"]} ins(%278, %158 : tensor<256x64xf32>, tensor<256x64xf32>) outs(%157 : tensor<256x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<256x64xf32>
    %280 = linalg.generic {indexing_maps = [#map18, #map18, #map18], iterator_types = ["parallel", "parallel"]} ins(%arg12, %279 : tensor<256x64xf32>, tensor<256x64xf32>) outs(%157 : tensor<256x64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.subf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<256x64xf32>
    %281 = linalg.generic {indexing_maps = [#map30, #map30, #map30], iterator_types = ["parallel"]} ins(%252, %153 : tensor<64xf32>, tensor<64xf32>) outs(%150 : tensor<64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.mulf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    %282 = linalg.generic {indexing_maps = [#map30, #map30, #map30], iterator_types = ["parallel"]} ins(%arg13, %281 : tensor<64xf32>, tensor<64xf32>) outs(%150 : tensor<64xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %283 = arith.subf %in, %in_40 : f32
      linalg.yield %283 : f32
    } -> tensor<64xf32>
    return %146, %254, %256, %259, %262, %265, %267, %269, %271, %274, %277, %280, %282 : tensor<f32>, tensor<64xf32>, tensor<64xf32>, tensor<64x192xf32>, tensor<192xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x256xf32>, tensor<256xf32>, tensor<256x64xf32>, tensor<64xf32>
  }
}
