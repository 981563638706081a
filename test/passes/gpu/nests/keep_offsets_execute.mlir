// A row of a table is read, and a row of a cache written, at a position that the program computes on
// the GPU: of three positions, the last is outside and clamped.
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so shard-run %s --function kept --target=cuda --mesh 1 --reference=evaluator | FileCheck %s --check-prefix=GRAPH
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so shard-run %s --function kept --target=cuda --mesh 2 --reference=evaluator | FileCheck %s --check-prefix=GRAPH
// GRAPH: graph: each call is one graph launch
// GRAPH: verified
#row = affine_map<(i, j) -> (i, j)>
#number = affine_map<() -> ()>
module {
  shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}

  func.func @at(%n: tensor<i32>, %row: tensor<1x32xf32>, %table: tensor<16x32xf32>, %cache: tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<1x32xf32>) {
    %c0 = arith.constant 0 : index
    %c15 = arith.constant 15 : index
    %i = tensor.extract %n[] : tensor<i32>
    %j = arith.index_cast %i : i32 to index
    %low = arith.maxsi %j, %c0 : index
    %p = arith.minsi %low, %c15 : index
    %angle = tensor.extract_slice %table[%p, 0] [1, 32] [1, 1] : tensor<16x32xf32> to tensor<1x32xf32>
    %new = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel", "parallel"]} ins(%row, %angle : tensor<1x32xf32>, tensor<1x32xf32>) outs(%row : tensor<1x32xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.mulf %a, %b : f32
      linalg.yield %m : f32
    } -> tensor<1x32xf32>
    %written = tensor.insert_slice %new into %cache[%p, 0] [1, 32] [1, 1] : tensor<1x32xf32> into tensor<16x32xf32>
    return %written, %new : tensor<16x32xf32>, tensor<1x32xf32>
  }

  func.func @kept(%row: tensor<1x32xf32> {tp.sharding = [[], ["tp"]]}, %table: tensor<16x32xf32>, %cache: tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) {
    %c5 = arith.constant dense<5> : tensor<i32>
    %empty = tensor.empty() : tensor<i32>
    %n = linalg.generic {indexing_maps = [#number, #number], iterator_types = []} ins(%c5 : tensor<i32>) outs(%empty : tensor<i32>) {
    ^bb0(%a: i32, %b: i32):
      %x = arith.addi %a, %a : i32
      linalg.yield %x : i32
    } -> tensor<i32>
    %far = linalg.generic {indexing_maps = [#number, #number], iterator_types = []} ins(%n : tensor<i32>) outs(%empty : tensor<i32>) {
    ^bb0(%a: i32, %b: i32):
      %x = arith.muli %a, %a : i32
      linalg.yield %x : i32
    } -> tensor<i32>
    %0:2 = func.call @at(%n, %row, %table, %cache) : (tensor<i32>, tensor<1x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<1x32xf32>)
    %1:2 = func.call @at(%c5, %0#1, %table, %0#0) : (tensor<i32>, tensor<1x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<1x32xf32>)
    %2:2 = func.call @at(%far, %1#1, %table, %1#0) : (tensor<i32>, tensor<1x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<1x32xf32>)
    return %0#0, %1#0, %2#0 : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>
  }
}
