// A constant that is not a splat is kept whole and sliced; a splat gets a local splat.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate,tp-partition)' | FileCheck %s
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh x=2

// CHECK: %[[C:.*]] = arith.constant dense<[1.000000e+00
// CHECK: %[[S:.*]] = shard.all_slice %[[C]] on @mesh grid_axes = [0] slice_axis = 0 : tensor<8xf32> -> tensor<2xf32>
// CHECK: arith.constant dense<2.000000e+00> : tensor<2xf32>
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8xf32> {tp.sharding = [["x"]]}) -> (tensor<8xf32> {tp.sharding = [["x"]]}) {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %two = arith.constant dense<2.0> : tensor<8xf32>
  %b = arith.mulf %a, %c : tensor<8xf32>
  %d = arith.addf %b, %two : tensor<8xf32>
  return %d : tensor<8xf32>
}
