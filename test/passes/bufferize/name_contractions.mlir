// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-name-contractions)' | FileCheck %s
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-name-contractions,inline,symbol-dce)' | FileCheck %s --check-prefix=INLINE

// A named op, a generic, and transposes, which become part of the maps.
// CHECK-LABEL: func.func @matmul(%arg0: tensor<8x4xf32>, %arg1: tensor<16x8xf32>
// CHECK: call @tp.contraction.0(%arg0, %arg1, %{{.*}})
// CHECK-LABEL: func.func private @tp.contraction.0
// CHECK: linalg.contract indexing_maps = [#[[A:.*]], #[[B:.*]], #[[C:.*]]] ins(%arg0, %arg1 : tensor<8x4xf32>, tensor<16x8xf32>) outs(%arg2 : tensor<4x16xf32>)
// INLINE-LABEL: func.func @matmul
// INLINE: linalg.contract
// INLINE-NOT: private
#perm = affine_map<(d0, d1) -> (d0, d1)>
func.func @matmul(%a: tensor<8x4xf32>, %b: tensor<16x8xf32>, %c: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %ea = tensor.empty() : tensor<4x8xf32>
  %ta = linalg.transpose ins(%a : tensor<8x4xf32>) outs(%ea : tensor<4x8xf32>) permutation = [1, 0]
  %eb = tensor.empty() : tensor<8x16xf32>
  %tb = linalg.transpose ins(%b : tensor<16x8xf32>) outs(%eb : tensor<8x16xf32>) permutation = [1, 0]
  %0 = linalg.matmul ins(%ta, %tb : tensor<4x8xf32>, tensor<8x16xf32>) outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

// Operands of a narrower type are widened before; A and B are in the order of the multiplication.
// CHECK-LABEL: func.func @widened
// CHECK: %[[A:.*]] = arith.extf %arg0 : tensor<4x8xbf16> to tensor<4x8xf32>
// CHECK: call @tp.contraction.0(%arg1, %[[A]], %arg2)
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @widened(%a: tensor<4x8xbf16>, %b: tensor<8x16xf32>, %c: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x8xbf16>, tensor<8x16xf32>) outs(%c : tensor<4x16xf32>) {
  ^bb0(%x: bf16, %y: f32, %z: f32):
    %w = arith.extf %x : bf16 to f32
    %p = arith.mulf %y, %w : f32
    %s = arith.addf %p, %z : f32
    linalg.yield %s : f32
  } -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

// Not contractions: a product without a sum, a sum of squares (one operand), integers, a window.
// CHECK-LABEL: func.func @others
// CHECK-NOT: tp.contraction
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @others(%a: tensor<4x8xf32>, %r: tensor<4xf32>, %i: tensor<4x8xi32>, %j: tensor<8x4xi32>, %k: tensor<4x4xi32>)
    -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4x4xi32>) {
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x8xf32>) outs(%r : tensor<4xf32>) {
  ^bb0(%x: f32, %z: f32):
    %p = arith.mulf %x, %x : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %2 = linalg.matmul ins(%i, %j : tensor<4x8xi32>, tensor<8x4xi32>) outs(%k : tensor<4x4xi32>) -> tensor<4x4xi32>
  return %0, %1, %2 : tensor<4x8xf32>, tensor<4xf32>, tensor<4x4xi32>
}

// -----

// A result that is only read transposed is made so, out of a fill of that shape; with another reader, or out of what is not a fill, it stays.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[C:.*]] = affine_map<(d0, d1, d2) -> (d1, d0)>
// CHECK-LABEL: func.func @results
// CHECK: %[[FILL:.*]] = linalg.fill {{.*}} outs(%{{.*}} : tensor<16x4xf32>)
// CHECK: %[[R:.*]] = call @tp.contraction.0(%arg0, %arg1, %[[FILL]]) : (tensor<4x8xf32>, tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
// CHECK: %[[S:.*]] = call @tp.contraction.1{{.*}} -> tensor<16x4xf32>
// CHECK: call @tp.contraction.2{{.*}} -> tensor<4x16xf32>
// CHECK: call @tp.contraction.3{{.*}} -> tensor<4x16xf32>
// CHECK: return %[[R]], %[[S]],
// CHECK: func.func private @tp.contraction.0
// CHECK: linalg.contract indexing_maps = [#[[A]], #[[B]], #[[C]]]
#turn = affine_map<(d0, d1) -> (d1, d0)>
#stay = affine_map<(d0, d1) -> (d0, d1)>
func.func @results(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %c: tensor<4x16xf32>)
    -> (tensor<16x4xf32>, tensor<16x4xf32>, tensor<4x16xf32>, tensor<16x4xf32>, tensor<16x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x16xf32>
  %t = tensor.empty() : tensor<16x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%f : tensor<4x16xf32>) -> tensor<4x16xf32>
  %1 = linalg.generic {indexing_maps = [#turn, #stay], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x16xf32>) outs(%t : tensor<16x4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<16x4xf32>
  %2 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%f : tensor<4x16xf32>) -> tensor<4x16xf32>
  %3 = linalg.transpose ins(%2 : tensor<4x16xf32>) outs(%t : tensor<16x4xf32>) permutation = [1, 0]
  %4 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%f : tensor<4x16xf32>) -> tensor<4x16xf32>
  %5 = linalg.transpose ins(%4 : tensor<4x16xf32>) outs(%t : tensor<16x4xf32>) permutation = [1, 0]
  %6 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
  %7 = linalg.transpose ins(%6 : tensor<4x16xf32>) outs(%t : tensor<16x4xf32>) permutation = [1, 0]
  return %1, %3, %4, %5, %7 : tensor<16x4xf32>, tensor<16x4xf32>, tensor<4x16xf32>, tensor<16x4xf32>, tensor<16x4xf32>
}
