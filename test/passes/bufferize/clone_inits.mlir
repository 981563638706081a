// Every op that overwrites a fill gets one of its own, in front of it; a fill that is only read stays where it is.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-clone-inits)' | FileCheck %s

// CHECK-LABEL: func.func @two_sums
// CHECK: tensor.empty
// CHECK: %[[A:.*]] = linalg.fill
// CHECK: linalg.matmul {{.*}} outs(%[[A]]
// CHECK: tensor.empty
// CHECK: %[[B:.*]] = linalg.fill
// CHECK: linalg.matmul {{.*}} outs(%[[B]]
// CHECK-NOT: linalg.fill
func.func @two_sums(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = linalg.matmul ins(%x, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = linalg.matmul ins(%a, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %a, %b : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// In a loop it is filled anew in each iteration.
// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK: linalg.fill
// CHECK: linalg.matmul
func.func @loop(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> tensor<4x4xf32> {
    %b = linalg.matmul ins(%a, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %b : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// -----

// An elementwise op overwrites what nothing reads after it: not an argument, not a transposed operand.
#id = affine_map<(d0, d1) -> (d0, d1)>
#t = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @overwritten
// CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<4x4xf32>) outs(%[[E:.*]] :
// CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%[[A]] : tensor<4x4xf32>) outs(%[[A]] :
// CHECK: %[[C:.*]] = linalg.generic {{.*}} ins(%[[B]] : tensor<4x4xf32>) outs(%[[F:.*]] :
// CHECK: linalg.generic {{.*}} ins(%[[B]], %[[C]] : tensor<4x4xf32>, tensor<4x4xf32>) outs(%[[B]] :
func.func @overwritten(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = math.exp %in : f32
    linalg.yield %v : f32
  } -> tensor<4x4xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = math.exp %in : f32
    linalg.yield %v : f32
  } -> tensor<4x4xf32>
  %c = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x4xf32>
  %d = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%b, %c : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%in: f32, %in2: f32, %out: f32):
    %v = arith.addf %in, %in2 : f32
    linalg.yield %v : f32
  } -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}

// -----

// What others have read before is overwritten by the last that reads it; what is a part of something else, or is read later, is not.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @last_reader
// CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<4x4xf32>) outs(%{{.*}} :
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[A]] : tensor<4x4xf32>) outs(%{{.*}} : tensor<4xf32>)
// CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[S]] : {{.*}}) outs(%[[A]] :
// CHECK: %[[P:.*]] = tensor.extract_slice
// CHECK: linalg.generic {{.*}} ins(%[[P]] : tensor<4x4xf32>) outs(%{{.*}} : tensor<4xf32>)
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x4xf32>
// CHECK: %[[C:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<4x4xf32>) outs(%[[E]] :
// CHECK: %[[F:.*]] = tensor.empty() : tensor<4x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[C]] : tensor<4x4xf32>) outs(%[[F]] :
// CHECK: linalg.generic {{.*}} ins(%[[C]] : tensor<4x4xf32>) outs(%{{.*}} : tensor<4xf32>)
func.func @last_reader(%x: tensor<4x4xf32>, %y: tensor<8x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %r = tensor.empty() : tensor<4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<4xf32>) -> tensor<4xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = math.exp %in : f32
    linalg.yield %v : f32
  } -> tensor<4x4xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x4xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.addf %in, %out : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %b = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %s : tensor<4x4xf32>, tensor<4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%in: f32, %in2: f32, %out: f32):
    %v = arith.divf %in, %in2 : f32
    linalg.yield %v : f32
  } -> tensor<4x4xf32>
  %p = tensor.extract_slice %y[0, 0] [4, 4] [1, 1] : tensor<8x4xf32> to tensor<4x4xf32>
  %t = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4x4xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.addf %in, %out : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = math.exp %in : f32
    linalg.yield %v : f32
  } -> tensor<4x4xf32>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = math.exp %in : f32
    linalg.yield %v : f32
  } -> tensor<4x4xf32>
  %u = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%c : tensor<4x4xf32>) outs(%t : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.addf %in, %out : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %b, %s, %d, %u : tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4xf32>
}

// -----

// Values that a loop carries have different buffers: bufferization would give both that of one tensor.empty.
// CHECK-LABEL: func.func @carried
// CHECK-COUNT-2: tensor.empty
// CHECK-NEXT: scf.for
func.func @carried(%x: f32) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<4xf32>
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %e, %b = %e) -> (tensor<4xf32>, tensor<4xf32>) {
    %y = arith.negf %x : f32
    %c = tensor.insert %x into %a[%i] : tensor<4xf32>
    %d = tensor.insert %y into %b[%i] : tensor<4xf32>
    scf.yield %c, %d : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @carried_while
// CHECK-COUNT-2: tensor.empty
// CHECK-NEXT: scf.while
func.func @carried_while(%x: f32) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<4xf32>
  %r:3 = scf.while (%a = %e, %b = %e, %i = %c0) : (tensor<4xf32>, tensor<4xf32>, index) -> (tensor<4xf32>, tensor<4xf32>, index) {
    %goes_on = arith.cmpi slt, %i, %c4 : index
    scf.condition(%goes_on) %a, %b, %i : tensor<4xf32>, tensor<4xf32>, index
  } do {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>, %i: index):
    %y = arith.negf %x : f32
    %c = tensor.insert %x into %a[%i] : tensor<4xf32>
    %d = tensor.insert %y into %b[%i] : tensor<4xf32>
    %j = arith.addi %i, %c1 : index
    scf.yield %c, %d, %j : tensor<4xf32>, tensor<4xf32>, index
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A fill of a memref makes no value, and stays.
// CHECK-LABEL: func.func @memref
// CHECK-NEXT: linalg.fill ins(%arg0 : f32) outs(%arg1 : memref<5xf32>)
// CHECK-NEXT: return
func.func @memref(%x: f32, %a: memref<5xf32>) {
  linalg.fill ins(%x : f32) outs(%a : memref<5xf32>)
  return
}

// -----

// The last reader of a value overwrites it through a reshape, also where it is read before; but not what a later op reads, and no argument.
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0, d1, d2) -> ()>
// CHECK-LABEL: func.func @through_reshapes
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>
// CHECK: %[[A:.*]] = linalg.exp
// CHECK: %[[B:.*]] = linalg.exp
// CHECK: %[[VA:.*]] = tensor.expand_shape %[[A]]
// CHECK: %[[VB:.*]] = tensor.expand_shape %[[B]]
// CHECK: %[[VX:.*]] = tensor.expand_shape %[[X]]
// CHECK: linalg.generic {{.*}} ins(%[[VA]] : tensor<4x2x3xf32>) outs(%{{.*}} : tensor<f32>)
// CHECK: linalg.generic {{.*}} ins(%[[VX]], %[[VB]], %[[VA]] : {{.*}}) outs(%[[VA]] : tensor<4x2x3xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[B]] : tensor<4x6xf32>) outs(%[[B]] : tensor<4x6xf32>)
func.func @through_reshapes(%x: tensor<4x6xf32>, %s: tensor<f32>) -> (tensor<f32>, tensor<4x2x3xf32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x6xf32>
  %a = linalg.exp ins(%x : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %b = linalg.exp ins(%x : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %va = tensor.expand_shape %a [[0], [1, 2]] output_shape [4, 2, 3] : tensor<4x6xf32> into tensor<4x2x3xf32>
  %vb = tensor.expand_shape %b [[0], [1, 2]] output_shape [4, 2, 3] : tensor<4x6xf32> into tensor<4x2x3xf32>
  %vx = tensor.expand_shape %x [[0], [1, 2]] output_shape [4, 2, 3] : tensor<4x6xf32> into tensor<4x2x3xf32>
  %sum = linalg.generic {indexing_maps = [#id3, #one], iterator_types = ["reduction", "reduction", "reduction"]} ins(%va : tensor<4x2x3xf32>) outs(%s : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.addf %in, %out : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  %f = tensor.empty() : tensor<4x2x3xf32>
  %r = linalg.generic {indexing_maps = [#id3, #id3, #id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%vx, %vb, %va : tensor<4x2x3xf32>, tensor<4x2x3xf32>, tensor<4x2x3xf32>) outs(%f : tensor<4x2x3xf32>) {
  ^bb0(%i: f32, %j: f32, %k: f32, %out: f32):
    %m = arith.mulf %i, %j : f32
    %n = arith.addf %m, %k : f32
    linalg.yield %n : f32
  } -> tensor<4x2x3xf32>
  %g = tensor.empty() : tensor<4x6xf32>
  %t = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<4x6xf32>) outs(%g : tensor<4x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<4x6xf32>
  return %sum, %r, %t : tensor<f32>, tensor<4x2x3xf32>, tensor<4x6xf32>
}
