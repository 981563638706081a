// Windows split by a part of an axis, by an axis and a part of another, and inside of a loop, unevenly by two parts: shards of 7, 6, 7 and 6.
// RUN: shard-run %s --mesh 2x4
// RUN: shard-run %s --mesh 2x4 --strategy follow --launch processes
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=2x4 strategy=follow})' | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: scf.for
// CHECK: call @tp.permute
// CHECK: linalg.generic
shard.grid @mesh(shape = 2x4) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<20x3xf32> {tp.sharding = [["y:(1)2"], []]}, %b: tensor<24x2000xi32> {tp.sharding = [["x", "y:(2)2"], []]},
                %c: tensor<26x512xf32> {tp.sharding = [["y"], []]})
    -> (tensor<18x3xf32>, tensor<24x2000xi32> {tp.sharding = [["x", "y:(2)2"], []]}, tensor<26x512xf32> {tp.sharding = [["y"], []]}) {
  %z = arith.constant 0.0 : f32
  %lb = arith.constant 0 : index
  %ub = arith.constant 5 : index
  %one = arith.constant 1 : index
  %w = tensor.empty() : tensor<3xf32>
  %e1 = tensor.empty() : tensor<18x3xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<18x3xf32>) -> tensor<18x3xf32>
  %1 = linalg.generic {tp.sharding = [[["y:(1)2"], []]], indexing_maps = [affine_map<(d0, d1, d2) -> (d0 + d2, d1)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<20x3xf32>, tensor<3xf32>) outs(%f1 : tensor<18x3xf32>) {
  ^bb0(%x: f32, %u: f32, %o: f32):
    %s = arith.addf %o, %x : f32
    linalg.yield %s : f32
  } -> tensor<18x3xf32>
  %e2 = tensor.empty() : tensor<24x2000xi32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (23 - d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<24x2000xi32>) outs(%e2 : tensor<24x2000xi32>) {
  ^bb0(%x: i32, %o: i32):
    linalg.yield %x : i32
  } -> tensor<24x2000xi32>
  // Rows change places and are added to those that were there.
  %3 = scf.for %i = %lb to %ub step %one iter_args(%v = %c) -> (tensor<26x512xf32>) {
    %e3 = tensor.empty() : tensor<26x512xf32>
    %n = linalg.generic {tp.sharding = [[["y"], []]], indexing_maps = [affine_map<(d0, d1) -> (25 - d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%v, %v : tensor<26x512xf32>, tensor<26x512xf32>) outs(%e3 : tensor<26x512xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
    } -> tensor<26x512xf32>
    scf.yield %n : tensor<26x512xf32>
  }
  return %1, %2, %3 : tensor<18x3xf32>, tensor<24x2000xi32>, tensor<26x512xf32>
}
