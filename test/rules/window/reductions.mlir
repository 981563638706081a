// Reductions over loops that read with strides or backwards: each device sums what it fetched, and what stands in padding is in no sum.
// RUN: shard-run %s --mesh x=2
// RUN: shard-run %s --mesh x=3 --strategy follow
// RUN: shard-run %s --mesh x=4 --strategy follow
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=x=4})' | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NOT: all_gather
// CHECK: call @tp.permute
// CHECK: iterator_types = ["parallel", "reduction"]
// CHECK: shard.all_reduce
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<20x3xf32> {tp.sharding = [["x"], []]}, %b: tensor<10xf32> {tp.sharding = [["x"]]}, %c: tensor<21xi32> {tp.sharding = [["x"]]},
                %d: tensor<7xi32> {tp.sharding = [["x"]]}) -> (tensor<3xf32>, tensor<i32>) {
  %z = arith.constant 0.0 : f32
  %low = arith.constant -2147483648 : i32
  %e1 = tensor.empty() : tensor<3xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<3xf32>) -> tensor<3xf32>
  %1 = linalg.generic {tp.factors = {x = 1}, indexing_maps = [affine_map<(d0, d1) -> (d1 * 2 + 1, d0)>, affine_map<(d0, d1) -> (9 - d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %b, %b : tensor<20x3xf32>, tensor<10xf32>, tensor<10xf32>) outs(%f1 : tensor<3xf32>) {
  ^bb0(%x: f32, %y: f32, %w: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %p, %w : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  %e2 = tensor.empty() : tensor<i32>
  %f2 = linalg.fill ins(%low : i32) outs(%e2 : tensor<i32>) -> tensor<i32>
  %2 = linalg.generic {tp.factors = {x = 0}, indexing_maps = [affine_map<(d0) -> (d0 * 3 + 1)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%c, %d : tensor<21xi32>, tensor<7xi32>) outs(%f2 : tensor<i32>) {
  ^bb0(%x: i32, %y: i32, %o: i32):
    %p = arith.subi %x, %y : i32
    %s = arith.maxsi %o, %p : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %1, %2 : tensor<3xf32>, tensor<i32>
}
