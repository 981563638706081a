// A grid that an option creates gets a name that no function has, and neither has the grid of its sub-axes.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-spmd{mesh=tp=4})' | FileCheck %s
// RUN: shard-run %s --mesh tp=4 --function mesh

// CHECK: shard.grid @mesh_1(shape = 4)
// CHECK: shard.grid @mesh_1.sub(shape = 2x2)
// CHECK: func.func @mesh(
// CHECK: shard.all_gather {{.*}} on @mesh_1.sub
// CHECK: func.func private @mesh_0.sub
func.func @mesh(%x: tensor<8xf32> {tp.sharding = [["tp:(1)2"]]}) -> (tensor<8xf32> {tp.sharding = [["tp:(2)2"]]}) {
  %y = math.exp %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func private @mesh_0.sub(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
