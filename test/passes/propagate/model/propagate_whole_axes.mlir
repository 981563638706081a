// A path over parts of an axis that splits some tensor unevenly cannot be written. The plan is made again with the axis whole, so that its cost is that of
// the program. The bound stays that of all plans. From rows over y to rows over x, 144 bytes are sent where both axes can be cut, 180 where x is whole.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate{objective=bytes})' | FileCheck %s --check-prefix=PLAN
// PLAN: module attributes {tp.whole_axes = ["x"]}
// PLAN: bound_ps = 1440{{[0-9]+}} : i64, cost_ps = 1800{{[0-9]+}} : i64
// PLAN-NOT: tp.whole_axes
// PLAN: bound_ps = [[COST:1440[0-9]+]] : i64, cost_ps = [[COST]] : i64

// The program has no path that cuts x.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate{objective=bytes},tp-partition{objective=bytes})' | FileCheck %s
// CHECK-NOT: tp.whole_axes
// CHECK: shard.grid @mesh.sub(shape = 4x2x3) {tp.axes = ["x", "y:(1)2", "y:(2)3"]
// CHECK: shard.grid @mesh.sub(shape = 2x2x2x3)

// A plan that is planned again keeps them.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate{objective=bytes},tp-propagate{objective=bytes})' | FileCheck %s --check-prefix=AGAIN
// AGAIN: module attributes {tp.whole_axes = ["x"]}
// AGAIN: cost_ps = 1800{{[0-9]+}} : i64

shard.grid @mesh(shape = 4x6) {tp.axes = ["x", "y"]}
func.func @uneven(%a: tensor<12x12xf32> {tp.sharding = [["y"], []]}, %b: tensor<10x12xf32> {tp.sharding = [["x"], []]})
    -> (tensor<12x12xf32> {tp.sharding = [["x"], []]}, tensor<10x12xf32> {tp.sharding = [["x"], []]}) {
  return %a, %b : tensor<12x12xf32>, tensor<10x12xf32>
}

// -----

shard.grid @mesh(shape = 4x6) {tp.axes = ["x", "y"]}
func.func @even(%a: tensor<12x12xf32> {tp.sharding = [["y"], []]}, %b: tensor<8x12xf32> {tp.sharding = [["x"], []]})
    -> (tensor<12x12xf32> {tp.sharding = [["x"], []]}, tensor<8x12xf32> {tp.sharding = [["x"], []]}) {
  return %a, %b : tensor<12x12xf32>, tensor<8x12xf32>
}
