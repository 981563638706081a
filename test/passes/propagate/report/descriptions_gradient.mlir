// A result that is said to be the gradient of an argument is described so, and what leads to it.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{report=%t.json report-alternatives=0})' -o /dev/null
// RUN: %python -B %S/Inputs/descriptions.py %t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json

// CHECK: %x: x
// CHECK-NEXT: %w: w
// CHECK-NEXT: %v: v
// CHECK-NEXT: %g: gradient/y
// CHECK: %[[#]]: input of v
// CHECK: %[[#]]: gradient of v
// CHECK: %[[#]]: gradient at the output of w
// CHECK: %[[#]]: gradient of w before the transpose
// CHECK: gradient of w
// CHECK: result 0: y
// CHECK-NEXT: result 1: gradient of w
// CHECK-NEXT: result 2: of v

// JSON: "gradient_at": 0
// JSON: "gradient_of": 1
// JSON: "gradient_of": 2

shard.grid @mesh(shape = 2) {tp.axes = ["dp"]}
func.func @step(%x: tensor<16x8xf32> {tp.name = "x"}, %w: tensor<8x4xf32> {tp.name = "w", tp.role = "param"},
                %v: tensor<4x6xf32> {tp.name = "v", tp.role = "param"}, %g: tensor<16x6xf32> {tp.name = "gradient/y", tp.gradient = 0})
    -> (tensor<16x6xf32> {tp.name = "y"}, tensor<8x4xf32> {tp.gradient = 1}, tensor<4x6xf32> {tp.gradient = 2, tp.name = "of v"}) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<16x4xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<16x4xf32>) -> tensor<16x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<16x8xf32>, tensor<8x4xf32>) outs(%i0 : tensor<16x4xf32>) -> tensor<16x4xf32>
  %e1 = tensor.empty() : tensor<16x6xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<16x6xf32>) -> tensor<16x6xf32>
  %1 = linalg.matmul ins(%0, %v : tensor<16x4xf32>, tensor<4x6xf32>) outs(%i1 : tensor<16x6xf32>) -> tensor<16x6xf32>
  %e2 = tensor.empty() : tensor<4x16xf32>
  %2 = linalg.transpose ins(%0 : tensor<16x4xf32>) outs(%e2 : tensor<4x16xf32>) permutation = [1, 0]
  %e3 = tensor.empty() : tensor<4x6xf32>
  %i3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = linalg.matmul ins(%2, %g : tensor<4x16xf32>, tensor<16x6xf32>) outs(%i3 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %e4 = tensor.empty() : tensor<6x4xf32>
  %4 = linalg.transpose ins(%v : tensor<4x6xf32>) outs(%e4 : tensor<6x4xf32>) permutation = [1, 0]
  %5 = linalg.matmul ins(%g, %4 : tensor<16x6xf32>, tensor<6x4xf32>) outs(%i0 : tensor<16x4xf32>) -> tensor<16x4xf32>
  %e5 = tensor.empty() : tensor<4x16xf32>
  %6 = linalg.transpose ins(%5 : tensor<16x4xf32>) outs(%e5 : tensor<4x16xf32>) permutation = [1, 0]
  %e6 = tensor.empty() : tensor<4x8xf32>
  %i6 = linalg.fill ins(%zero : f32) outs(%e6 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = linalg.matmul ins(%6, %x : tensor<4x16xf32>, tensor<16x8xf32>) outs(%i6 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %e7 = tensor.empty() : tensor<8x4xf32>
  %8 = linalg.transpose ins(%7 : tensor<4x8xf32>) outs(%e7 : tensor<8x4xf32>) permutation = [1, 0]
  return %1, %8, %3 : tensor<16x6xf32>, tensor<8x4xf32>, tensor<4x6xf32>
}
