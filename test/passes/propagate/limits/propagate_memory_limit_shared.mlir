// A change of layout that several results want, or results and ops, is paid once with a memory limit as it is without one.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=1GB report=%t.limit.json report-alternatives=0})' -o %t.limit.mlir
// RUN: FileCheck %s --input-file=%t.limit.mlir
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t.json report-alternatives=0})' -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// The limit changes no cost. That of @three is the sum of its parts, in picoseconds, and one gather
// over tp is among them: three quarters of a tensor of 512 x 512 x 4 bytes, or of half of it.
// RUN: %python -B %S/../../Inputs/relations.py one=%t.mlir@argument one_limit=%t.limit.mlir@argument three=%t.mlir@three three_limit=%t.limit.mlir@three \
// RUN:   both=%t.mlir@used_and_returned both_limit=%t.limit.mlir@used_and_returned -- 'one.cost_ps == one_limit.cost_ps == one.bound_ps' \
// RUN:   'three.cost_ps == three_limit.cost_ps == three.bound_ps' 'both.cost_ps == both_limit.cost_ps == both.bound_ps'
// RUN: %python -B %S/../../Inputs/relations.py plan=%t.mlir@three report=%t.json limit=%t.limit.json -- \
// RUN:   '[f["function"] for f in report["functions"]] == ["argument", "three", "used_and_returned"]' \
// RUN:   'plan.cost_ps == sum(round(report["functions"][1]["step"][part + "_seconds"] * 1e12) for part in ("compute", "collective", "local"))' \
// RUN:   '[t["count"] for t in report["functions"][1]["traffic"] if t["axes"] == "tp"] == [1]' \
// RUN:   '[t["bytes_per_device"] for t in report["functions"][1]["traffic"] if t["axes"] == "tp"][0] in (786432, 393216)' \
// RUN:   'report["functions"][1]["traffic"] == limit["functions"][1]["traffic"]'
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
