// RUN: shard-opt %s --split-input-file --pass-pipeline="builtin.module(tp-raise)" | FileCheck %s

// Two pieces, as exporters write a concatenation.

#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @two
// CHECK-SAME: %[[A:.*]]: tensor<3x4xf32>, %[[B:.*]]: tensor<3x2xf32>
// CHECK-NOT: linalg.generic
// CHECK: %[[C:.*]] = tensor.concat dim(1) %[[A]], %[[B]] {tp.sharding = {{\[}}["dp"], []]} : (tensor<3x4xf32>, tensor<3x2xf32>) -> tensor<3x6xf32>
// CHECK-NEXT: return %[[C]]
func.func @two(%a: tensor<3x4xf32>, %b: tensor<3x2xf32>) -> tensor<3x6xf32> {
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<3x6xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<3x6xf32>) attrs = {tp.sharding = [["dp"], []]} {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %first = arith.cmpi ult, %j, %c4 : index
    %v = scf.if %first -> (f32) {
      %x = tensor.extract %a[%i, %j] : tensor<3x4xf32>
      scf.yield %x : f32
    } else {
      %k = arith.subi %j, %c4 : index
      %x = tensor.extract %b[%i, %k] : tensor<3x2xf32>
      scf.yield %x : f32
    }
    linalg.yield %v : f32
  } -> tensor<3x6xf32>
  return %r : tensor<3x6xf32>
}

// -----

// Three pieces along dimension 0, nested, with other predicates; the middle one is a part of a tensor, and the same tensor comes again.

#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @nested
// CHECK-SAME: %[[A:.*]]: tensor<2x4xf32>, %[[B:.*]]: tensor<5x4xf32>
// CHECK: %[[S:.*]] = tensor.extract_slice %[[B]][1, 0] [3, 4] [1, 1]
// CHECK-NEXT: %[[C:.*]] = tensor.concat dim(0) %[[A]], %[[S]], %[[A]] : (tensor<2x4xf32>, tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<7x4xf32>
// CHECK-NEXT: return %[[C]]
func.func @nested(%a: tensor<2x4xf32>, %b: tensor<5x4xf32>) -> tensor<7x4xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %e = tensor.empty() : tensor<7x4xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<7x4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %last = arith.cmpi sgt, %i, %c4 : index
    %v = scf.if %last -> (f32) {
      %k = arith.subi %i, %c5 : index
      %x = tensor.extract %a[%k, %j] : tensor<2x4xf32>
      scf.yield %x : f32
    } else {
      %first = arith.cmpi slt, %i, %c2 : index
      %w = scf.if %first -> (f32) {
        %x = tensor.extract %a[%i, %j] : tensor<2x4xf32>
        scf.yield %x : f32
      } else {
        %k = arith.subi %i, %c1 : index
        %x = tensor.extract %b[%k, %j] : tensor<5x4xf32>
        scf.yield %x : f32
      }
      scf.yield %w : f32
    }
    linalg.yield %v : f32
  } -> tensor<7x4xf32>
  return %r : tensor<7x4xf32>
}

// -----

// A branch that is never taken does not count; one piece is no concatenation.

#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @one_branch
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>
// CHECK-NOT: linalg.generic
// CHECK: return %[[A]]
func.func @one_branch(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %first = arith.cmpi ult, %i, %c8 : index
    %v = scf.if %first -> (f32) {
      %x = tensor.extract %a[%i] : tensor<4xf32>
      scf.yield %x : f32
    } else {
      %k = arith.subi %i, %c8 : index
      %x = tensor.extract %b[%k] : tensor<4xf32>
      scf.yield %x : f32
    }
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Not when the second piece is read out of bounds.

#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @out_of_bounds
// CHECK-NOT: tensor.concat
// CHECK: scf.if
func.func @out_of_bounds(%a: tensor<4xf32>, %b: tensor<3xf32>) -> tensor<8xf32> {
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<8xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %first = arith.cmpi ult, %i, %c4 : index
    %v = scf.if %first -> (f32) {
      %x = tensor.extract %a[%i] : tensor<4xf32>
      scf.yield %x : f32
    } else {
      %k = arith.subi %i, %c4 : index
      %x = tensor.extract %b[%k] : tensor<3xf32>
      scf.yield %x : f32
    }
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Nor when other dimensions are not read in order, when a piece is computed, or when the branches compare different loops.

#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @transposed
// CHECK-NOT: tensor.concat
// CHECK: return
func.func @transposed(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %first = arith.cmpi ult, %j, %c2 : index
    %v = scf.if %first -> (f32) {
      %x = tensor.extract %a[%i, %j] : tensor<4x4xf32>
      scf.yield %x : f32
    } else {
      %x = tensor.extract %b[%j, %i] : tensor<4x4xf32>
      scf.yield %x : f32
    }
    linalg.yield %v : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @computed
// CHECK-NOT: tensor.concat
// CHECK: return
func.func @computed(%a: tensor<4x4xf32>, %zero: f32) -> tensor<4x6xf32> {
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<4x6xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x6xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %first = arith.cmpi ult, %j, %c4 : index
    %v = scf.if %first -> (f32) {
      %x = tensor.extract %a[%i, %j] : tensor<4x4xf32>
      scf.yield %x : f32
    } else {
      scf.yield %zero : f32
    }
    linalg.yield %v : f32
  } -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @two_loops
// CHECK-NOT: tensor.concat
// CHECK: return
func.func @two_loops(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %left = arith.cmpi ult, %j, %c2 : index
    %v = scf.if %left -> (f32) {
      %upper = arith.cmpi ult, %i, %c2 : index
      %w = scf.if %upper -> (f32) {
        %x = tensor.extract %a[%i, %j] : tensor<4x4xf32>
        scf.yield %x : f32
      } else {
        %x = tensor.extract %b[%i, %j] : tensor<4x4xf32>
        scf.yield %x : f32
      }
      scf.yield %w : f32
    } else {
      %x = tensor.extract %b[%i, %j] : tensor<4x4xf32>
      scf.yield %x : f32
    }
    linalg.yield %v : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// Nor when something in the body can fail, or when the op names the choice of factors that a plan has made.

#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @asserts
// CHECK-NOT: tensor.concat
// CHECK: cf.assert
func.func @asserts(%a: tensor<4xf32>, %b: tensor<4xf32>, %ok: i1) -> tensor<8xf32> {
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<8xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    cf.assert %ok, "not ready"
    %first = arith.cmpi ult, %i, %c4 : index
    %v = scf.if %first -> (f32) {
      %x = tensor.extract %a[%i] : tensor<4xf32>
      scf.yield %x : f32
    } else {
      %k = arith.subi %i, %c4 : index
      %x = tensor.extract %b[%k] : tensor<4xf32>
      scf.yield %x : f32
    }
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @has_factors
// CHECK-NOT: tensor.concat
// CHECK: tp.factors
func.func @has_factors(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<8xf32> {
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<8xf32>) attrs = {tp.factors = {tp = 0}} {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %first = arith.cmpi ult, %i, %c4 : index
    %v = scf.if %first -> (f32) {
      %x = tensor.extract %a[%i] : tensor<4xf32>
      scf.yield %x : f32
    } else {
      %k = arith.subi %i, %c4 : index
      %x = tensor.extract %b[%k] : tensor<4xf32>
      scf.yield %x : f32
    }
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
