// Padding of dimensions that are split: in front, behind, on both sides, more than a shard; of two dimensions at once; with a value that is computed;
// integers. Shards are even, uneven and empty. (tp.factors: such small tensors would be gathered.)
// RUN: shard-run %s --mesh x=2
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh x=2,y=2
// RUN: shard-run %s --mesh x=3,y=2
// RUN: shard-run %s --mesh x=5 --launch processes
// RUN: shard-run %s --mesh x=2,y=2 --strategy follow
// RUN: shard-run %s --mesh x=7 --strategy follow
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=x=2,y=2})' | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-NOT: all_gather
// CHECK: call @tp.permute
// CHECK-NOT: all_gather
// CHECK: return

shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<12x7xf32> {tp.sharding = [["x"], ["y"]]}, %b: tensor<5xi32> {tp.sharding = [["x"]]}, %v: f32, %i: i32)
    -> (tensor<15x9xf32> {tp.sharding = [["x"], ["y"]]}, tensor<13x8xf32> {tp.sharding = [["x"], ["y"]]}, tensor<9xi32> {tp.sharding = [["x"]]},
        tensor<23xi32> {tp.sharding = [["x"]]}, tensor<18xi32> {tp.sharding = [["x"]]}) {
  %both = tensor.pad %a low[1, 2] high[2, 0] {
  ^bb0(%k: index, %l: index):
    tensor.yield %v : f32
  } {tp.factors = {x = 0, y = 1}} : tensor<12x7xf32> to tensor<15x9xf32>
  %half = tensor.pad %a low[1, 0] high[0, 1] {
  ^bb0(%k: index, %l: index):
    %two = arith.constant 2.0 : f32
    %twice = arith.mulf %v, %two : f32
    tensor.yield %twice : f32
  } {tp.factors = {x = 0, y = 1}} : tensor<12x7xf32> to tensor<13x8xf32>
  %around = tensor.pad %b low[3] high[1] {
  ^bb0(%k: index):
    tensor.yield %i : i32
  } {tp.factors = {x = 0}} : tensor<5xi32> to tensor<9xi32>
  %behind = tensor.pad %b low[0] high[18] {
  ^bb0(%k: index):
    tensor.yield %i : i32
  } {tp.factors = {x = 0}} : tensor<5xi32> to tensor<23xi32>
  %front = tensor.pad %b low[13] high[0] {
  ^bb0(%k: index):
    tensor.yield %i : i32
  } {tp.factors = {x = 0}} : tensor<5xi32> to tensor<18xi32>
  return %both, %half, %around, %behind, %front : tensor<15x9xf32>, tensor<13x8xf32>, tensor<9xi32>, tensor<23xi32>, tensor<18xi32>
}
