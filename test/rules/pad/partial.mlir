// A sum that is not combined yet goes through a pad with zeros, along a dimension that is split and along one that is not, and is combined once; with
// other numbers it is combined before.
// RUN: shard-run %s --mesh x=2,y=2 --strategy follow
// RUN: shard-run %s --mesh x=2,y=3
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=x=2,y=2 strategy=follow})' | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK: tensor.pad
// CHECK: shard.all_reduce {{.*}} : tensor<6x10xf32>
// CHECK: return

shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<8x6xf32> {tp.sharding = [["x"], ["y"]]}, %b: tensor<6x10xf32> {tp.sharding = [["y"], []]})
    -> (tensor<12x10xf32> {tp.sharding = [["x"], []]}, tensor<8x11xf32> {tp.sharding = [["x"], []]}) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8x10xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x10xf32>) -> tensor<8x10xf32>
  %m = linalg.matmul ins(%a, %b : tensor<8x6xf32>, tensor<6x10xf32>) outs(%f : tensor<8x10xf32>) -> tensor<8x10xf32>
  %p = tensor.pad %m low[4, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } {tp.factors = {x = 0, y = "linear 0"}} : tensor<8x10xf32> to tensor<12x10xf32>
  %q = tensor.pad %m low[0, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %one : f32
  } : tensor<8x10xf32> to tensor<8x11xf32>
  return %p, %q : tensor<12x10xf32>, tensor<8x11xf32>
}
