// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-drop-shardings)' | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-drop-shardings,tp-spmd{strategy=follow})' | FileCheck %s --check-prefix=WHOLE

// CHECK-NOT: tp.sharding
// CHECK-NOT: shard.sharding
// CHECK-NOT: tp.factors
// CHECK: func.func @main(%arg0: tensor<8x8xf32> {tp.role = "param"}, %arg1: tensor<8x8xf32>)
// CHECK: %[[T:.*]] = math.tanh %arg0 : tensor<8x8xf32>
// CHECK: linalg.matmul ins(%[[T]], %arg1
// CHECK-NOT: shard.shard
// WHOLE-NOT: shard.all
// WHOLE: linalg.matmul ins(%{{.*}} : tensor<8x8xf32>, tensor<8x8xf32>)
shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<8x8xf32> {tp.sharding = [["dp"], []], tp.role = "param"}, %w: tensor<8x8xf32> {tp.sharding = [[], ["tp"]]})
    -> (tensor<8x8xf32> {tp.sharding = [["dp"], []]}) {
  %zero = arith.constant 0.0 : f32
  %t = math.tanh %x {tp.sharding = [["dp"], []]} : tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = shard.sharding @mesh split_axes = [[0], []] : !shard.sharding
  %c = shard.shard %t to %s {tp.sharding = [["dp"], []]} : tensor<8x8xf32>
  %p = linalg.matmul {tp.factors = {dp = 0, tp = 1}} ins(%c, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %d = shard.shard %p to %s {tp.sharding = [["dp"], []]} : tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}
