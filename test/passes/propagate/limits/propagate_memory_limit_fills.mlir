// What is made from nothing is made in the layout that is wanted; where its own layout is given, it is stored and changed, and both count.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=11264B})' | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate)' | FileCheck %s
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=11263B})' 2>&1 | FileCheck %s --check-prefix=LESS
// LESS: memory-limit: a device may hold 11263 bytes, and no plan was found that fits
// RUN: shard-run %s --memory-limit 11264

// No plan holds more than its limit, not even where a loop that never runs makes layouts free.
// RUN: %python -B %S/../../Inputs/within_limit.py shard-opt %S/../../../rules/control_flow/invariants.mlir 4 3600 5087
// RUN: %if long %{ %python -B %S/../../Inputs/within_limit.py shard-opt %S/../../../rules/control_flow/invariants.mlir 18 3500 3600 3800 4000 4100 4300 4500 4700 4900 5087 5088 5200 %}
// RUN: shard-run %S/../../../rules/control_flow/invariants.mlir --memory-limit 3600
// RUN: shard-run %S/../../../rules/control_flow/invariants.mlir --memory-limit 4700

// Two arguments (1024 on a device and 4096), the result (1024), the fill as it is annotated (4096) and as the op wants it (1024).
// CHECK-LABEL: func.func @given
// CHECK-SAME: peak_memory = 11264
// CHECK: linalg.fill {tp.sharding = {{\[\[}}], []]}
// CHECK: shard.shard
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @given(%a: tensor<32x32xf32> {tp.sharding = [["x"], []]}, %b: tensor<32x32xf32> {tp.sharding = [[], []]})
    -> (tensor<32x32xf32> {tp.sharding = [["x"], []]}) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<32x32xf32>
  %fill = linalg.fill {tp.sharding = [[], []]} ins(%zero : f32) outs(%empty : tensor<32x32xf32>) -> tensor<32x32xf32>
  %c = linalg.matmul {tp.sharding = [["x"], []]} ins(%a, %b : tensor<32x32xf32>, tensor<32x32xf32>) outs(%fill : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %c : tensor<32x32xf32>
}
