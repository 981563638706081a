// A slice at an index known only at run time lets partial values through, and where it is cut along another axis, the shards' parts of it are
// combined by "or", as they are masks. Both at once is no layout: partition refuses it, so that planning must not offer it, not even for a
// value that nobody uses.
// RUN: shard-oracle %s | FileCheck %s --check-prefix=ORACLE
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate,tp-partition)' | FileCheck %s
// RUN: shard-run %s --mesh 2x3
// ORACLE: equal, and none beyond what is offered costs less         1

shard.grid @mesh(shape = 2x3) {tp.axes = ["x", "y"]}

// CHECK-LABEL: func.func @main
// CHECK: tensor.extract_slice
// CHECK-NOT: partial
func.func @main(%x: tensor<9x2x9x9xi1>, %at: tensor<i32>) -> tensor<9x2x9x9xi1> {
  %s = shard.sharding @mesh split_axes = [[], [], [], []] : !shard.sharding
  %sum = shard.shard %x to %s {tp.sharding = {dims = [[], [], ["?"], []], partial = {x = "sum"}}} : tensor<9x2x9x9xi1>
  %i32 = tensor.extract %at[] : tensor<i32>
  %i = arith.index_cast %i32 : i32 to index
  %unused = tensor.extract_slice %sum[1, 0, %i, 1] [6, 2, 5, 7] [1, 1, 1, 1] : tensor<9x2x9x9xi1> to tensor<6x2x5x7xi1>
  return %x : tensor<9x2x9x9xi1>
}
