// Numbers that are elements of a tensor which the GPU computes: one is the position of a row, the other a summand. The host reads neither.
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so shard-run %s --function main --target=cuda --mesh 1 --reference=evaluator | FileCheck %s
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so shard-run %s --function main --target=cuda --mesh 2 --reference=evaluator | FileCheck %s
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so shard-run %s --function many --target=cuda --mesh 2 --reference=evaluator | FileCheck %s
// CHECK: graph: each call is one graph launch
// CHECK: verified
#id = affine_map<(i) -> (i)>
#row = affine_map<(i, j) -> (i, j)>
func.func @main(%row: tensor<1x32xf32> {tp.sharding = [[], ["tp"]]}, %cache: tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<1x32xf32>) {
  %c0 = arith.constant 0 : index
  %c15 = arith.constant 15 : index
  %given = arith.constant dense<[3, 5, 7, 9]> : tensor<4xi32>
  %e = tensor.empty() : tensor<4xi32>
  %numbers = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%given : tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%a: i32, %o: i32):
    %b = arith.addi %a, %a : i32
    linalg.yield %b : i32
  } -> tensor<4xi32>
  %s1 = tensor.extract_slice %numbers[1] [1] [1] : tensor<4xi32> to tensor<1xi32>
  %t1 = tensor.collapse_shape %s1 [] : tensor<1xi32> into tensor<i32>
  %n1 = tensor.extract %t1[] : tensor<i32>
  %i1 = arith.index_cast %n1 : i32 to index
  %low = arith.maxsi %i1, %c0 : index
  %p = arith.minsi %low, %c15 : index
  %s3 = tensor.extract_slice %numbers[3] [1] [1] : tensor<4xi32> to tensor<1xi32>
  %t3 = tensor.collapse_shape %s3 [] : tensor<1xi32> into tensor<i32>
  %n3 = tensor.extract %t3[] : tensor<i32>
  %er = tensor.empty() : tensor<1x32xf32>
  %new = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]} ins(%row : tensor<1x32xf32>) outs(%er : tensor<1x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %f = arith.sitofp %n3 : i32 to f32
    %b = arith.addf %a, %f : f32
    linalg.yield %b : f32
  } -> tensor<1x32xf32>
  %written = tensor.insert_slice %new into %cache[%p, 0] [1, 32] [1, 1] : tensor<1x32xf32> into tensor<16x32xf32>
  return %written, %new : tensor<16x32xf32>, tensor<1x32xf32>
}

// More numbers of one nest, as it has keys of random numbers.
func.func @many(%x: tensor<64xi32> {tp.sharding = [["tp"]]}, %given: tensor<8xi32>) -> tensor<64xi32> {
  %e = tensor.empty() : tensor<8xi32>
  %numbers = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%given : tensor<8xi32>) outs(%e : tensor<8xi32>) {
  ^bb0(%a: i32, %o: i32):
    %b = arith.addi %a, %a : i32
    linalg.yield %b : i32
  } -> tensor<8xi32>
  %s0 = tensor.extract_slice %numbers[0] [1] [1] : tensor<8xi32> to tensor<1xi32>
  %t0 = tensor.collapse_shape %s0 [] : tensor<1xi32> into tensor<i32>
  %n0 = tensor.extract %t0[] : tensor<i32>
  %s1 = tensor.extract_slice %numbers[1] [1] [1] : tensor<8xi32> to tensor<1xi32>
  %t1 = tensor.collapse_shape %s1 [] : tensor<1xi32> into tensor<i32>
  %n1 = tensor.extract %t1[] : tensor<i32>
  %s2 = tensor.extract_slice %numbers[2] [1] [1] : tensor<8xi32> to tensor<1xi32>
  %t2 = tensor.collapse_shape %s2 [] : tensor<1xi32> into tensor<i32>
  %n2 = tensor.extract %t2[] : tensor<i32>
  %s3 = tensor.extract_slice %numbers[3] [1] [1] : tensor<8xi32> to tensor<1xi32>
  %t3 = tensor.collapse_shape %s3 [] : tensor<1xi32> into tensor<i32>
  %n3 = tensor.extract %t3[] : tensor<i32>
  %s4 = tensor.extract_slice %numbers[4] [1] [1] : tensor<8xi32> to tensor<1xi32>
  %t4 = tensor.collapse_shape %s4 [] : tensor<1xi32> into tensor<i32>
  %n4 = tensor.extract %t4[] : tensor<i32>
  %s5 = tensor.extract_slice %numbers[5] [1] [1] : tensor<8xi32> to tensor<1xi32>
  %t5 = tensor.collapse_shape %s5 [] : tensor<1xi32> into tensor<i32>
  %n5 = tensor.extract %t5[] : tensor<i32>
  %s6 = tensor.extract_slice %numbers[6] [1] [1] : tensor<8xi32> to tensor<1xi32>
  %t6 = tensor.collapse_shape %s6 [] : tensor<1xi32> into tensor<i32>
  %n6 = tensor.extract %t6[] : tensor<i32>
  %ex = tensor.empty() : tensor<64xi32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xi32>) outs(%ex : tensor<64xi32>) {
  ^bb0(%b0: i32, %o: i32):
    %b1 = arith.muli %b0, %n0 : i32
    %b2 = arith.addi %b1, %n1 : i32
    %b3 = arith.muli %b2, %n2 : i32
    %b4 = arith.addi %b3, %n3 : i32
    %b5 = arith.muli %b4, %n4 : i32
    %b6 = arith.addi %b5, %n5 : i32
    %b7 = arith.muli %b6, %n6 : i32
    linalg.yield %b7 : i32
  } -> tensor<64xi32>
  return %y : tensor<64xi32>
}
