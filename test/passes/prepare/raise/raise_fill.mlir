// RUN: shard-opt %s --split-input-file --pass-pipeline="builtin.module(tp-raise)" | FileCheck %s

// A number that is copied to every element, from a tensor of one number, a scalar, or a tensor that is the number everywhere, also in several steps.
#id = affine_map<(d0, d1) -> (d0, d1)>
#number = affine_map<(d0, d1) -> ()>
#row = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @fills
// CHECK-NOT: linalg.generic
// CHECK-NOT: linalg.broadcast
// CHECK: %[[TWO:.*]] = arith.constant 2.0{{.*}} : f32
// CHECK: %[[A:.*]] = linalg.fill {tp.sharding = {{\[\[}}"x"], []{{\]}}} ins(%[[TWO]] : f32)
// CHECK: %[[B:.*]] = linalg.fill ins(%{{.*}} : f32)
// CHECK: %[[C:.*]] = linalg.fill ins(%{{.*}} : i8)
// CHECK: %[[D:.*]] = linalg.fill ins(%{{.*}} : f32)
// CHECK: return %[[A]], %[[B]], %[[C]], %[[D]]
func.func @fills() -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi8>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %two = arith.constant dense<2.0> : tensor<f32>
  %a = linalg.generic {indexing_maps = [#number, #id], iterator_types = ["parallel", "parallel"]} ins(%two : tensor<f32>) outs(%e : tensor<4x8xf32>)
      attrs = {tp.sharding = [["x"], []]} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x8xf32>
  %three = arith.constant 3.0 : f32
  %b = linalg.generic {indexing_maps = [#number, #id], iterator_types = ["parallel", "parallel"]} ins(%three : f32) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x8xf32>
  %four = arith.constant dense<4> : tensor<8xi8>
  %e8 = tensor.empty() : tensor<4x8xi8>
  %c = linalg.broadcast ins(%four : tensor<8xi8>) outs(%e8 : tensor<4x8xi8>) dimensions = [0]
  %d = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x8xf32>) {
  ^bb0(%out: f32):
    %five = arith.constant 5.0 : f32
    linalg.yield %five : f32
  } -> tensor<4x8xf32>
  return %a, %b, %c, %d : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi8>, tensor<4x8xf32>
}

// -----

// Not: several numbers, a number that is computed, elements that keep their init, an assert in the body.
#id = affine_map<(d0, d1) -> (d0, d1)>
#number = affine_map<(d0, d1) -> ()>
#row = affine_map<(d0, d1) -> (d1)>
#none = affine_map<(d) -> ()>
#line = affine_map<(d) -> (d)>
#diagonal = affine_map<(d) -> (d, d)>
// CHECK-LABEL: func.func @others
// CHECK-NOT: linalg.fill
// CHECK: return
func.func @others(%x: tensor<f32>, %l: tensor<8xf32>, %init: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %several = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %a = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%several : tensor<8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x8xf32>
  %b = linalg.generic {indexing_maps = [#number, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<f32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x8xf32>
  %two = arith.constant dense<2.0> : tensor<f32>
  %c = linalg.generic {indexing_maps = [#none, #line, #diagonal], iterator_types = ["parallel"]} ins(%two, %l : tensor<f32>, tensor<8xf32>)
      outs(%init : tensor<8x8xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8x8xf32>
  %d = linalg.generic {indexing_maps = [#id, #number, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %two : tensor<4x8xf32>, tensor<f32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%v: f32, %in: f32, %out: f32):
    %zero = arith.constant 0.0 : f32
    %ok = arith.cmpf oge, %v, %zero : f32
    cf.assert %ok, "negative"
    linalg.yield %in : f32
  } -> tensor<4x8xf32>
  return %a, %b, %c, %d : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>
}
