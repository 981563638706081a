// RUN: shard-run %s --mesh 4 --reference=evaluator | FileCheck %s
// CHECK: verified

// Operands without elements may stand anywhere.
func.func @main(%a: tensor<5x4xf32>, %b: tensor<0x4xf32>, %c: tensor<3x4xf32>) -> (tensor<5x4xf32>, tensor<8x4xf32>, tensor<0x4xf32>) {
  %0 = tensor.concat dim(0) %a, %b : (tensor<5x4xf32>, tensor<0x4xf32>) -> tensor<5x4xf32>
  %1 = tensor.concat dim(0) %b, %a, %b, %c, %b : (tensor<0x4xf32>, tensor<5x4xf32>, tensor<0x4xf32>, tensor<3x4xf32>, tensor<0x4xf32>) -> tensor<8x4xf32>
  %2 = tensor.concat dim(0) %b, %b : (tensor<0x4xf32>, tensor<0x4xf32>) -> tensor<0x4xf32>
  return %0, %1, %2 : tensor<5x4xf32>, tensor<8x4xf32>, tensor<0x4xf32>
}
