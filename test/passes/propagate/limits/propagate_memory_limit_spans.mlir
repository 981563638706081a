// A decision may hold different amounts at several times: here what the steps of a change of layout need, while it runs, and what it makes, until the last of
// its two users is done. The tightest moment lies between them, in the product of a matrix with itself, where the steps are not held any more. All layouts are given, and
// the time is over before anything is written to see what it holds: the plan is found within what it holds if it is counted with no more.

// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=49664B time-limit=1e-9})' 2>/dev/null | FileCheck %s
// The weight and its square (16384 each), half of the argument and its copy with half of the
// columns (8192 each), results of 128, 128 and 256 bytes.
// CHECK: peak_memory = 49664
// CHECK: shard.shard %arg0 to %{{.*}} {tp.sharding = {{\[}}[], ["y"]]}
// CHECK: linalg.reduce
// CHECK: linalg.matmul
// CHECK: linalg.reduce
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=49663B time-limit=1e-9})' 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: memory-limit: a device may hold 49663 bytes, and no plan was found that fits (none exists by the planner's memory estimate

// The change is made in two steps, of which the first one's result is held beside that of the second.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate,tp-partition)' | FileCheck %s --check-prefix=STEPS
// STEPS: shard.all_slice %arg0 {{.*}} -> tensor<32x32xf32>
// STEPS: shard.all_gather {{.*}} -> tensor<64x32xf32>
shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @behind(%a: tensor<64x64xf32> {tp.sharding = [["x"], []]}, %w: tensor<64x64xf32> {tp.sharding = [[], []]})
    -> (tensor<64xf32> {tp.sharding = [["y"]]}, tensor<64xf32> {tp.sharding = [["y"]]}, tensor<64xf32> {tp.sharding = [[]]}) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<64xf32>
  %e1 = tensor.empty() : tensor<64xf32>
  %e2 = tensor.empty() : tensor<64x64xf32>
  %e3 = tensor.empty() : tensor<64xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<64xf32>) -> tensor<64xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.reduce {arith.addf} ins(%a : tensor<64x64xf32>) outs(%f0 : tensor<64xf32>) dimensions = [0] {tp.sharding = [["y"]]}
  %square = linalg.matmul {tp.sharding = [[], []]} ins(%w, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f2 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %most = linalg.reduce {arith.addf} ins(%a : tensor<64x64xf32>) outs(%f1 : tensor<64xf32>) dimensions = [0] {tp.sharding = [["y"]]}
  %rest = linalg.reduce {arith.addf} ins(%square : tensor<64x64xf32>) outs(%f3 : tensor<64xf32>) dimensions = [0] {tp.sharding = [[]]}
  return %sum, %most, %rest : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
