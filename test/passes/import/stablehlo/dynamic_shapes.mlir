// Ops that take the shape of their result as an operand, where the type has it too: PyTorch's
// exporter writes torch.arange so.
// RUN: shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-import-stablehlo)' | FileCheck %s
// RUN: shard-run %s --mesh 2 | FileCheck %s --check-prefix=RESULT
// RESULT-COUNT-3: against the evaluator ok
// RESULT: verified
// CHECK-LABEL: func.func @main
// CHECK-NOT: stablehlo
// CHECK: linalg.index 0
// CHECK: linalg.generic
// CHECK: tensor.expand_shape
func.func @main(%x: tensor<12xf32>) -> (tensor<12xf32>, tensor<4x12xf32>, tensor<3x4xf32>) {
  %n = "stablehlo.constant"() <{value = dense<12> : tensor<1xi64>}> : () -> tensor<1xi64>
  %two = "stablehlo.constant"() <{value = dense<[4, 12]> : tensor<2xi64>}> : () -> tensor<2xi64>
  %shape = "stablehlo.constant"() <{value = dense<[3, 4]> : tensor<2xi64>}> : () -> tensor<2xi64>
  %i = "stablehlo.dynamic_iota"(%n) <{iota_dimension = 0 : i64}> : (tensor<1xi64>) -> tensor<12xf32>
  %0 = "stablehlo.add"(%x, %i) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %1 = "stablehlo.dynamic_broadcast_in_dim"(%0, %two) <{broadcast_dimensions = array<i64: 1>}> : (tensor<12xf32>, tensor<2xi64>) -> tensor<4x12xf32>
  %2 = "stablehlo.dynamic_reshape"(%0, %shape) : (tensor<12xf32>, tensor<2xi64>) -> tensor<3x4xf32>
  return %0, %1, %2 : tensor<12xf32>, tensor<4x12xf32>, tensor<3x4xf32>
}
