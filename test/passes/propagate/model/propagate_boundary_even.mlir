// boundary=even: arguments and results are split by whole axes that divide their dimensions; a result as well whose producer makes
// it uneven. Inside, uneven layouts remain. A layout that an annotation names stays.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{boundary=whole})' | FileCheck %s --check-prefix=WHOLE
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{boundary=even})' | FileCheck %s --check-prefix=EVEN
// RUN: sed 's/%w: tensor<64x30xf32>/& {tp.sharding = [[], ["tp"]]}/' %s > %t.mlir
// RUN: shard-opt %t.mlir --pass-pipeline='builtin.module(tp-propagate{boundary=even})' | FileCheck %s --check-prefix=NAMED
// RUN: shard-run %s
// The new value of an argument has the layout that the annotation of the argument names.
// RUN: sed 's/%x: tensor<17x64xf32>/& {tp.sharding = [["tp"], []]}/; s/-> tensor<17x30xf32> {$/-> (tensor<17x64xf32> {tp.updates = 0}, tensor<17x30xf32>) {/; s/return %y : /return %a, %y : tensor<17x64xf32>, /' %s > %t.step.mlir
// RUN: shard-opt %t.step.mlir --pass-pipeline='builtin.module(tp-propagate{boundary=even})' | FileCheck %s --check-prefix=UPDATE
// RUN: shard-run %t.step.mlir

// WHOLE: -> (tensor<17x30xf32> {tp.sharding = {{\[\[}}"tp"], []]})
// EVEN: func.func @main(%arg0: tensor<17x64xf32> {tp.sharding = {{\[\[}}], ["tp"]]}, %arg1: tensor<64x30xf32> {tp.sharding = {{\[\[}}"tp"], []]})
// EVEN-SAME: -> (tensor<17x30xf32> {tp.sharding = {{\[\[}}], []]})
// UPDATE: %arg0: tensor<17x64xf32> {tp.sharding = {{\[\[}}"tp"], []]}
// UPDATE-SAME: -> (tensor<17x64xf32> {tp.sharding = {{\[\[}}"tp"], []], tp.updates = 0 : i64}
// NAMED: %arg1: tensor<64x30xf32> {tp.sharding = {{\[\[}}], ["tp"]]}
// NAMED-SAME: -> (tensor<17x30xf32> {tp.sharding = {{\[\[}}], []]})
shard.grid @mesh(shape = 8) {tp.axes = ["tp"]}
func.func @main(%x: tensor<17x64xf32>, %w: tensor<64x30xf32>) -> tensor<17x30xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<17x30xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<17x30xf32>) -> tensor<17x30xf32>
  %a = math.tanh %x : tensor<17x64xf32>
  %y = linalg.matmul ins(%a, %w : tensor<17x64xf32>, tensor<64x30xf32>) outs(%f : tensor<17x30xf32>) -> tensor<17x30xf32>
  return %y : tensor<17x30xf32>
}
