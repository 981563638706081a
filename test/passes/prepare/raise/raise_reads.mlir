// RUN: shard-opt %s --split-input-file --pass-pipeline="builtin.module(tp-raise)" | FileCheck %s

// A gather reads its indices at loop indices: they become an operand. The table is read at computed indices: it stays captured.

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK: #[[TOKENS:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
// CHECK: #[[ID:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @gather
// CHECK-SAME: %[[T:.*]]: tensor<8x12x1xi32>, %[[TABLE:.*]]: tensor<128x32xf32>
// CHECK: linalg.generic {indexing_maps = [#[[TOKENS]], #[[ID]]], {{.*}}} ins(%[[T]] : tensor<8x12x1xi32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: i32, %{{.*}}: f32):
// CHECK-NEXT: %[[J:.*]] = linalg.index 2
// CHECK-NEXT: %[[I:.*]] = arith.index_cast %[[IN]]
// CHECK-NEXT: %[[LO:.*]] = arith.maxsi %[[I]]
// CHECK-NEXT: %[[HI:.*]] = arith.minsi %[[LO]]
// CHECK-NEXT: tensor.extract %[[TABLE]][%[[HI]], %[[J]]]
func.func @gather(%tokens: tensor<8x12x1xi32>, %table: tensor<128x32xf32>) -> tensor<8x12x32xf32> {
  %c0 = arith.constant 0 : index
  %c127 = arith.constant 127 : index
  %e = tensor.empty() : tensor<8x12x32xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<8x12x32xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %token = tensor.extract %tokens[%i, %j, %c0] : tensor<8x12x1xi32>
    %row = arith.index_cast %token : i32 to index
    %low = arith.maxsi %row, %c0 : index
    %high = arith.minsi %low, %c127 : index
    %x = tensor.extract %table[%high, %k] : tensor<128x32xf32>
    linalg.yield %x : f32
  } -> tensor<8x12x32xf32>
  return %r : tensor<8x12x32xf32>
}

// -----

// Casts and clamps that do nothing are looked through; a part of a larger tensor is sliced; two equal reads are one operand.

#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #[[SWAP:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @clamped
// CHECK-SAME: %[[T:.*]]: tensor<9x4xf32>
// CHECK: %[[S:.*]] = tensor.extract_slice %[[T]][2, 0] [6, 4] [1, 1] : tensor<9x4xf32> to tensor<6x4xf32>
// CHECK: linalg.generic {indexing_maps = [#[[SWAP]], #[[ID]]], {{.*}}} ins(%[[S]] : tensor<6x4xf32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[IN]], %[[IN]]
// CHECK-NEXT: linalg.yield %[[SUM]]
func.func @clamped(%t: tensor<9x4xf32>) -> tensor<4x6xf32> {
  %c0 = arith.constant 0 : index
  %c0_i32 = arith.constant 0 : i32
  %c2_i32 = arith.constant 2 : i32
  %c3 = arith.constant 3 : index
  %c8_i32 = arith.constant 8 : i32
  %e = tensor.empty() : tensor<4x6xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x6xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %i0 = arith.maxsi %i, %c0 : index
    %i1 = arith.minsi %i0, %c3 : index
    %j = linalg.index 1 : index
    %j0 = arith.index_cast %j : index to i32
    %j1 = arith.addi %j0, %c2_i32 : i32
    %j2 = arith.minui %j1, %c8_i32 : i32
    %j3 = arith.maxsi %j2, %c0_i32 : i32
    %j4 = arith.index_cast %j3 : i32 to index
    %x = tensor.extract %t[%j4, %i1] : tensor<9x4xf32>
    %y = tensor.extract %t[%j4, %i] : tensor<9x4xf32>
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// -----

// Also next to other operands, in a reduction, and of a tensor without dimensions.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// CHECK: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #[[COL:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK: #[[SCALAR:.*]] = affine_map<(d0, d1) -> ()>
// CHECK: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @reduction
// CHECK-SAME: %[[A:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<f32>, %[[INIT:.*]]: tensor<4xf32>
// CHECK-NEXT: linalg.generic {indexing_maps = [#[[ID]], #[[COL]], #[[SCALAR]], #[[ROW]]]
// CHECK-SAME: ins(%[[A]], %[[W]], %[[B]] : {{.*}}) outs(%[[INIT]] : tensor<4xf32>)
// CHECK-NOT: tensor.extract
func.func @reduction(%a: tensor<4x8xf32>, %w: tensor<8xf32>, %b: tensor<f32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %j = linalg.index 1 : index
    %x = tensor.extract %w[%j] : tensor<8xf32>
    %y = tensor.extract %b[] : tensor<f32>
    %p = arith.mulf %in, %x : f32
    %q = arith.mulf %p, %y : f32
    %s = arith.addf %out, %q : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Not at indices that may be out of bounds: the clamp does something there, or nothing guards them.

#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @real_clamp
// CHECK: linalg.generic
// CHECK-SAME: outs
// CHECK: arith.minsi
// CHECK: tensor.extract
func.func @real_clamp(%t: tensor<4xf32>) -> tensor<6xf32> {
  %c3 = arith.constant 3 : index
  %e = tensor.empty() : tensor<6xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<6xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %k = arith.minsi %i, %c3 : index
    %x = tensor.extract %t[%k] : tensor<4xf32>
    linalg.yield %x : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// CHECK-LABEL: func.func @too_small
// CHECK: tensor.extract
func.func @too_small(%t: tensor<4xf32>) -> tensor<6xf32> {
  %e = tensor.empty() : tensor<6xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<6xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %x = tensor.extract %t[%i] : tensor<4xf32>
    linalg.yield %x : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// i8 wraps at 128: the casts change the index.
// CHECK-LABEL: func.func @wraps
// CHECK: tensor.extract
func.func @wraps(%t: tensor<200xf32>) -> tensor<200xf32> {
  %e = tensor.empty() : tensor<200xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<200xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i8
    %k = arith.index_castui %n : i8 to index
    %x = tensor.extract %t[%k] : tensor<200xf32>
    linalg.yield %x : f32
  } -> tensor<200xf32>
  return %r : tensor<200xf32>
}

// -----

// Nor in a branch, of unknown sizes, or along a loop of unknown range.

#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @in_branch
// CHECK: scf.if
// CHECK: tensor.extract
func.func @in_branch(%t: tensor<4xf32>, %a: tensor<4xi1>, %zero: f32) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xi1>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: i1, %out: f32):
    %i = linalg.index 0 : index
    %v = scf.if %in -> (f32) {
      %x = tensor.extract %t[%i] : tensor<4xf32>
      scf.yield %x : f32
    } else {
      scf.yield %zero : f32
    }
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @dynamic
// CHECK: tensor.extract
func.func @dynamic(%t: tensor<?xf32>, %u: tensor<4xf32>, %e: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<?xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %x = tensor.extract %t[%i] : tensor<?xf32>
    %y = tensor.extract %u[%i] : tensor<4xf32>
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
