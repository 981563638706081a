// Slices at known offsets of a dimension that is split: the devices exchange what the points of the result read, and no more. From one device, from
// several, with strides, more than a shard; to shards that are even, uneven and empty; two dimensions at once, one dropped. (tp.factors: such
// small tensors would be gathered.)
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
func.func @main(%a: tensor<24x10xf32> {tp.sharding = [["x"], ["y"]]}, %b: tensor<16xi32> {tp.sharding = [["x"]]})
    -> (tensor<6x10xf32> {tp.sharding = [["x"], ["y"]]}, tensor<12x5xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<7x3xf32> {tp.sharding = [["x"], ["y"]]}, tensor<12xf32> {tp.sharding = [["x"]]}, tensor<15xi32> {tp.sharding = [["x"]]},
        tensor<8xi32> {tp.sharding = [["x"]]}, tensor<3xi32> {tp.sharding = [["x"]]}, tensor<13xi1> {tp.sharding = [["x"]]}) {
  %c9 = arith.constant 9 : index
  %ones = arith.constant dense<1> : tensor<16xi32>
  %bits = arith.andi %b, %ones : tensor<16xi32>
  %even = arith.cmpi ne, %bits, %ones : tensor<16xi32>
  %rows = tensor.extract_slice %a[5, 0] [6, 10] [1, 1] {tp.factors = {x = 0, y = 1}} : tensor<24x10xf32> to tensor<6x10xf32>
  %block = tensor.extract_slice %a[9, 4] [12, 5] [1, 1] {tp.factors = {x = 0, y = 1}} : tensor<24x10xf32> to tensor<12x5xf32>
  %steps = tensor.extract_slice %a[3, 1] [7, 3] [3, 4] {tp.factors = {x = 0, y = 1}} : tensor<24x10xf32> to tensor<7x3xf32>
  %column = tensor.extract_slice %a[2, %c9] [12, 1] [1, 1] {tp.factors = {x = 0, y = 1}} : tensor<24x10xf32> to tensor<12xf32>
  %tail = tensor.extract_slice %b[1] [15] [1] {tp.factors = {x = 0}} : tensor<16xi32> to tensor<15xi32>
  %odd = tensor.extract_slice %b[1] [8] [2] {tp.factors = {x = 0}} : tensor<16xi32> to tensor<8xi32>
  %few = tensor.extract_slice %b[6] [3] [4] {tp.factors = {x = 0}} : tensor<16xi32> to tensor<3xi32>
  %truth = tensor.extract_slice %even[3] [13] [1] {tp.factors = {x = 0}} : tensor<16xi1> to tensor<13xi1>
  return %rows, %block, %steps, %column, %tail, %odd, %few, %truth
      : tensor<6x10xf32>, tensor<12x5xf32>, tensor<7x3xf32>, tensor<12xf32>, tensor<15xi32>, tensor<8xi32>, tensor<3xi32>, tensor<13xi1>
}
