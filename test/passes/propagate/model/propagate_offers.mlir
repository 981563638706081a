// What the planner offers, seen at plans that are cheap only with it.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate)' | FileCheck %s

// An annotation with the axes of a dimension in another order than the mesh: all of the program has them so, and nothing moves.

// CHECK-LABEL: func.func @another_order
// CHECK-SAME: cost_ps = [[COST:[0-9]+]]
// CHECK-NOT: shard.shard
// CHECK: math.exp
// CHECK-SAME: {{\[}}["y", "x"], []]
// CHECK-NOT: shard.shard
// CHECK: linalg.add
// CHECK-SAME: {{\[}}["y", "x"], []]
// CHECK-NOT: shard.shard
// CHECK: return
shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @another_order(%a: tensor<64x64xf32> {tp.sharding = [["y", "x"], []]}, %b: tensor<64x64xf32> {tp.sharding = [["y", "x"], []]})
    -> (tensor<64x64xf32> {tp.sharding = [["y", "x"], []]}) {
  %e = math.exp %a : tensor<64x64xf32>
  %o = tensor.empty() : tensor<64x64xf32>
  %c = linalg.add ins(%e, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}

// -----

// A result with an open dimension may be split there: each device computes its columns, and nothing is gathered.

// CHECK-LABEL: func.func @open_result
// CHECK-SAME: -> (tensor<1024x1024xf32> {tp.sharding = {{\[}}[], ["x"]]})
// CHECK-NOT: shard.shard
// CHECK: return
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @open_result(%a: tensor<1024x1024xf32> {tp.sharding = [[], []]}, %b: tensor<1024x1024xf32> {tp.sharding = [[], ["x"]]})
    -> (tensor<1024x1024xf32> {tp.sharding = [[], ["?"]]}) {
  %e = tensor.empty() : tensor<1024x1024xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %c = linalg.matmul ins(%a, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %c : tensor<1024x1024xf32>
}

// -----

// A partial value that leaves the function is scattered where its result has no annotation: half of what an all_reduce sends.

// CHECK-LABEL: func.func @scattered_result
// CHECK-SAME: -> (tensor<64x64xf32> {tp.sharding = {{\[\["x"\], \[\]\]|\[\[\], \["x"\]\]}}})
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @scattered_result(%a: tensor<64x64xf32> {tp.sharding = [[], []]}) -> tensor<64x64xf32> {
  %s = shard.sharding @mesh split_axes = [[], []] : !shard.sharding
  %p = shard.shard %a to %s {tp.sharding = {dims = [[], []], partial = {x = "sum"}}} : tensor<64x64xf32>
  return %p : tensor<64x64xf32>
}
