// TOSA becomes linalg; the layouts of its ops become constraints.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-lower-tosa)' | FileCheck %s
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-spmd)' | FileCheck %s --check-prefix=SPMD

// CHECK: func.func @constrained(%[[X:.*]]: tensor<8x4xf32> {tp.sharding = {{\[}}["dp"], []]})
// CHECK: %[[T:.*]] = linalg.generic
// CHECK: math.tanh
// CHECK: %[[S:.*]] = shard.sharding @mesh split_axes = {{\[\[}}], [1]]
// CHECK: %[[C:.*]] = shard.shard %[[T]] to %[[S]] {tp.sharding = {{\[\[}}], ["tp"]]}
// CHECK: linalg.generic {{.*}} ins(%[[C]] : tensor<8x4xf32>)
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} ins(%[[C]] : tensor<8x4xf32>)
// CHECK: math.absf
// CHECK-NOT: tosa
// SPMD-LABEL: func.func @constrained
// SPMD: shard.all_slice {{.*}} grid_axes = [1] slice_axis = 1
// SPMD: math.tanh
// SPMD: math.exp
shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @constrained(%x: tensor<8x4xf32> {tp.sharding = [["dp"], []]}) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %t = tosa.tanh %x {tp.sharding = [[], ["tp"]]} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %e = tosa.exp %t : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %a = tosa.abs %t : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %e, %a : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// The shapes that reshape and pad take are gone. A program without TOSA stays as it is, even where it could be folded.
// CHECK: func.func @shapes
// CHECK-NOT: tosa
// CHECK: func.func @plain
// CHECK: %[[A:.*]] = arith.constant 1.0
// CHECK: %[[B:.*]] = arith.constant 1.0
// CHECK: arith.addf %[[A]], %[[B]]
shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}
func.func @shapes(%x: tensor<4x6xf32>) -> tensor<26xf32> {
  %s = tosa.const_shape {values = dense<[24]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %a = tosa.reshape %x, %s : (tensor<4x6xf32>, !tosa.shape<1>) -> tensor<24xf32>
  %p = tosa.const_shape {values = dense<[1, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %v = "tosa.const"() <{values = dense<2.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %b = tosa.pad %a, %p, %v : (tensor<24xf32>, !tosa.shape<2>, tensor<1xf32>) -> tensor<26xf32>
  return %b : tensor<26xf32>
}
func.func @plain() -> f32 {
  %a = arith.constant 1.0 : f32
  %b = arith.constant 1.0 : f32
  %c = arith.addf %a, %b : f32
  return %c : f32
}
