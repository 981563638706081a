// Barriers that follow each other are one op, as before they were imported; others wait for nothing but their operand.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-export-stablehlo)' | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-export-stablehlo,tp-import-stablehlo)' | FileCheck %s --check-prefix=BACK

// CHECK: %[[A:.*]]:2 = "stablehlo.optimization_barrier"(%arg0, %arg1) : (tensor<4xf32>, tensor<2x3xi32>) -> (tensor<4xf32>, tensor<2x3xi32>)
// CHECK-NEXT: %[[B:.*]] = "stablehlo.optimization_barrier"(%[[A]]#0) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[B]], %[[A]]#1
// BACK-COUNT-3: bufferization.alloc_tensor
func.func @main(%x: tensor<4xf32>, %y: tensor<2x3xi32>) -> (tensor<4xf32>, tensor<2x3xi32>) {
  %a = bufferization.alloc_tensor() copy(%x) : tensor<4xf32>
  %b = bufferization.alloc_tensor() copy(%y) : tensor<2x3xi32>
  %c = bufferization.alloc_tensor() copy(%a) : tensor<4xf32>
  return %c, %b : tensor<4xf32>, tensor<2x3xi32>
}
