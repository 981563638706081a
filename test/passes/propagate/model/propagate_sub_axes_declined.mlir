// Where no axis is cut: a size of which the whole axis wastes little, a share of the work that is too small to count, sizes without a common divisor,
// an axis that an annotation uses for uneven shards: 10 on 4 are 3, 3, 3 and 1 rows, on 2x2 3, 2, 3 and 2.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate)' | FileCheck %s

// CHECK-NOT: @mesh.sub
// CHECK: @large
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @large(%a: tensor<130x70xf32>) -> tensor<130x70xf32> {
  %0 = math.exp %a : tensor<130x70xf32>
  return %0 : tensor<130x70xf32>
}

// -----

// CHECK-NOT: @mesh.sub
// CHECK: @small
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @small(%a: tensor<6xf32>, %b: tensor<128x128xf32>) -> (tensor<6xf32>, tensor<128x128xf32>) {
  %0 = math.exp %a : tensor<6xf32>
  %1 = math.exp %b : tensor<128x128xf32>
  return %0, %1 : tensor<6xf32>, tensor<128x128xf32>
}

// -----

// CHECK-NOT: @mesh.sub
// CHECK: @coprime
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @coprime(%a: tensor<7x9xf32>) -> tensor<7x9xf32> {
  %0 = math.exp %a : tensor<7x9xf32>
  return %0 : tensor<7x9xf32>
}

// -----

// CHECK-NOT: @mesh.sub
// CHECK: @uneven
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @uneven(%a: tensor<10x4096xf32> {tp.sharding = [["x"], []]}) -> tensor<10x4096xf32> {
  %0 = math.exp %a : tensor<10x4096xf32>
  return %0 : tensor<10x4096xf32>
}
