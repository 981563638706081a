// A change of layout that several results want, or results and ops, is paid once with a memory limit as it is without one.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=1GB})' | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate)' | FileCheck %s
// RUN: shard-run %s --memory-limit 1GB --function used_and_returned

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}

// CHECK-LABEL: func.func @argument
// CHECK-COUNT-1: shard.shard %
// CHECK-NOT: shard.shard %
// CHECK: return
func.func @argument(%x: tensor<512x512xf32> {tp.sharding = [["tp"], []]})
    -> (tensor<512x512xf32> {tp.sharding = [[], []]}, tensor<512x512xf32> {tp.sharding = [[], []]}) {
  return %x, %x : tensor<512x512xf32>, tensor<512x512xf32>
}

// Three layouts from one gather. The copy is that of a result.
// CHECK-LABEL: func.func @three
// CHECK-SAME: cost_ps = 774840267
// CHECK-COUNT-3: shard.shard %
// CHECK-NOT: shard.shard %
// CHECK: return
func.func @three(%x: tensor<512x512xf32> {tp.sharding = [["tp"], []]})
    -> (tensor<512x512xf32> {tp.sharding = [[], []]}, tensor<512x512xf32> {tp.sharding = [["dp"], []]}, tensor<512x512xf32> {tp.sharding = [[], ["dp"]]}) {
  %y = math.exp %x {tp.sharding = [["tp"], []]} : tensor<512x512xf32>
  return %y, %y, %y : tensor<512x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>
}

// The product reads what is returned: two arguments (1/4 and 1/2), two results (1 and 1/2), and while it is gathered what the exponential makes (1/4).
// CHECK-LABEL: func.func @used_and_returned
// CHECK-SAME: peak_memory = 2621440
// CHECK-COUNT-1: shard.shard %
// CHECK-NOT: shard.shard %
// CHECK: return
func.func @used_and_returned(%x: tensor<512x512xf32> {tp.sharding = [["tp"], []]}, %a: tensor<512x512xf32> {tp.sharding = [["dp"], []]})
    -> (tensor<512x512xf32> {tp.sharding = [[], []]}, tensor<512x512xf32> {tp.sharding = [["dp"], []]}) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %y = math.exp %x {tp.sharding = [["tp"], []]} : tensor<512x512xf32>
  %p = linalg.matmul {tp.sharding = [["dp"], []]} ins(%a, %y : tensor<512x512xf32>, tensor<512x512xf32>) outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %y, %p : tensor<512x512xf32>, tensor<512x512xf32>
}
