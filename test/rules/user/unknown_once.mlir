// A value of an op without a rule is used twice: one remark, and the op runs once. Executed: N ranks compute what one computes.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{unknown-ops=replicate})' 2>&1 | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{unknown-ops=replicate})' -o %t.local.mlir 2>%t.remarks
// RUN: shard-run %s --mesh 1 --output @%t.0.npy --output @%t.1.npy
// RUN: shard-run %t.local.mlir --expected-output @%t.0.npy --expected-output @%t.1.npy
// CHECK: remark: 'bufferization.materialize_in_destination': no sharding rule
// CHECK-NOT: remark
// CHECK-LABEL: func.func
// CHECK: bufferization.materialize_in_destination
// CHECK-NOT: bufferization.materialize_in_destination
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x4xf32> {tp.sharding = [["x"], []]}) -> (tensor<8x4xf32> {tp.sharding = [["x"], []]}, tensor<8x4xf32> {tp.sharding = [[], ["x"]]}) {
  %e = tensor.empty() : tensor<8x4xf32>
  %v = bufferization.materialize_in_destination %a in %e : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %s = math.tanh %v : tensor<8x4xf32>
  %t = arith.addf %v, %a : tensor<8x4xf32>
  return %s, %t : tensor<8x4xf32>, tensor<8x4xf32>
}
