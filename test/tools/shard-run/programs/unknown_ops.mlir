// An op without a sharding rule is refused, or runs on all devices.
// RUN: not shard-run %s 2>&1 | FileCheck %s --check-prefix=REFUSE
// RUN: shard-run %s --unknown-ops replicate 2>&1 | FileCheck %s
// RUN: not shard-run %s --unknown-ops guess 2>&1 | FileCheck %s --check-prefix=USAGE

// REFUSE: 'bufferization.materialize_in_destination': no sharding rule for this op
// CHECK: 'bufferization.materialize_in_destination'
// CHECK-SAME: no sharding rule: replicated on all devices
// CHECK: consistent with one device
// USAGE: --unknown-ops takes refuse or replicate
func.func @main(%x: tensor<4x6xi32> {tp.sharding = [["tp"], []]}) -> (tensor<4x6xi32> {tp.sharding = [["tp"], []]}) {
  %y = arith.addi %x, %x : tensor<4x6xi32>
  %e = tensor.empty() : tensor<4x6xi32>
  %z = bufferization.materialize_in_destination %y in %e : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
  return %z : tensor<4x6xi32>
}
shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
