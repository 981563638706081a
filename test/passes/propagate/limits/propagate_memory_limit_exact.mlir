// A limit of exactly what a plan holds is enough: a copy lives until its last use, and no longer.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=14336B})' | FileCheck %s
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=14335B})' 2>&1 | FileCheck %s --check-prefix=LESS
// LESS: memory-limit: a device may hold 14335 bytes, and no plan was found that fits (none exists by the planner's memory estimate, which may be too high); every plan counts at least 14336 here

// Shards of two arguments (1024 each), two results (4096 each), and the copy of one argument (4096) while the first op reads it twice, then that of
// the other.
// CHECK-LABEL: func.func @one_after_the_other
// CHECK-SAME: peak_memory = 14336
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @one_after_the_other(%x: tensor<32x32xf32> {tp.sharding = [["x"], []]}, %y: tensor<32x32xf32> {tp.sharding = [["x"], []]})
    -> (tensor<32x32xf32> {tp.sharding = [[], []]}, tensor<32x32xf32> {tp.sharding = [[], []]}) {
  %p = arith.mulf %x, %x {tp.sharding = [[], []]} : tensor<32x32xf32>
  %q = math.exp %y {tp.sharding = [[], []]} : tensor<32x32xf32>
  return %p, %q : tensor<32x32xf32>, tensor<32x32xf32>
}
