// What is taken out of a split dimension at offsets known at run time: whole in one shard, over several, at both ends; larger than a shard; with
// strides; of two dimensions at once, one of which is dropped; of integers and of truth values. Shards are even, uneven and empty. (tp.factors: gathering
// such small tensors once for several slices would be cheaper.)
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 4
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 3x2
// RUN: shard-run %s --mesh 2x2 --strategy follow
// RUN: shard-run %s --mesh 7x1 --strategy follow --launch processes
// RUN: shard-run %s --mesh 3x2 --strategy follow
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=2x2 strategy=follow})' | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-NOT: shard.all_gather
// CHECK: shard.all_reduce {{.*}} reduction = bitwise_or {{.*}} tensor<5xi1>
// CHECK-NOT: shard.all_gather
// CHECK: return

shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<13xf32> {tp.sharding = [["x", "y"]]}, %b: tensor<9x10xi32> {tp.sharding = [["x"], ["y"]]},
                %c: tensor<13xi64> {tp.sharding = [["y"]]})
    -> (tensor<1xf32>, tensor<1xf32>, tensor<12xf32>, tensor<4xf32>, tensor<f32>, tensor<3x4xi32>, tensor<4xi32>, tensor<3xi32>, tensor<5xi64>,
        tensor<5xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c12 = arith.constant 12 : index
  %first = tensor.extract_slice %a[%c0] [1] [1] {tp.factors = {x = 0, y = 0}} : tensor<13xf32> to tensor<1xf32>
  %last = tensor.extract_slice %a[%c12] [1] [1] {tp.factors = {x = 0, y = 0}} : tensor<13xf32> to tensor<1xf32>
  %most = tensor.extract_slice %a[%c1] [12] [1] {tp.factors = {x = 0, y = 0}} : tensor<13xf32> to tensor<12xf32>
  %thirds = tensor.extract_slice %a[%c1] [4] [%c3] {tp.factors = {x = 0, y = 0}} : tensor<13xf32> to tensor<4xf32>
  %scalar = tensor.extract_slice %a[%c5] [1] [1] {tp.factors = {x = 0, y = 0}} : tensor<13xf32> to tensor<f32>
  %block = tensor.extract_slice %b[%c5, %c3] [3, 4] [1, 1] {tp.factors = {x = 0, y = 1}} : tensor<9x10xi32> to tensor<3x4xi32>
  %row = tensor.extract_slice %b[%c3, %c5] [1, 4] [1, 1] {tp.factors = {x = 0, y = 1}} : tensor<9x10xi32> to tensor<4xi32>
  %column = tensor.extract_slice %b[%c5, 7] [3, 1] [1, 1] {tp.factors = {x = 0, y = 1}} : tensor<9x10xi32> to tensor<3xi32>
  %wide = tensor.extract_slice %c[%c5] [5] [1] {tp.factors = {y = 0}} : tensor<13xi64> to tensor<5xi64>
  %zero = arith.constant dense<0> : tensor<13xi64>
  %ones = arith.constant dense<1> : tensor<13xi64>
  %bits = arith.andi %c, %ones : tensor<13xi64>
  %less = arith.cmpi eq, %bits, %zero : tensor<13xi64>
  %truth = tensor.extract_slice %less[%c5] [5] [1] {tp.factors = {y = 0}} : tensor<13xi1> to tensor<5xi1>
  return %first, %last, %most, %thirds, %scalar, %block, %row, %column, %wide, %truth
      : tensor<1xf32>, tensor<1xf32>, tensor<12xf32>, tensor<4xf32>, tensor<f32>, tensor<3x4xi32>, tensor<4xi32>, tensor<3xi32>, tensor<5xi64>, tensor<5xi1>
}
