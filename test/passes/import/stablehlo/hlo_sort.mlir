// stablehlo.sort and chlo.top_k are calls with tp.sort; the region becomes a private function of numbers.
// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file --pass-pipeline='builtin.module(tp-import-stablehlo)' | FileCheck %s

// A constant from outside is a constant in the comparator.
// CHECK-LABEL: func.func @several_operands
// CHECK: %[[R:.*]]:2 = call @tp.sort(%arg0, %arg1) {tp.sort = {dim = 0 : i64, less = @tp.less}} : (tensor<5x3xf32>, tensor<5x3xi16>) -> (tensor<5x3xf32>, tensor<5x3xi16>)
// CHECK: return %[[R]]#0, %[[R]]#1
// CHECK: func.func private @tp.less(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: i16, %{{.*}}: i16) -> i1 attributes {tp.comparator}
// CHECK: %[[C:.*]] = arith.constant 2.0
// CHECK: %[[M:.*]] = arith.mulf %[[A]], %[[C]]
// CHECK: %[[L:.*]] = arith.cmpf olt, %[[M]], %[[B]]
// CHECK: return %[[L]] : i1
// CHECK: func.func private @tp.sort(tensor<5x3xf32>, tensor<5x3xi16>) -> (tensor<5x3xf32>, tensor<5x3xi16>)
func.func @several_operands(%x: tensor<5x3xf32>, %y: tensor<5x3xi16>) -> (tensor<5x3xf32>, tensor<5x3xi16>) {
  %two = "stablehlo.constant"() <{value = dense<2.0> : tensor<f32>}> : () -> tensor<f32>
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i16>, %d: tensor<i16>):
    %1 = "stablehlo.multiply"(%a, %two) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %2 = "stablehlo.compare"(%1, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%2) : (tensor<i1>) -> ()
  }) : (tensor<5x3xf32>, tensor<5x3xi16>) -> (tensor<5x3xf32>, tensor<5x3xi16>)
  return %0#0, %0#1 : tensor<5x3xf32>, tensor<5x3xi16>
}

// -----

// The last dimension if none is given; negative ones count from the end. Sorts of one type share a declaration; names that are taken are avoided.
// CHECK-LABEL: func.func @dimensions
// CHECK: call @tp.sort.1(%arg0) {tp.sort = {dim = 1 : i64, less = @tp.less.1}}
// CHECK: call @tp.sort.1({{.*}}) {tp.sort = {dim = 0 : i64, less = @tp.less.2}}
// CHECK: func.func private @tp.less.1
// CHECK: arith.cmpi ugt
// CHECK: func.func private @tp.sort.1(tensor<4x3xi32>) -> tensor<4x3xi32>
func.func @dimensions(%x: tensor<4x3xui32>) -> tensor<4x3xui32> {
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
    %2 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    "stablehlo.return"(%2) : (tensor<i1>) -> ()
  }) : (tensor<4x3xui32>) -> tensor<4x3xui32>
  %1 = "stablehlo.sort"(%0) <{dimension = -2 : i64}> ({
  ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
    %2 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    "stablehlo.return"(%2) : (tensor<i1>) -> ()
  }) : (tensor<4x3xui32>) -> tensor<4x3xui32>
  return %1 : tensor<4x3xui32>
}
func.func private @tp.sort(tensor<f32>) -> tensor<f32>
func.func private @tp.less(tensor<f32>) -> tensor<f32>

// -----

// The largest elements in total order, with their positions.
// CHECK-LABEL: func.func @top_k
// CHECK: %[[P:.*]] = linalg.generic
// CHECK: linalg.index 1
// CHECK: call @tp.sort(%arg0, %[[P]]) {tp.sort = {dim = 1 : i64, less = @tp.less}} : (tensor<4x9xf32>, tensor<4x9xi32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
// CHECK: func.func private @tp.less(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: i32, %{{.*}}: i32) -> i1
// CHECK: arith.bitcast %[[A]] : f32 to i32
// CHECK: arith.bitcast %[[B]] : f32 to i32
// CHECK: arith.cmpi sgt
func.func @top_k(%x: tensor<4x9xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>) {
  %0:2 = "chlo.top_k"(%x) <{k = 2 : i64}> : (tensor<4x9xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
  return %0#0, %0#1 : tensor<4x2xf32>, tensor<4x2xi32>
}

// -----

// CHECK-LABEL: func.func @top_k_unsigned
// CHECK: func.func private @tp.less(%[[A:.*]]: i8, %[[B:.*]]: i8,
// CHECK: arith.cmpi ugt, %[[A]], %[[B]]
func.func @top_k_unsigned(%x: tensor<9xui8>) -> (tensor<2xui8>, tensor<2xi32>) {
  %0:2 = "chlo.top_k"(%x) <{k = 2 : i64}> : (tensor<9xui8>) -> (tensor<2xui8>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2xui8>, tensor<2xi32>
}
