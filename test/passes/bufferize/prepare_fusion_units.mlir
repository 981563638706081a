// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-prepare-fusion,canonicalize)' | FileCheck %s

// Sums over dimensions of one element are elementwise ops on a reshaped tensor, which still add the init.
// CHECK-LABEL: func @units(
// CHECK-SAME: %[[X:.*]]: tensor<1x4x1x8xf32>
// CHECK: %[[Y:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1, 2], [3]] : tensor<1x4x1x8xf32> into tensor<4x8xf32>
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], iterator_types = ["parallel", "parallel"]} ins(%[[Y]] : tensor<4x8xf32>)
// CHECK: arith.addf %{{.*}}, %cst
// CHECK-NOT: reduction
#in = affine_map<(a, b, c, d) -> (a, b, c, d)>
#out = affine_map<(a, b, c, d) -> (b, d)>
func.func @units(%x: tensor<1x4x1x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction", "parallel", "reduction", "parallel"]}
      ins(%x : tensor<1x4x1x8xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// All dimensions.
// CHECK-LABEL: func @all(
// CHECK: tensor.collapse_shape %{{.*}} [] : tensor<1x1xf32> into tensor<f32>
// CHECK-NOT: reduction
#id = affine_map<(a, b) -> (a, b)>
#none = affine_map<(a, b) -> ()>
func.func @all(%x: tensor<1x1xf32>, %f: tensor<f32>) -> tensor<f32> {
  %y = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<1x1xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.maximumf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// A sum, and one that knows where it is.
// CHECK-LABEL: func @stays(
// CHECK-COUNT-2: "reduction"
#id = affine_map<(a, b) -> (a, b)>
#first = affine_map<(a, b) -> (a)>
func.func @stays(%x: tensor<4x2xf32>, %z: tensor<4x1xf32>, %f: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = linalg.generic {indexing_maps = [#id, #first], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x2xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %w = linalg.generic {indexing_maps = [#id, #first], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<4x1xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.sitofp %j : i32 to f32
    %m = arith.mulf %a, %k : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y, %w : tensor<4xf32>, tensor<4xf32>
}
