// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-partition)' | FileCheck %s

// A Megatron MLP: one all_reduce, in front of the return.

// CHECK: module attributes {tp.phase = "local"}
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// CHECK-LABEL: func.func @mlp
// CHECK-SAME: %[[X:.*]]: tensor<4x16xf32> {tp.global = tensor<8x16xf32>
// CHECK-SAME: %[[W1:.*]]: tensor<16x8xf32> {tp.global = tensor<16x32xf32>
// CHECK-SAME: %[[W2:.*]]: tensor<8x16xf32> {tp.global = tensor<32x16xf32>
// CHECK-NOT: tp.sharding = {{.*}} ins
// CHECK: %[[H:.*]] = linalg.matmul ins(%[[X]], %[[W1]]{{.*}} -> tensor<4x8xf32>
// CHECK: %[[Y:.*]] = linalg.matmul ins(%[[H]], %[[W2]]{{.*}} -> tensor<4x16xf32>
// CHECK: %[[Z:.*]] = shard.all_reduce %[[Y]] on @mesh grid_axes = [1] : tensor<4x16xf32> -> tensor<4x16xf32>
// CHECK-NOT: shard.shard
// CHECK: return %[[Z]]
func.func @mlp(%x: tensor<8x16xf32> {tp.sharding = [["dp"], []]}, %w1: tensor<16x32xf32> {tp.sharding = [[], ["tp"]]},
               %w2: tensor<32x16xf32> {tp.sharding = [["tp"], []]}) -> (tensor<8x16xf32> {tp.sharding = [["dp"], []]}) {
  %c = arith.constant 0.0 : f32
  %e1 = tensor.empty() {tp.sharding = [["dp"], ["tp"]]} : tensor<8x32xf32>
  %f1 = linalg.fill {tp.sharding = [["dp"], ["tp"]]} ins(%c : f32) outs(%e1 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %h = linalg.matmul {tp.sharding = [["dp"], ["tp"]]} ins(%x, %w1 : tensor<8x16xf32>, tensor<16x32xf32>) outs(%f1 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %e2 = tensor.empty() {tp.sharding = [["dp"], []]} : tensor<8x16xf32>
  %f2 = linalg.fill {tp.sharding = {dims = [["dp"], []], partial = {tp = "sum"}}} ins(%c : f32) outs(%e2 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = linalg.matmul {tp.sharding = {dims = [["dp"], []], partial = {tp = "sum"}}} ins(%h, %w2 : tensor<8x32xf32>, tensor<32x16xf32>) outs(%f2 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %s = shard.sharding @mesh split_axes = [[0], []] : !shard.sharding
  %z = shard.shard %y to %s {tp.sharding = [["dp"], []]} : tensor<8x16xf32>
  return %z : tensor<8x16xf32>
}

// -----

// A sequence-sharded result: reduce_scatter instead of all_reduce and slice.

shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
// CHECK-LABEL: func.func @scatter
// CHECK: %[[Y:.*]] = linalg.matmul {{.*}} -> tensor<8x16xf32>
// CHECK: %[[Z:.*]] = shard.reduce_scatter %[[Y]] on @mesh grid_axes = [0] scatter_axis = 0 : tensor<8x16xf32> -> tensor<2x16xf32>
// CHECK: return %[[Z]] : tensor<2x16xf32>
func.func @scatter(%h: tensor<8x32xf32> {tp.sharding = [[], ["tp"]]}, %w: tensor<32x16xf32> {tp.sharding = [["tp"], []]})
    -> (tensor<8x16xf32> {tp.sharding = [["tp"], []]}) {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() {tp.sharding = [[], []]} : tensor<8x16xf32>
  %f = linalg.fill {tp.sharding = {dims = [[], []], partial = {tp = "sum"}}} ins(%c : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = linalg.matmul {tp.sharding = {dims = [[], []], partial = {tp = "sum"}}} ins(%h, %w : tensor<8x32xf32>, tensor<32x16xf32>) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %s = shard.sharding @mesh split_axes = [[0], []] : !shard.sharding
  %z = shard.shard %y to %s {tp.sharding = [["tp"], []]} : tensor<8x16xf32>
  return %z : tensor<8x16xf32>
}

// -----

// Both axes gathered from one dimension: one collective over (x, y).

shard.grid @mesh(shape = 4x2) {tp.axes = ["x", "y"]}
// CHECK-LABEL: func.func @gather_both
// CHECK: %[[G:.*]] = shard.all_gather %{{.*}} on @mesh grid_axes = [0, 1] gather_axis = 0 : tensor<2x3xf32> -> tensor<16x3xf32>
// CHECK-NEXT: return %[[G]]
func.func @gather_both(%x: tensor<16x3xf32> {tp.sharding = [["x", "y"], []]}) -> (tensor<16x3xf32> {tp.sharding = [[], []]}) {
  %s = shard.sharding @mesh split_axes = [[], []] : !shard.sharding
  %y = shard.shard %x to %s {tp.sharding = [[], []]} : tensor<16x3xf32>
  return %y : tensor<16x3xf32>
}

// -----

// Swapping unequal axes has no plain permute.

shard.grid @mesh(shape = 4x2) {tp.axes = ["x", "y"]}
// CHECK-LABEL: func.func @swap
// CHECK-SAME: tensor<2x4xf32>
// CHECK: shard.all_{{(to_all|gather)}}
// CHECK: return %{{.*}} : tensor<4x2xf32>
func.func @swap(%x: tensor<8x8xf32> {tp.sharding = [["x"], ["y"]]}) -> (tensor<8x8xf32> {tp.sharding = [["y"], ["x"]]}) {
  %s = shard.sharding @mesh split_axes = [[1], [0]] : !shard.sharding
  %y = shard.shard %x to %s {tp.sharding = [["y"], ["x"]]} : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// -----

// On equal axes it is one permute: a call with the pairs.

shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
// CHECK-LABEL: func.func @permute
// CHECK: %[[P:.*]] = call @tp.permute.4x4xf32(%{{.*}}) {tp.pairs = {{\[\[0, 0\], \[2, 1\], \[1, 2\], \[3, 3\]\]}}}
// CHECK: return %[[P]]
// CHECK: func.func private @tp.permute.4x4xf32(tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @permute(%x: tensor<8x8xf32> {tp.sharding = [["x"], ["y"]]}) -> (tensor<8x8xf32> {tp.sharding = [["y"], ["x"]]}) {
  %s = shard.sharding @mesh split_axes = [[1], [0]] : !shard.sharding
  %y = shard.shard %x to %s {tp.sharding = [["y"], ["x"]]} : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// -----

// Replicated to partial: the value on the first device of the group, the identity elsewhere.

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
// CHECK-LABEL: func.func @mask
// CHECK: %[[I:.*]] = shard.process_multi_index on @mesh axes = [0] : index
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[I]]
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK: arith.select %[[FIRST]], %{{.*}}, %[[ZERO]] : tensor<4xf32>
func.func @mask(%x: tensor<4xf32> {tp.sharding = [[]]}) -> (tensor<4xf32> {tp.sharding = {dims = [[]], partial = {x = "sum"}}}) {
  %s = shard.sharding @mesh split_axes = [[]] : !shard.sharding
  %y = shard.shard %x to %s {tp.sharding = {dims = [[]], partial = {x = "sum"}}} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Sub-axes work on the refined grid; whole axes keep the grid that the user wrote.

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// CHECK: shard.grid @mesh.sub(shape = 2x2x2) {tp.axes = ["dp", "tp:(1)2", "tp:(2)2"], tp.of = @mesh}
// CHECK-LABEL: func.func @sub
// CHECK: shard.all_gather %{{.*}} on @mesh.sub grid_axes = [2] gather_axis = 0 : tensor<2xf32> -> tensor<4xf32>
// CHECK: shard.all_gather %{{.*}} on @mesh grid_axes = [0] gather_axis = 0 : tensor<4xf32> -> tensor<8xf32>
func.func @sub(%x: tensor<8xf32> {tp.sharding = [["tp"]]}, %y: tensor<8xf32> {tp.sharding = [["dp"]]})
    -> (tensor<8xf32> {tp.sharding = [["tp:(1)2"]]}, tensor<8xf32> {tp.sharding = [[]]}) {
  %s = shard.sharding @mesh split_axes = [[]] : !shard.sharding
  %a = shard.shard %x to %s {tp.sharding = [["tp:(1)2"]]} : tensor<8xf32>
  %b = shard.shard %y to %s {tp.sharding = [[]]} : tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// -----

// Which maximum it is stands on the collective where upstream's kinds do not say it.

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
// CHECK-LABEL: func.func @maxnum
// CHECK: shard.all_reduce %{{.*}} on @mesh grid_axes = [0] reduction = max {tp.combiner = "maxnumf"} : tensor<4xf32>
func.func @maxnum(%x: tensor<4xf32> {tp.sharding = {dims = [[]], partial = {x = "maxnumf"}}}) -> (tensor<4xf32> {tp.sharding = [[]]}) {
  %s = shard.sharding @mesh split_axes = [[]] : !shard.sharding
  %y = shard.shard %x to %s {tp.sharding = [[]]} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Axes of one dimension in another order than those of the mesh.
shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
// CHECK-LABEL: func.func @axes_in_another_order
// CHECK: math.absf %{{.*}} : tensor<2x6xf32>
// CHECK-NEXT: return
func.func @axes_in_another_order(%a: tensor<8x6xf32> {tp.sharding = [["y", "x"], []]}) -> (tensor<8x6xf32> {tp.sharding = [["y", "x"], []]}) {
  %0 = math.absf %a {tp.sharding = [["y", "x"], []]} : tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
