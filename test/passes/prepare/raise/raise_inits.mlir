// RUN: shard-opt %s --split-input-file --pass-pipeline="builtin.module(tp-raise)" | FileCheck %s

// Inits that nobody reads: of a generic, of a named op, of a fill.

#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @unread
// CHECK-SAME: %[[A:.*]]: tensor<4x8xf32>
// CHECK-NOT: linalg.fill
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x8xf32>
// CHECK: %[[R:.*]] = linalg.generic {{.*}} outs(%[[E]] :
// CHECK: %[[F:.*]] = tensor.empty() : tensor<8x4xf32>
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[R]] : tensor<4x8xf32>) outs(%[[F]] : tensor<8x4xf32>)
// CHECK: return %[[T]]
func.func @unread(%a: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<4x8xf32>
  %g = arith.constant dense<1.0> : tensor<8x4xf32>
  %t = linalg.transpose ins(%r : tensor<4x8xf32>) outs(%g : tensor<8x4xf32>) permutation = [1, 0]
  return %t : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @refill
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x8xf32>
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%[[E]] : tensor<4x8xf32>)
// CHECK: return
func.func @refill(%a: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.negf %a : tensor<4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%n : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %n, %f : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Not those that are read, nor arguments, nor what an annotation holds.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}
// CHECK-LABEL: func.func @read
// CHECK-SAME: %[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<4x8xf32>
// CHECK: %[[F:.*]] = linalg.fill
// CHECK: linalg.generic {{.*}} outs(%[[F]] : tensor<4xf32>)
// CHECK: linalg.generic {{.*}} outs(%[[B]] : tensor<4x8xf32>)
// CHECK: %[[S:.*]] = shard.shard %
// CHECK: linalg.generic {{.*}} outs(%[[S]] : tensor<4x8xf32>)
func.func @read(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x8xf32>
  %g = tensor.empty() : tensor<4x8xf32>
  %layout = shard.sharding @mesh split_axes = [[0], []] : !shard.sharding
  %h = shard.shard %g to %layout : tensor<4x8xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%h : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x8xf32>
  return %r, %n, %m : tensor<4xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Nor one of which the op leaves elements as they are: a diagonal, a loop over nothing, sizes that are not known.

#one = affine_map<(d0) -> (d0)>
#diagonal = affine_map<(d0) -> (d0, d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @diagonal
// CHECK: %[[N:.*]] = arith.negf
// CHECK: linalg.generic {{.*}} outs(%[[N]] :
func.func @diagonal(%a: tensor<4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %n = arith.negf %b : tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [#one, #diagonal], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%n : tensor<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @nothing
// CHECK: %[[N:.*]] = arith.negf
// CHECK: linalg.generic {{.*}} outs(%[[N]] :
func.func @nothing(%a: tensor<4x0xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %n = arith.negf %b : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x0xf32>) outs(%n : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @unknown
// CHECK: %[[N:.*]] = arith.negf
// CHECK: linalg.generic {{.*}} outs(%[[N]] :
func.func @unknown(%a: tensor<4x?xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %n = arith.negf %b : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x?xf32>) outs(%n : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// A constant in the map writes all of a dimension of size 1, and one column of a larger one: what the others hold is read.

// CHECK-LABEL: func.func @columns
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x1xf32>
// CHECK: linalg.generic {{.*}} outs(%[[E]] : tensor<4x1xf32>)
// CHECK: %[[F:.*]] = linalg.fill
// CHECK: linalg.generic {{.*}} outs(%[[F]] : tensor<4x2xf32>)
func.func @columns(%a: tensor<4xf32>) -> (tensor<4x1xf32>, tensor<4x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x1xf32>) -> tensor<4x1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0, 0)>], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%f : tensor<4x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<4x1xf32>
  %g = tensor.empty() : tensor<4x2xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<4x2xf32>) -> tensor<4x2xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0, 0)>], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%h : tensor<4x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<4x2xf32>
  return %r, %s : tensor<4x1xf32>, tensor<4x2xf32>
}
