// Ops on the rows of a device become one loop over blocks of rows: from the block of its first row to that of its last one. Another op that
// reads them ends the loop. Rows of which there are few stay whole, and so do ops on all rows, whose number no axis is part of.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-bound-rows)' | FileCheck %s

// CHECK-LABEL: func.func @blocks
// CHECK: %[[SIZE:.*]] = arith.constant 40 : index
// CHECK: %[[UP:.*]] = arith.addi %[[LAST:.*]], %{{.*}}
// CHECK: %[[FROM:.*]] = arith.divui %{{.*}}, %[[SIZE]]
// CHECK: %[[BEHIND:.*]] = arith.divui %[[UP]], %[[SIZE]]
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %{{.*}}, %[[LAST]]
// CHECK: %[[TO:.*]] = arith.select %[[ANY]], %[[BEHIND]], %[[FROM]]
// CHECK: %[[Y:.*]] = scf.for %[[I:.*]] = %[[FROM]] to %[[TO]] step %{{.*}} iter_args(%[[OLD:.*]] = %{{.*}}) -> (tensor<320x4xf32>)
// CHECK: %[[AT:.*]] = arith.muli %[[I]], %{{.*}}
// CHECK: tensor.extract_slice %arg0[%[[AT]], 0] [40, 4] [1, 1]
// CHECK: arith.constant dense<2.000000e+00> : tensor<40x4xf32>
// CHECK: arith.mulf {{.*}} : tensor<40x4xf32>
// CHECK: math.exp {{.*}} : tensor<40x4xf32>
// CHECK: tensor.insert_slice %{{.*}} into %[[OLD]][%[[AT]], 0] [40, 4] [1, 1]
// CHECK: arith.negf %[[Y]] : tensor<320x4xf32>
func.func @blocks(%x: tensor<320x4xf32>, %first: index, %last: index) -> tensor<320x4xf32> {
  %zero = arith.constant 0 : index
  %a = arith.maxsi %first, %zero {tp.rows = "first", tp.groups = 1} : index
  %b = arith.maxsi %last, %zero {tp.rows = "last", tp.groups = 1} : index
  %two = arith.constant dense<2.0> : tensor<320x4xf32>
  %0 = arith.mulf %x, %two {tp.rows = "own", tp.groups = 1} : tensor<320x4xf32>
  %1 = math.exp %0 {tp.rows = "own", tp.groups = 1} : tensor<320x4xf32>
  %2 = arith.negf %1 : tensor<320x4xf32>
  return %2 : tensor<320x4xf32>
}

// -----

// CHECK-LABEL: func.func @few
// CHECK-NOT: scf.for
// CHECK: math.exp %arg0 : tensor<16x4xf32>
func.func @few(%x: tensor<16x4xf32>, %first: index, %last: index) -> tensor<16x4xf32> {
  %zero = arith.constant 0 : index
  %a = arith.maxsi %first, %zero {tp.rows = "first", tp.groups = 1} : index
  %b = arith.maxsi %last, %zero {tp.rows = "last", tp.groups = 1} : index
  %0 = math.exp %x {tp.rows = "own", tp.groups = 1} : tensor<16x4xf32>
  %1 = arith.negf %0 : tensor<16x4xf32>
  return %1 : tensor<16x4xf32>
}

// -----

// CHECK-LABEL: func.func @all
// CHECK-NOT: scf.for
// CHECK: math.exp %arg0 : tensor<320x4xf32>
func.func @all(%x: tensor<320x4xf32>, %first: index, %last: index) -> tensor<320x4xf32> {
  %zero = arith.constant 0 : index
  %a = arith.maxsi %first, %zero {tp.rows = "first", tp.groups = 0} : index
  %b = arith.maxsi %last, %zero {tp.rows = "last", tp.groups = 0} : index
  %0 = math.exp %x {tp.rows = "own", tp.groups = 0} : tensor<320x4xf32>
  %1 = arith.negf %0 : tensor<320x4xf32>
  return %1 : tensor<320x4xf32>
}
