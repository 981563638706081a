// Two axes on the one dimension that is cut, where the devices exchange what is read: from 16 over 2x2 and over 4x2.
// RUN: shard-run %s --mesh 2x2 --strategy follow
// RUN: shard-run %s --mesh 4x2
// RUN: shard-run %s --mesh 2x4 --launch processes
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=2x2 strategy=follow})' | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-NOT: shard.all_
// CHECK: return

shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<16x5xf32> {tp.sharding = [["x", "y"], []]}, %b: tensor<8x5xf32> {tp.sharding = [["x", "y"], []]})
    -> (tensor<8x5xf32> {tp.sharding = [["x", "y"], []]}, tensor<24x5xf32> {tp.sharding = [["x", "y"], []]},
        tensor<24x5xf32> {tp.sharding = [["x", "y"], []]}, tensor<16x5xf32> {tp.sharding = [["x", "y"], []]}, tensor<8x5xf32> {tp.sharding = [["x", "y"], []]}) {
  %v = arith.constant 2.5 : f32
  %cut = tensor.extract_slice %a[3, 0] [8, 5] [1, 1] {tp.factors = {x = 0, y = 0}} : tensor<16x5xf32> to tensor<8x5xf32>
  %pad = tensor.pad %a low[3, 0] high[5, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } {tp.factors = {x = 0, y = 0}} : tensor<16x5xf32> to tensor<24x5xf32>
  %cat = tensor.concat dim(0) %b, %a {tp.factors = {x = 0, y = 0}} : (tensor<8x5xf32>, tensor<16x5xf32>) -> tensor<24x5xf32>
  %put = tensor.insert_slice %b into %a[5, 0] [8, 5] [1, 1] {tp.factors = {x = 0, y = 0}} : tensor<8x5xf32> into tensor<16x5xf32>
  %odd = tensor.extract_slice %a[1, 0] [8, 5] [2, 1] {tp.factors = {x = 0, y = 0}} : tensor<16x5xf32> to tensor<8x5xf32>
  return %cut, %pad, %cat, %put, %odd : tensor<8x5xf32>, tensor<24x5xf32>, tensor<24x5xf32>, tensor<16x5xf32>, tensor<8x5xf32>
}
