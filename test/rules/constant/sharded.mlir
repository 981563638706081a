// Constants that the plan splits are arguments: each rank gets its shard. Several users want different layouts; one is in a loop, one in a function that is called twice, one is a splat.
// N ranks are compared with one, which keeps constants in the program, and with the evaluator. 7 rows and 10 columns leave uneven shards.
// RUN: shard-run %s --mesh 4x1 --shard-constants 32B | FileCheck %s
// RUN: shard-run %s --mesh 2x2 --shard-constants 32B | FileCheck %s
// RUN: shard-run %s --mesh 3x2 --shard-constants 0B | FileCheck %s
// RUN: shard-run %s --mesh 1x3 --shard-constants 32B --launch=processes | FileCheck %s
// RUN: shard-run %s --mesh 2x2 --shard-constants 32B --strategy follow | FileCheck %s
// RUN: shard-run %s --mesh 2x2 --shard-constants never | FileCheck %s
// RUN: shard-run %s --mesh 8x1 --shard-constants never | FileCheck %s
// CHECK: verified

shard.grid @mesh(shape = 4x1) {tp.axes = ["x", "y"]}
func.func private @scaled(%v: tensor<7x10xf32>) -> tensor<7x10xf32> {
  %c = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0], [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 1.0],
                             [3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 1.0, 2.0], [4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 1.0, 2.0, 3.0],
                             [5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 1.0, 2.0, 3.0, 4.0], [6.0, 7.0, 8.0, 9.0, 10.0, 1.0, 2.0, 3.0, 4.0, 5.0],
                             [7.0, 8.0, 9.0, 10.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]> : tensor<7x10xf32>
  %r = arith.mulf %v, %c : tensor<7x10xf32>
  return %r : tensor<7x10xf32>
}
func.func @main(%a: tensor<7x10xf32> {tp.sharding = [["x"], ["y"]]}, %b: tensor<7x10xf32> {tp.sharding = [["y"], ["x"]]})
    -> (tensor<7x10xf32> {tp.sharding = [["x"], ["y"]]}, tensor<7x10xf32> {tp.sharding = [["y"], ["x"]]}, tensor<7x7xf32> {tp.sharding = [["x"], []]},
        tensor<7x10xbf16> {tp.sharding = [["x"], []]}, tensor<7x10xi1> {tp.sharding = [[], ["x"]]}, tensor<7x10xi8> {tp.sharding = [["x", "y"], []]}) {
  %w = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0], [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 1.0],
                             [3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 1.0, 2.0], [4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 1.0, 2.0, 3.0],
                             [5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 1.0, 2.0, 3.0, 4.0], [6.0, 7.0, 8.0, 9.0, 10.0, 1.0, 2.0, 3.0, 4.0, 5.0],
                             [7.0, 8.0, 9.0, 10.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]> : tensor<7x10xf32>
  %halves = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0], [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 1.0],
                             [3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 1.0, 2.0], [4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 1.0, 2.0, 3.0],
                             [5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 1.0, 2.0, 3.0, 4.0], [6.0, 7.0, 8.0, 9.0, 10.0, 1.0, 2.0, 3.0, 4.0, 5.0],
                             [7.0, 8.0, 9.0, 10.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]> : tensor<7x10xbf16>
  %truths = arith.constant dense_resource<truths> : tensor<7x10xi1>
  %bits = arith.constant dense<[[true, false, true, true, false, true, false, false, true, true], [false, false, true, true, false, true, false, false, true, true],
                                [true, true, true, true, false, true, false, false, true, true], [true, false, false, true, false, true, false, false, true, true],
                                [true, false, true, false, false, true, false, false, true, true], [true, false, true, true, true, true, false, false, true, true],
                                [true, false, true, true, false, false, false, false, true, true]]> : tensor<7x10xi1>
  %bytes = arith.constant dense<[[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [2, 3, 4, 5, 6, 7, 8, 9, 10, -1], [3, 4, 5, 6, 7, 8, 9, 10, 1, 2], [4, 5, 6, 7, 8, 9, 10, 1, 2, 3],
                                 [5, 6, 7, 8, 9, 10, 1, 2, 3, 4], [6, 7, 8, 9, 10, -128, 2, 3, 4, 5], [7, 8, 9, 10, 1, 2, 3, 4, 5, 127]]> : tensor<7x10xi8>
  %splat = arith.constant dense<0.5> : tensor<7x10xf32>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %p = call @scaled(%a) : (tensor<7x10xf32>) -> tensor<7x10xf32>
  %q = call @scaled(%b) : (tensor<7x10xf32>) -> tensor<7x10xf32>
  %r = scf.for %i = %zero to %three step %one iter_args(%sum = %p) -> tensor<7x10xf32> {
    %inside = arith.constant dense<[[0.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0], [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 1.0],
                             [3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 1.0, 2.0], [4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 1.0, 2.0, 3.0],
                             [5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 1.0, 2.0, 3.0, 4.0], [6.0, 7.0, 8.0, 9.0, 10.0, 1.0, 2.0, 3.0, 4.0, 5.0],
                             [7.0, 8.0, 9.0, 10.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]> : tensor<7x10xf32>
    %half = arith.mulf %sum, %splat : tensor<7x10xf32>
    %next = arith.addf %half, %inside : tensor<7x10xf32>
    scf.yield %next : tensor<7x10xf32>
  }
  %empty = tensor.empty() : tensor<7x7xf32>
  %none = arith.constant 0.0 : f32
  %start = linalg.fill ins(%none : f32) outs(%empty : tensor<7x7xf32>) -> tensor<7x7xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%b, %w : tensor<7x10xf32>, tensor<7x10xf32>) outs(%start : tensor<7x7xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %t = arith.mulf %u, %v : f32
    %n = arith.addf %s, %t : f32
    linalg.yield %n : f32
  } -> tensor<7x7xf32>
  %short = arith.truncf %a : tensor<7x10xf32> to tensor<7x10xbf16>
  %h = arith.mulf %short, %halves : tensor<7x10xbf16>
  %both = arith.xori %truths, %bits : tensor<7x10xi1>
  return %r, %q, %m, %h, %both, %bytes
      : tensor<7x10xf32>, tensor<7x10xf32>, tensor<7x7xf32>, tensor<7x10xbf16>, tensor<7x10xi1>, tensor<7x10xi8>
}

{-#
  dialect_resources: {
    builtin: {
      truths: "0x0100000001010001000000000101000100000000010100010000000100000000000000000101000000000101000101000001000101000100010101010100010100000100010100010101"
    }
  }
#-}
