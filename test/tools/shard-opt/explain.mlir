// The flag of shard-opt, which a stock mlir-opt does not have.
// UNSUPPORTED: plugin
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd)' --tp-explain=x -o /dev/null 2>&1 | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{explain=y})' --tp-explain=x -o /dev/null 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not shard-opt %s --pass-pipeline='builtin.module(canonicalize)' --tp-explain=x -o /dev/null 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: shard-opt --help | FileCheck %s --check-prefix=HELP

// CHECK: remark: %x (result 0) has layout
// CHECK-NOT: remark: %y
// OPTION: remark: %y (result 1) has layout
// NOTHING: shard-opt: error: --tp-explain needs tp-propagate, which did not run; add tp-propagate or tp-spmd to the pipeline
// HELP: --tp-explain=<name|tp.name|FILE:LINE>

shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @f(%x: tensor<64x128xf32> {tp.name = "x"}, %y: tensor<64x128xf32> {tp.name = "y"}) -> (tensor<64x128xf32>, tensor<64x128xf32>) {
  return %x, %y : tensor<64x128xf32>, tensor<64x128xf32>
}
