// unknown-ops=replicate: an op without a rule runs on all devices, whole, and every stage says and does so.
// RUN: shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-propagate{unknown-ops=replicate})' 2>%t.remarks | FileCheck %s --check-prefix=PLAN
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-spmd{unknown-ops=replicate})' 2>%t.spmd | FileCheck %s --check-prefix=LOCAL
// RUN: FileCheck %s --check-prefix=REMARK < %t.spmd
// RUN: not shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-spmd)' 2>&1 | FileCheck %s --check-prefix=REFUSE
// RUN: not shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-propagate{unknown-ops=replicate},tp-partition)' 2>&1 | FileCheck %s --check-prefix=REFUSE
// RUN: not shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-spmd{unknown-ops=replicate},tp-to-runtime)' 2>&1 | FileCheck %s --check-prefix=LOWER

// REMARK: remark: 'my.shuffle': no sharding rule: replicated on all devices
// REMARK-NOT: remark
// PLAN: %[[W:.*]] = shard.shard %arg0 to %{{.*}} {tp.sharding = {{\[\[\], \[\]\]}}}
// PLAN: "my.shuffle"(%[[W]]) {tp.sharding = [{{\[\[\], \[\]\], \[\[\]\]}}]}
// LOCAL: %[[G:.*]] = shard.all_gather %arg0 on @mesh grid_axes = [0] gather_axis = 0 : tensor<2x4xf32> -> tensor<8x4xf32>
// LOCAL: %[[R:.*]]:2 = "my.shuffle"(%[[G]]) : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xi32>)
// LOCAL: shard.all_slice %[[R]]#0 on @mesh grid_axes = [0] slice_axis = 0 : tensor<8x4xf32> -> tensor<2x4xf32>
// REFUSE: error: 'my.shuffle': no sharding rule for this op
// LOWER: error: 'my.shuffle': cannot be lowered to machine code
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32> {tp.sharding = [["x"], []]}) -> (tensor<8x4xf32> {tp.sharding = [["x"], []]}, tensor<8xi32> {tp.sharding = [[]]}) {
  %v, %i = "my.shuffle"(%a) : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xi32>)
  return %v, %i : tensor<8x4xf32>, tensor<8xi32>
}
