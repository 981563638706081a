// Slices to uneven shards pad nothing: shards that are whole or empty are views at a clamped offset, others are read element by element, and only what divides is an all_slice.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-partition)' | FileCheck %s --implicit-check-not=tensor.insert_slice

// CHECK-LABEL: func.func @empty
// CHECK: %[[LAST:.*]] = arith.constant 1 : index
// CHECK: %[[AT:.*]] = arith.minsi %{{.*}}, %[[LAST]]
// CHECK: tensor.extract_slice %arg0[%[[AT]], 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<1x4xf32>
shard.grid @mesh(shape = 8) {tp.axes = ["x"]}
func.func @empty(%a: tensor<2x4xf32> {tp.sharding = [[], []]}) -> (tensor<2x4xf32> {tp.sharding = [["x"], []]}) {
  %s = shard.sharding @mesh split_axes = [[0], []] : !shard.sharding
  %r = shard.shard %a to %s {tp.sharding = [["x"], []]} : tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

// 10 rows on 4 devices: 3, 3, 3 and 1.
// CHECK-LABEL: func.func @partly
// CHECK: linalg.generic
// CHECK: %[[LAST:.*]] = arith.constant 9 : index
// CHECK: %[[AT:.*]] = arith.minsi %{{.*}}, %[[LAST]]
// CHECK: tensor.extract %arg0[%[[AT]], %{{.*}}] : tensor<10x4xf32>
// CHECK: -> tensor<3x4xf32>
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @partly(%a: tensor<10x4xf32> {tp.sharding = [[], []]}) -> (tensor<10x4xf32> {tp.sharding = [["x"], []]}) {
  %s = shard.sharding @mesh split_axes = [[0], []] : !shard.sharding
  %r = shard.shard %a to %s {tp.sharding = [["x"], []]} : tensor<10x4xf32>
  return %r : tensor<10x4xf32>
}

// -----

// CHECK-LABEL: func.func @evenly
// CHECK-NEXT: shard.all_slice
shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @evenly(%a: tensor<10x4xf32> {tp.sharding = [[], []]}) -> (tensor<10x4xf32> {tp.sharding = [["x"], []]}) {
  %s = shard.sharding @mesh split_axes = [[0], []] : !shard.sharding
  %r = shard.shard %a to %s {tp.sharding = [["x"], []]} : tensor<10x4xf32>
  return %r : tensor<10x4xf32>
}
