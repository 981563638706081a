// A small tensor that covers much of the dimension that it is put into is split with it. One that covers little stays whole.
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
func.func @main(%a: tensor<24x10xf32> {tp.sharding = [["x"], ["y"]]}, %b: tensor<16xi32> {tp.sharding = [["x"]]},
                %p: tensor<6x10xf32> {tp.sharding = [["x"], ["y"]]}, %q: tensor<12x5xf32> {tp.sharding = [["x"], ["y"]]},
                %r: tensor<12xf32> {tp.sharding = [["x"]]}, %s: tensor<15xi32> {tp.sharding = [["x"]]}, %t: tensor<3xi32> {tp.sharding = [[]]})
    -> (tensor<24x10xf32> {tp.sharding = [["x"], ["y"]]}, tensor<24x10xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<24x10xf32> {tp.sharding = [["x"], ["y"]]}, tensor<16xi32> {tp.sharding = [["x"]]}, tensor<16xi32> {tp.sharding = [["x"]]}) {
  %c9 = arith.constant 9 : index
  %rows = tensor.insert_slice %p into %a[5, 0] [6, 10] [1, 1] {tp.factors = {x = 0, y = 1}} : tensor<6x10xf32> into tensor<24x10xf32>
  %block = tensor.insert_slice %q into %a[9, 4] [12, 5] [1, 1] {tp.factors = {x = 0, y = 1}} : tensor<12x5xf32> into tensor<24x10xf32>
  %column = tensor.insert_slice %r into %a[2, %c9] [12, 1] [1, 1] {tp.factors = {x = 0, y = 1}} : tensor<12xf32> into tensor<24x10xf32>
  %tail = tensor.insert_slice %s into %b[1] [15] [1] {tp.factors = {x = 0}} : tensor<15xi32> into tensor<16xi32>
  %few = tensor.insert_slice %t into %b[6] [3] [1] {tp.factors = {x = 0}} : tensor<3xi32> into tensor<16xi32>
  return %rows, %block, %column, %tail, %few
      : tensor<24x10xf32>, tensor<24x10xf32>, tensor<24x10xf32>, tensor<16xi32>, tensor<16xi32>
}
