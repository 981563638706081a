// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-decompose)' | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-decompose,tp-inline-calls)' | FileCheck %s --check-prefix=INLINED

// Equal softmaxes share a function; a dynamic one stays, to be refused.
// CHECK-LABEL: func.func @main
// CHECK: %[[Y:.*]] = call @tp.softmax.1.4x8xbf16(%{{.*}})
// CHECK: call @tp.softmax.1.4x8xbf16(%[[Y]])
// CHECK: linalg.softmax
// INLINED-LABEL: func.func @main
// INLINED-COUNT-8: linalg.generic
// INLINED-NOT: tp.softmax
func.func @main(%x: tensor<4x8xbf16>, %d: tensor<?x8xf32>) -> (tensor<4x8xbf16>, tensor<?x8xf32>) {
  %e = tensor.empty() : tensor<4x8xbf16>
  %y = linalg.softmax dimension(1) ins(%x : tensor<4x8xbf16>) outs(%e : tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %z = linalg.softmax dimension(1) ins(%y : tensor<4x8xbf16>) outs(%e : tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %w = linalg.softmax dimension(1) ins(%d : tensor<?x8xf32>) outs(%d : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %z, %w : tensor<4x8xbf16>, tensor<?x8xf32>
}
// CHECK: func.func private @tp.softmax.1.4x8xbf16(%{{.*}}: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
// CHECK: arith.constant 0xFF80 : bf16
// CHECK: arith.maxnumf
// CHECK: arith.subf
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK-NOT: func.func
