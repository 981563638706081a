// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-drop-barriers)' | FileCheck %s

// A barrier becomes its operand, also in the body of a loop. A tensor that copies nothing stays.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[A:.*]] = math.exp %[[X]]
// CHECK-NOT: copy
// CHECK: scf.for {{.*}} iter_args(%[[Y:.*]] = %[[X]])
// CHECK-NEXT: math.exp %[[Y]]
// CHECK: bufferization.alloc_tensor() : tensor<4xf32>
func.func @main(%x: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = math.exp %x : tensor<4xf32>
  %b = bufferization.alloc_tensor() copy(%x) : tensor<4xf32>
  %c = scf.for %i = %zero to %n step %one iter_args(%y = %b) -> tensor<4xf32> {
    %d = bufferization.alloc_tensor() copy(%y) : tensor<4xf32>
    %e = bufferization.alloc_tensor() copy(%d) : tensor<4xf32>
    %f = math.exp %e : tensor<4xf32>
    scf.yield %f : tensor<4xf32>
  }
  %g = bufferization.alloc_tensor() : tensor<4xf32>
  return %a, %c, %g : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
