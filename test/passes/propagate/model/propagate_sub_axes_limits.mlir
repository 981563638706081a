// Axes are cut where most of the time asks for it. 8 rows want 12 devices cut at 4, 6 rows at 6: both do not line up, the larger tensor decides.
// At most two cuts are made for sizes; none in follow mode, and none where annotations cut an axis themselves.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate)' | FileCheck %s
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate{strategy=follow})' | FileCheck %s --check-prefix=FOLLOW

// FOLLOW-NOT: @mesh.sub
// CHECK: @mesh.sub(shape = 4x3)
shard.grid @mesh(shape = 12) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x65537xf32>, %b: tensor<6x32771xf32>) -> (tensor<8x65537xf32>, tensor<6x32771xf32>) {
  %0 = math.exp %a : tensor<8x65537xf32>
  %1 = math.exp %b : tensor<6x32771xf32>
  return %0, %1 : tensor<8x65537xf32>, tensor<6x32771xf32>
}

// -----

// FOLLOW: @mesh.sub(shape = 2x6)
// CHECK: @mesh.sub(shape = 2x6)
shard.grid @mesh(shape = 12) {tp.axes = ["x"]}
func.func @main(%a: tensor<8x65537xf32> {tp.sharding = [["x:(1)2"], []]}) -> tensor<8x65537xf32> {
  %0 = math.exp %a : tensor<8x65537xf32>
  return %0 : tensor<8x65537xf32>
}

// -----

// FOLLOW-NOT: @mesh.sub
// CHECK: @mesh.sub(shape = 2x2x4x2)
shard.grid @mesh(shape = 4x8) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<6x65537xf32>, %b: tensor<12x65537xf32>, %c: tensor<2x65537xf32>)
    -> (tensor<6x65537xf32>, tensor<12x65537xf32>, tensor<2x65537xf32>) {
  %0 = math.exp %a : tensor<6x65537xf32>
  %1 = math.exp %b : tensor<12x65537xf32>
  %2 = math.exp %c : tensor<2x65537xf32>
  return %0, %1, %2 : tensor<6x65537xf32>, tensor<12x65537xf32>, tensor<2x65537xf32>
}
