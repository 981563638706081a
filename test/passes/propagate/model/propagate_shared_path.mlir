// Two uses of a value want layouts that are reached by way of a third one: no use has it, but both
// have it in common. The plan without it was called the cheapest.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-plan)' | FileCheck %s
// CHECK: bound_ps = 2320000 : i64, cost_ps = 2320000 : i64
// CHECK: %[[COPY:[^ ]*]] = shard.shard %arg0 to %{{.*}} {tp.sharding = {{\[}}["x"], [], [], []]}
// CHECK-DAG: shard.shard %[[COPY]] to %{{.*}} {tp.sharding = {{\[}}[], [], [], []]}
// CHECK-DAG: shard.shard %[[COPY]] to %{{.*}} {tp.sharding = {{\[}}["x"], [], [], ["y"]]}
shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<4x4x4x4xf32> {tp.sharding = [["x"], [], ["y"], []]}) -> (tensor<4x4x4x4xf32> {tp.sharding = [[], [], [], []]}, tensor<4x4x4x4xf32> {tp.sharding = [["x"], [], [], ["y"]]}) {
  return %a, %a : tensor<4x4x4x4xf32>, tensor<4x4x4x4xf32>
}
