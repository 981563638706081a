// Plans that keep the limit, though planning counts them with more: of small functions plans are listed from the cheapest on, and written to see what they
// hold.

// RUN: split-file %s %t
// RUN: shard-opt %t/constraint.mlir --pass-pipeline='builtin.module(tp-propagate{memory-limit=7680B})' -o %t.constraint.mlir
// RUN: FileCheck %t/constraint.mlir --input-file=%t.constraint.mlir
// RUN: shard-opt %t/view.mlir --pass-pipeline='builtin.module(tp-propagate{memory-limit=38B})' -o %t.view.mlir
// RUN: FileCheck %t/view.mlir --input-file=%t.view.mlir

// The limit requires a sharded result. Without a limit, but with that result layout as an
// annotation, the cheapest plan costs the same; without either, it costs less and exceeds the
// limit.
// RUN: sed 's/-> tensor<8x8x24xf32> {$/-> (tensor<8x8x24xf32> {tp.sharding = [["x"], [], []]}) {/; s/24xf32>)/24xf32> {tp.sharding = [[], [], []]})/' %t/constraint.mlir > %t.constraint.given
// RUN: sed 's/"?"/"x", "y"/; s/5xf16>)/5xf16> {tp.sharding = [[], []]})/' %t/view.mlir > %t.view.given
// RUN: shard-opt %t.constraint.given --pass-pipeline='builtin.module(tp-propagate)' -o %t.constraint.given.mlir
// RUN: shard-opt %t.view.given --pass-pipeline='builtin.module(tp-propagate)' -o %t.view.given.mlir
// RUN: shard-opt %t/constraint.mlir --pass-pipeline='builtin.module(tp-propagate)' -o %t.constraint.free.mlir
// RUN: shard-opt %t/view.mlir --pass-pipeline='builtin.module(tp-propagate)' -o %t.view.free.mlir
// RUN: %python -B %S/../../Inputs/relations.py plan=%t.constraint.mlir given=%t.constraint.given.mlir free=%t.constraint.free.mlir -- \
// RUN:   'plan.cost_ps == given.cost_ps == given.bound_ps > free.cost_ps' 'free.peak_memory > 7680'
// RUN: %python -B %S/../../Inputs/relations.py plan=%t.view.mlir given=%t.view.given.mlir free=%t.view.free.mlir -- \
// RUN:   'plan.cost_ps == given.cost_ps == given.bound_ps > free.cost_ps' 'free.peak_memory > 38'

//--- constraint.mlir
// A constraint that changes nothing is another name of the argument.
// CHECK: %arg0: tensor<8x8x24xf32> {tp.sharding = {{\[\[\], \[\], \[\]\]}}}
// CHECK-SAME: {tp.sharding = {{\[\["x"\], \[\], \[\]\]}}}
// The argument has 8 x 8 x 24 x 4 = 6144 bytes, and a device holds 2 of the 8 rows of the result:
// 1536.
// CHECK-SAME: tp.plan = {{.*}}peak_memory = 7680 : i64
shard.grid @mesh(shape = 5) {tp.axes = ["x"]}
func.func @main(%x: tensor<8x8x24xf32>) -> tensor<8x8x24xf32> {
  %s = shard.sharding @mesh split_axes = [[], [], []] : !shard.sharding
  %y = shard.shard %x to %s {tp.sharding = [[], [], []]} : tensor<8x8x24xf32>
  return %y : tensor<8x8x24xf32>
}

//--- view.mlir
// So is a view.
// The argument has 3 x 5 x 2 bytes, and a device holds 4 of the 15 elements of the result: 8.
// CHECK: tp.plan = {{.*}}peak_memory = 38 : i64
shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @main(%x: tensor<3x5xf16>) -> (tensor<15xf16> {tp.sharding = [["?"]]}) {
  %y = tensor.collapse_shape %x [[0, 1]] : tensor<3x5xf16> into tensor<15xf16>
  return %y : tensor<15xf16>
}
