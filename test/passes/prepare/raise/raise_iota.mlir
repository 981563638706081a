// RUN: shard-opt %s --split-input-file --pass-pipeline="builtin.module(tp-raise)" | FileCheck %s

// An attention mask as PyTorch exports it: iotas with dimensions of size 1 as indices that count from the end when negative. They are never
// negative: the read of the captured tensor becomes an operand.

#one = affine_map<(d0) -> (d0)>
#batch = affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, 0)>
#key = affine_map<(d0, d1, d2, d3) -> (0, 0, 0, d3)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK: #[[READ:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
// CHECK: #[[ID:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func.func @mask
// CHECK-SAME: %[[M:.*]]: tensor<4x16xi1>
// CHECK-NOT: expand_shape
// CHECK: linalg.generic {indexing_maps = [#[[READ]], #[[ID]]], {{.*}}} ins(%[[M]] : tensor<4x16xi1>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: i1, %{{.*}}: i1):
// CHECK-NEXT: linalg.yield %[[IN]]
func.func @mask(%m: tensor<4x16xi1>) -> tensor<4x1x1x16xi1> {
  %c0 = arith.constant 0 : i64
  %c4 = arith.constant 4 : i64
  %c16 = arith.constant 16 : i64
  %e4 = tensor.empty() : tensor<4xi64>
  %i4 = linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%e4 : tensor<4xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    linalg.yield %n : i64
  } -> tensor<4xi64>
  %e16 = tensor.empty() : tensor<16xi64>
  %i16 = linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%e16 : tensor<16xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    linalg.yield %n : i64
  } -> tensor<16xi64>
  %rows = tensor.expand_shape %i4 [[0, 1, 2, 3]] output_shape [4, 1, 1, 1] : tensor<4xi64> into tensor<4x1x1x1xi64>
  %cols = tensor.expand_shape %i16 [[0, 1, 2, 3]] output_shape [1, 1, 1, 16] : tensor<16xi64> into tensor<1x1x1x16xi64>
  %e = tensor.empty() : tensor<4x1x1x16xi1>
  %r = linalg.generic {indexing_maps = [#batch, #key, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%rows, %cols : tensor<4x1x1x1xi64>, tensor<1x1x1x16xi64>) outs(%e : tensor<4x1x1x16xi1>) {
  ^bb0(%row: i64, %col: i64, %out: i1):
    %a0 = arith.cmpi slt, %row, %c0 : i64
    %a1 = arith.addi %row, %c4 : i64
    %a2 = arith.select %a0, %a1, %row : i64
    %a = arith.index_cast %a2 : i64 to index
    %b0 = arith.cmpi slt, %col, %c0 : i64
    %b1 = arith.addi %col, %c16 : i64
    %b2 = arith.select %b0, %b1, %col : i64
    %b = arith.index_cast %b2 : i64 to index
    %x = tensor.extract %m[%a, %b] : tensor<4x16xi1>
    linalg.yield %x : i1
  } -> tensor<4x1x1x16xi1>
  return %r : tensor<4x1x1x16xi1>
}

// -----

// A position table that is a constant, sliced: an iota with an offset. The bounds checks are decided.

#id = affine_map<(d0, d1) -> (d0, d1)>
#pos = affine_map<(d0, d1) -> (0, d0)>
// CHECK-LABEL: func.func @positions
// CHECK-SAME: %[[T:.*]]: tensor<12x8xf32>
// CHECK: %[[S:.*]] = tensor.extract_slice %[[T]][5, 0] [4, 8] [1, 1]
// CHECK: linalg.generic {{.*}} ins(%[[S]] : tensor<4x8xf32>)
// CHECK-NOT: cf.assert
// CHECK: return
func.func @positions(%t: tensor<12x8xf32>) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : i32
  %c12 = arith.constant 12 : index
  %table = arith.constant dense<[[3, 4, 5, 6, 7, 8]]> : tensor<1x6xi32>
  %part = tensor.extract_slice %table[0, 2] [1, 4] [1, 1] : tensor<1x6xi32> to tensor<1x4xi32>
  %e = tensor.empty() : tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [#pos, #id], iterator_types = ["parallel", "parallel"]} ins(%part : tensor<1x4xi32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: i32, %out: f32):
    %i = arith.index_cast %in : i32 to index
    %j = linalg.index 1 : index
    %small = arith.cmpi slt, %i, %c12 : index
    cf.assert %small, "index must be smaller than dim size"
    %positive = arith.cmpi sge, %in, %c0 : i32
    cf.assert %positive, "index must be larger or equal to 0"
    %x = tensor.extract %t[%i, %j] : tensor<12x8xf32>
    linalg.yield %x : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// The same in a resource. One without data, one that is too short, and one that does not count stay operands.

#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @resource
// CHECK: linalg.generic
// CHECK-SAME: outs
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[N:.*]] = arith.addi %[[I]], %c2
// CHECK: arith.index_cast %[[N]] : index to i64
// CHECK-LABEL: func.func @no_resource
// CHECK: linalg.generic {{.*}} ins(
// CHECK: linalg.generic {{.*}} ins(
// CHECK: linalg.generic {{.*}} ins(
func.func @resource() -> tensor<3xf32> {
  %counts = arith.constant dense_resource<counts> : tensor<3xi64>
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%counts : tensor<3xi64>) outs(%e : tensor<3xf32>) {
  ^bb0(%in: i64, %out: f32):
    %f = arith.sitofp %in : i64 to f32
    linalg.yield %f : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

func.func @no_resource() -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %absent = arith.constant dense_resource<__elided__> : tensor<3xi64>
  %short = arith.constant dense_resource<short> : tensor<3xi64>
  %other = arith.constant dense_resource<other> : tensor<3xi32>
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%absent : tensor<3xi64>) outs(%e : tensor<3xf32>) {
  ^bb0(%in: i64, %out: f32):
    %f = arith.sitofp %in : i64 to f32
    linalg.yield %f : f32
  } -> tensor<3xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%short : tensor<3xi64>) outs(%e : tensor<3xf32>) {
  ^bb0(%in: i64, %out: f32):
    %f = arith.sitofp %in : i64 to f32
    linalg.yield %f : f32
  } -> tensor<3xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%other : tensor<3xi32>) outs(%e : tensor<3xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f32
    linalg.yield %f : f32
  } -> tensor<3xf32>
  return %r, %s, %t : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

{-#
  dialect_resources: {
    builtin: {
      counts: "0x08000000020000000000000003000000000000000400000000000000",
      short: "0x0800000002000000000000000300000000000000",
      other: "0x04000000020000000300000005000000"
    }
  }
#-}

// -----

// Not an operand that is no iota: a constant that does not count, a product, an iota of two dimensions, a strided slice.

#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @no_iota
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} :
func.func @no_iota() -> tensor<4xi64> {
  %c2 = arith.constant 2 : index
  %odd = arith.constant dense<[0, 1, 3, 4]> : tensor<4xi64>
  %counts = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi64>
  %strided = tensor.extract_slice %counts[0] [4] [2] : tensor<8xi64> to tensor<4xi64>
  %e = tensor.empty() : tensor<4xi64>
  %twice = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<4xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 0 : index
    %d = arith.muli %i, %c2 : index
    %n = arith.index_cast %d : index to i64
    linalg.yield %n : i64
  } -> tensor<4xi64>
  %e2 = tensor.empty() : tensor<2x2xi64>
  %square = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e2 : tensor<2x2xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 1 : index
    %n = arith.index_cast %i : index to i64
    linalg.yield %n : i64
  } -> tensor<2x2xi64>
  %flat = tensor.collapse_shape %square [[0, 1]] : tensor<2x2xi64> into tensor<4xi64>
  %r = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"]} ins(%odd, %strided, %twice, %flat : tensor<4xi64>, tensor<4xi64>, tensor<4xi64>, tensor<4xi64>) outs(%e : tensor<4xi64>) {
  ^bb0(%a: i64, %b: i64, %c: i64, %d: i64, %out: i64):
    %s = arith.addi %a, %b : i64
    %t = arith.addi %s, %c : i64
    %u = arith.addi %t, %d : i64
    linalg.yield %u : i64
  } -> tensor<4xi64>
  return %r : tensor<4xi64>
}

// -----

// Nor the operand that alone says how long a loop is.

#in = affine_map<(d0, d1) -> (d1)>
#out = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @range
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<8xi64>)
func.func @range(%init: tensor<4xi64>) -> tensor<4xi64> {
  %counts = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi64>
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%counts : tensor<8xi64>) outs(%init : tensor<4xi64>) {
  ^bb0(%in: i64, %out: i64):
    %s = arith.addi %in, %out : i64
    linalg.yield %s : i64
  } -> tensor<4xi64>
  return %r : tensor<4xi64>
}

// -----

// What is not decided for every iteration is not folded: index 0 is below 1, the others are not.

#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @undecided
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[C:.*]] = arith.cmpi slt, %[[I]]
// CHECK: arith.select %[[C]]
// CHECK: arith.cmpi ult
// CHECK: cf.assert
func.func @undecided(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %first = arith.cmpi slt, %i, %c1 : index
    %x = arith.select %first, %zero, %in : f32
    %ok = arith.cmpi ult, %i, %c3 : index
    cf.assert %ok, "fails for the last"
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// An assert that always fails stays.
// CHECK-LABEL: func.func @fails
// CHECK: cf.assert
func.func @fails(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c9 = arith.constant 9 : index
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %ok = arith.cmpi ugt, %i, %c9 : index
    cf.assert %ok, "fails always"
    linalg.yield %in : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Tables of indices as PyTorch expands the statistics of a group norm: rows, from a list and from a resource that also counts columns from 2,
// and columns of a group, which do not count. What is cast to i64 and back is the loop. A table that counts otherwise stays.
#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @tables
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<3x4xi64>) outs(%{{.*}} : tensor<3x4xf32>)
// CHECK: ^bb0(%[[GROUP:.*]]: i64, %{{.*}}: f32):
// CHECK-DAG: %[[ROW:.*]] = linalg.index 0
// CHECK-DAG: %[[AT:.*]] = arith.index_cast %[[GROUP]] : i64 to index
// CHECK: tensor.extract %{{.*}}[%[[ROW]], %[[AT]]] : tensor<3x2xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<3x4xi64>) outs(%{{.*}} : tensor<3x4xi64>)
// CHECK: ^bb0(%[[TWICE:.*]]: i64, %{{.*}}: i64):
// CHECK: linalg.index 1
// CHECK: arith.addi
// CHECK: arith.addi %{{.*}}, %[[TWICE]] : i64
func.func @tables(%t: tensor<3x2xf32>) -> (tensor<3x4xf32>, tensor<3x4xi64>) {
  %rows = arith.constant dense<[[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2]]> : tensor<3x4xi64>
  %groups = arith.constant dense<[[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 1]]> : tensor<3x4xi64>
  %e = tensor.empty() : tensor<3x4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%rows, %groups : tensor<3x4xi64>, tensor<3x4xi64>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%row: i64, %group: i64, %out: f32):
    %zero = arith.constant 0 : i64
    %three = arith.constant 3 : i64
    %negative = arith.cmpi slt, %row, %zero : i64
    %wrapped = arith.addi %row, %three : i64
    %at = arith.select %negative, %wrapped, %row : i64
    %i = arith.index_cast %at : i64 to index
    %j = arith.index_cast %group : i64 to index
    %x = tensor.extract %t[%i, %j] : tensor<3x2xf32>
    linalg.yield %x : f32
  } -> tensor<3x4xf32>
  %columns = arith.constant dense_resource<columns> : tensor<3x4xi64>
  %twice = arith.constant dense<[[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5]]> : tensor<3x4xi64>
  %e64 = tensor.empty() : tensor<3x4xi64>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%columns, %twice : tensor<3x4xi64>, tensor<3x4xi64>) outs(%e64 : tensor<3x4xi64>) {
  ^bb0(%column: i64, %two: i64, %out: i64):
    %x = arith.addi %column, %two : i64
    linalg.yield %x : i64
  } -> tensor<3x4xi64>
  return %r, %s : tensor<3x4xf32>, tensor<3x4xi64>
}

{-#
  dialect_resources: {
    builtin: {
      columns: "0x08000000020000000000000003000000000000000400000000000000050000000000000002000000000000000300000000000000040000000000000005000000000000000200000000000000030000000000000004000000000000000500000000000000"
    }
  }
#-}
