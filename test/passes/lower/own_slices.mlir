// A slice that outlives its tensor is a copy; all others are views.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-lower-to-runtime)' | FileCheck %s

// The exponentials are needed until %b only, their first row longer. The second slice is needed as long as the tensor.
// CHECK-LABEL: func.func @outlives
// CHECK: %[[E:.*]] = math.exp
// CHECK-NEXT: %[[ROW:.*]] = tensor.extract_slice %[[E]][0, 0] [1, 8]
// CHECK-NEXT: %[[OWN:.*]] = bufferization.alloc_tensor() copy(%[[ROW]])
// CHECK-NEXT: %[[NEXT:.*]] = tensor.extract_slice %[[E]][1, 0] [1, 8]
// CHECK-NEXT: math.absf %[[NEXT]]
// CHECK-NEXT: math.sin %[[E]]
// CHECK: math.tanh %[[OWN]]
func.func @outlives(%x: tensor<4x8xf32>) -> (tensor<1x8xf32>, tensor<4x8xf32>, tensor<1x8xf32>) {
  %e = math.exp %x : tensor<4x8xf32>
  %row = tensor.extract_slice %e[0, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<1x8xf32>
  %next = tensor.extract_slice %e[1, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<1x8xf32>
  %a = math.absf %next : tensor<1x8xf32>
  %b = math.sin %e : tensor<4x8xf32>
  %c = math.cos %b : tensor<4x8xf32>
  %d = math.tanh %row : tensor<1x8xf32>
  return %a, %c, %d : tensor<1x8xf32>, tensor<4x8xf32>, tensor<1x8xf32>
}

// -----

// Both slices outlive the tensor, also one behind a view. Slices of arguments, of constants, and in a loop of values from outside are views.
// CHECK-LABEL: func.func @several
// CHECK: %[[E:.*]] = math.exp
// CHECK-NEXT: tensor.extract_slice %[[E]]
// CHECK-NEXT: bufferization.alloc_tensor
// CHECK-NEXT: %[[V:.*]] = tensor.collapse_shape %[[E]]
// CHECK-NEXT: tensor.extract_slice %[[V]]
// CHECK-NEXT: bufferization.alloc_tensor
// CHECK-NOT: bufferization.alloc_tensor
func.func @several(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %k = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]> : tensor<9xf32>
  %e = math.exp %x : tensor<4x8xf32>
  %p = tensor.extract_slice %e[0, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
  %v = tensor.collapse_shape %e [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  %q = tensor.extract_slice %v[8] [8] [1] : tensor<32xf32> to tensor<8xf32>
  %s = tensor.extract_slice %x[2, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
  %t = tensor.extract_slice %k[1] [8] [1] : tensor<9xf32> to tensor<8xf32>
  %f = math.sin %x : tensor<4x8xf32>
  %a = arith.addf %p, %q : tensor<8xf32>
  %b = arith.addf %s, %t : tensor<8xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%sum = %a) -> tensor<8xf32> {
    %u = tensor.extract_slice %f[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %w = arith.addf %sum, %u : tensor<8xf32>
    scf.yield %w : tensor<8xf32>
  }
  %y = arith.addf %r, %b : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// Slices that are more than half of the tensor are views: copies would save nothing.
// CHECK-LABEL: func.func @thirds
// CHECK-NOT: bufferization.alloc_tensor
func.func @thirds(%x: tensor<3x8xf32>) -> tensor<1x8xf32> {
  %e = math.exp %x : tensor<3x8xf32>
  %q = tensor.extract_slice %e[0, 0] [1, 8] [1, 1] : tensor<3x8xf32> to tensor<1x8xf32>
  %k = tensor.extract_slice %e[1, 0] [1, 8] [1, 1] : tensor<3x8xf32> to tensor<1x8xf32>
  %v = tensor.extract_slice %e[2, 0] [1, 8] [1, 1] : tensor<3x8xf32> to tensor<1x8xf32>
  %a = arith.addf %q, %k : tensor<1x8xf32>
  %b = arith.mulf %a, %v : tensor<1x8xf32>
  return %b : tensor<1x8xf32>
}
