// Two slices are inserted into one empty tensor, and two into one filled tensor: each gets its own, right in front of it.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-clone-inits)' | FileCheck %s

// CHECK: %[[E0:.*]] = tensor.empty() : tensor<4x8xf32>
// CHECK-NEXT: tensor.insert_slice %arg0 into %[[E0]]
// CHECK-NEXT: math.exp
// CHECK-NEXT: %[[E1:.*]] = tensor.empty() : tensor<4x8xf32>
// CHECK-NEXT: tensor.insert_slice %arg0 into %[[E1]]
// CHECK-NEXT: %[[E2:.*]] = tensor.empty() : tensor<8x8xf32>
// CHECK-NEXT: %[[F2:.*]] = linalg.fill {{.*}} outs(%[[E2]]
// CHECK-NEXT: tensor.insert_slice %arg0 into %[[F2]]
// CHECK-NEXT: %[[E3:.*]] = tensor.empty() : tensor<8x8xf32>
// CHECK-NEXT: %[[F3:.*]] = linalg.fill {{.*}} outs(%[[E3]]
// CHECK-NEXT: tensor.insert_slice %arg0 into %[[F3]]
func.func @main(%x: tensor<2x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %g = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%g : tensor<8x8xf32>) -> tensor<8x8xf32>
  %a = tensor.insert_slice %x into %e[0, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<4x8xf32>
  %b = math.exp %a : tensor<4x8xf32>
  %c = tensor.insert_slice %x into %e[1, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<4x8xf32>
  %p = tensor.insert_slice %x into %f[0, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<8x8xf32>
  %q = tensor.insert_slice %x into %f[4, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<8x8xf32>
  return %b, %c, %p, %q : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
