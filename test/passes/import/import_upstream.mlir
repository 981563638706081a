// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-import)' | FileCheck %s
// RUN: shard-run %s --mesh 2x2 --function mlp | FileCheck %s --check-prefix=EXEC
// RUN: shard-run %s --mesh 2x2 --function mlp --strategy follow --launch processes | FileCheck %s --check-prefix=EXEC
// RUN: shard-run %s --mesh 2x2 --function users | FileCheck %s --check-prefix=EXEC
// RUN: shard-run %s --mesh 4x1 --function rows | FileCheck %s --check-prefix=EXEC
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-import,tp-import)' | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=2x2})' | FileCheck %s --check-prefix=SPMD
// EXEC: on 4 devices
// EXEC: verified

// CHECK: shard.grid @g(shape = 2x2) {tp.axes = ["d0", "d1"]}
shard.grid @g(shape = 2x2)

// Without annotate_for_users an annotation is about what defines the value: an argument gets the layout too. What is returned through a
// shard.shard is returned in that layout.

// CHECK-LABEL: func.func @mlp
// CHECK-SAME: %[[X:.*]]: tensor<8x16xf32> {tp.sharding = {{\[}}["d0"], []]}
// CHECK-SAME: %[[W1:.*]]: tensor<16x32xf32> {tp.sharding = {{\[}}[], ["d1"]]}
// CHECK-SAME: %[[W2:.*]]: tensor<32x16xf32>)
// CHECK-SAME: -> (tensor<8x16xf32> {tp.sharding = {{\[}}["d0"], []]})
// CHECK: %[[X0:.*]] = shard.shard %[[X]] to %{{.*}} {tp.sharding = {{\[}}["d0"], []]}
// CHECK: %[[X1:.*]] = shard.shard %[[X0]] to %{{.*}} annotate_for_users {tp.sharding = {{\[}}["d0"], []]}
// CHECK: %[[W1U:.*]] = shard.shard %[[W1]] to %{{.*}} {tp.sharding = {{\[}}[], ["d1"]]}
// CHECK: %[[W2U:.*]] = shard.shard %[[W2]] to %{{.*}} annotate_for_users {tp.sharding = {{\[}}["d1"], []]}
// CHECK: linalg.matmul ins(%[[X1]], %[[W1U]]
// SPMD-LABEL: func.func @mlp(
// SPMD-SAME: tensor<4x16xf32>
// SPMD-SAME: tensor<16x16xf32>
// SPMD-SAME: tensor<16x16xf32>
// SPMD: shard.all_reduce
func.func @mlp(%x: tensor<8x16xf32>, %w1: tensor<16x32xf32>, %w2: tensor<32x16xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %rows = shard.sharding @g split_axes = [[0]] : !shard.sharding
  %columns = shard.sharding @g split_axes = [[], [1]] : !shard.sharding
  %contracted = shard.sharding @g split_axes = [[1], []] : !shard.sharding
  %x0 = shard.shard %x to %rows : tensor<8x16xf32>
  %x1 = shard.shard %x0 to %rows annotate_for_users : tensor<8x16xf32>
  %w1u = shard.shard %w1 to %columns : tensor<16x32xf32>
  %w2u = shard.shard %w2 to %contracted annotate_for_users : tensor<32x16xf32>
  %e = tensor.empty() : tensor<8x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %h = linalg.matmul ins(%x1, %w1u : tensor<8x16xf32>, tensor<16x32xf32>) outs(%z : tensor<8x32xf32>) -> tensor<8x32xf32>
  %f = tensor.empty() : tensor<8x16xf32>
  %y = linalg.fill ins(%zero : f32) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %o = linalg.matmul ins(%h, %w2u : tensor<8x32xf32>, tensor<32x16xf32>) outs(%y : tensor<8x16xf32>) -> tensor<8x16xf32>
  %o0 = shard.shard %o to %rows : tensor<8x16xf32>
  %o1 = shard.shard %o0 to %rows annotate_for_users : tensor<8x16xf32>
  return %o1 : tensor<8x16xf32>
}

// One value, several users, each with a layout of its own.

// CHECK-LABEL: func.func @users
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<8x8xf32> {tp.sharding = {{\[}}["d0", "d1"], []]}
// CHECK: %[[A:.*]] = shard.shard %{{.*}} annotate_for_users {tp.sharding = {{\[}}["d1"], ["d0"]]}
// CHECK: %[[B:.*]] = shard.shard %{{.*}} annotate_for_users {tp.sharding = {{\[}}[], ["d1", "d0"]]}
// CHECK: arith.mulf %[[A]], %[[B]]
func.func @users(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %s = shard.sharding @g split_axes = [[0, 1]] : !shard.sharding
  %sa = shard.sharding @g split_axes = [[1], [0]] : !shard.sharding
  %sb = shard.sharding @g split_axes = [[], [1, 0]] : !shard.sharding
  %x0 = shard.shard %x to %s : tensor<8x8xf32>
  %a = shard.shard %x0 to %sa annotate_for_users : tensor<8x8xf32>
  %b = shard.shard %x0 to %sb annotate_for_users : tensor<8x8xf32>
  %c = arith.mulf %a, %b : tensor<8x8xf32>
  return %c : tensor<8x8xf32>
}

// A value without dimensions; an argument that has a layout keeps it.

// CHECK-LABEL: func.func @rows
// CHECK-SAME: tensor<f32> {tp.sharding = []}
// CHECK-SAME: tensor<8xf32> {tp.sharding = {{\[}}[]]}
func.func @rows(%s: tensor<f32>, %x: tensor<8xf32> {tp.sharding = [[]]}) -> (tensor<f32>, tensor<8xf32>) {
  %whole = shard.sharding @g split_axes = [[]] : !shard.sharding
  %rows = shard.sharding @g split_axes = [[0]] : !shard.sharding
  %s0 = shard.shard %s to %whole : tensor<f32>
  %x0 = shard.shard %x to %rows : tensor<8xf32>
  %n = arith.negf %s0 : tensor<f32>
  %m = arith.negf %x0 : tensor<8xf32>
  return %n, %m : tensor<f32>, tensor<8xf32>
}
