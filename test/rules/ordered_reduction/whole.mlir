// What is not proven to combine stays whole.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-propagate{mesh=2})'

// The last of equals, without a look at the index: a device whose elements all lose would bring the initial index again.
#ij = affine_map<(d0, d1) -> (d0, d1)>
#i = affine_map<(d0, d1) -> (d0)>
func.func @last(%a: tensor<4x6xi32>, %v: tensor<4xi32>, %n: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // expected-error @below {{tp.factors names a strategy that this op does not have on this mesh}}
  %r:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x6xi32>) outs(%v, %n : tensor<4xi32>, tensor<4xi32>) attrs = {tp.factors = {tp = 1}} {
  ^bb0(%in: i32, %out: i32, %at: i32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    %g = arith.cmpi sge, %in, %out : i32
    %w = arith.select %g, %in, %out : i32
    %i = arith.select %g, %k, %at : i32
    linalg.yield %w, %i : i32, i32
  } -> (tensor<4xi32>, tensor<4xi32>)
  return %r#0, %r#1 : tensor<4xi32>, tensor<4xi32>
}

// -----

// A NaN is the greatest value, but the index stays where it was: from the pairs of two devices it does not follow.
#ij = affine_map<(d0, d1) -> (d0, d1)>
#i = affine_map<(d0, d1) -> (d0)>
func.func @nan(%a: tensor<4x6xf32>, %v: tensor<4xf32>, %n: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  // expected-error @below {{tp.factors names a strategy that this op does not have on this mesh}}
  %r:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x6xf32>) outs(%v, %n : tensor<4xf32>, tensor<4xi32>) attrs = {tp.factors = {tp = 1}} {
  ^bb0(%in: f32, %out: f32, %at: i32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    %w = arith.maximumf %in, %out : f32
    %g = arith.cmpf ogt, %in, %out : f32
    %i = arith.select %g, %k, %at : i32
    linalg.yield %w, %i : f32, i32
  } -> (tensor<4xf32>, tensor<4xi32>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi32>
}

// -----

// The first of equals: in the inner loop of the reduction the elements of two devices take turns.
#ij = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>
func.func @inner(%a: tensor<4x6xi32>, %b: tensor<4x6xf32>, %v: tensor<i32>, %n: tensor<f32>) -> (tensor<i32>, tensor<f32>) {
  // expected-error @below {{tp.factors names a strategy that this op does not have on this mesh}}
  %r:2 = linalg.generic {indexing_maps = [#ij, #ij, #none, #none], iterator_types = ["reduction", "reduction"]} ins(%a, %b : tensor<4x6xi32>, tensor<4x6xf32>) outs(%v, %n : tensor<i32>, tensor<f32>) attrs = {tp.factors = {tp = 1}} {
  ^bb0(%in: i32, %x: f32, %out: i32, %at: f32):
    %g = arith.cmpi sgt, %in, %out : i32
    %w = arith.select %g, %in, %out : i32
    %i = arith.select %g, %x, %at : f32
    linalg.yield %w, %i : i32, f32
  } -> (tensor<i32>, tensor<f32>)
  return %r#0, %r#1 : tensor<i32>, tensor<f32>
}

// -----

// Values that are computed and not picked: every third element counts double.
#ij = affine_map<(d0, d1) -> (d0, d1)>
#i = affine_map<(d0, d1) -> (d0)>
func.func @computed(%a: tensor<4x6xf32>, %v: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{tp.factors names a strategy that this op does not have on this mesh}}
  %r = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x6xf32>) outs(%v : tensor<4xf32>) attrs = {tp.factors = {tp = 1}} {
  ^bb0(%in: f32, %out: f32):
    %g = arith.cmpf ogt, %in, %out : f32
    %d = arith.addf %out, %out : f32
    %w = arith.select %g, %in, %d : f32
    linalg.yield %w : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Two numbers of one kind, the greatest and the least: the proof takes three numbers for all cases, which they are for one of them only.
#ij = affine_map<(d0, d1) -> (d0, d1)>
#i = affine_map<(d0, d1) -> (d0)>
func.func @two_numbers(%a: tensor<4x6xi32>, %v: tensor<4xi32>, %w: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // expected-error @below {{tp.factors names a strategy that this op does not have on this mesh}}
  %r:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x6xi32>) outs(%v, %w : tensor<4xi32>, tensor<4xi32>) attrs = {tp.factors = {tp = 1}} {
  ^bb0(%in: i32, %most: i32, %least: i32):
    %g = arith.cmpi sgt, %in, %most : i32
    %m = arith.select %g, %in, %most : i32
    %h = arith.cmpi slt, %in, %least : i32
    %n = arith.select %h, %in, %least : i32
    linalg.yield %m, %n : i32, i32
  } -> (tensor<4xi32>, tensor<4xi32>)
  return %r#0, %r#1 : tensor<4xi32>, tensor<4xi32>
}
