// What is changed to a smaller layout may be changed behind its producer, as planning without a limit does: then less is held than where it changes in
// front of its user, as counted within a limit. Such a plan is found too: what the plan without a limit holds is always enough for it here.

// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate)' | FileCheck %s --check-prefixes=PLAN
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=176128B})' | FileCheck %s --check-prefixes=PLAN
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=176127B})' 2>&1 | FileCheck %s --check-prefixes=NONE

// PLAN: bound_ps = [[COST:[0-9]+]] : i64, cost_ps = [[COST]] : i64
// Two weights (65536 each), x and its square (16384 each), and a quarter of y, of the square and of
// the result (4096 each).
// PLAN-SAME: peak_memory = 176128
// PLAN: %[[A:.*]] = linalg.matmul
// PLAN: shard.shard %[[A]] to
// PLAN: linalg.matmul
// PLAN: linalg.matmul

// NONE: memory-limit: a device may hold 176127 bytes, and no plan was found that fits (none exists by the planner's memory estimate, which may be too high);
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @early(%x: tensor<64x64xf32> {tp.sharding = [[], []]}, %y: tensor<64x64xf32> {tp.sharding = [["x"], []]},
                 %w: tensor<64x256xf32> {tp.sharding = [[], []]}, %u: tensor<256x64xf32> {tp.sharding = [[], []]})
    -> (tensor<64x64xf32> {tp.sharding = [["x"], []]}) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<64x64xf32>
  %e1 = tensor.empty() : tensor<64x256xf32>
  %e2 = tensor.empty() : tensor<64x64xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64x256xf32>) -> tensor<64x256xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = linalg.matmul {tp.sharding = [[], []]} ins(%x, %x : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f0 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = linalg.matmul {tp.sharding = [["x"], []]} ins(%y, %w : tensor<64x64xf32>, tensor<64x256xf32>) outs(%f1 : tensor<64x256xf32>) -> tensor<64x256xf32>
  %c = linalg.matmul {tp.sharding = [["x"], []]} ins(%b, %u : tensor<64x256xf32>, tensor<256x64xf32>) outs(%f2 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = linalg.matmul {tp.sharding = [["x"], []]} ins(%a, %x : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
