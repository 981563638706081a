// Sorts become loops: merges from one buffer into another and back, or a list of the first elements.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-expand-sorts)' | FileCheck %s
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-expand-sorts,tp-inline-calls)' | FileCheck %s --check-prefix=INLINED

// 16 elements: two times two merges. The key is the only operand, so no positions are moved.
// CHECK-LABEL: func.func @even
// CHECK-NOT: tp.sort
// CHECK: scf.for {{.*}} -> (tensor<3x16xf32>, tensor<16xf32>, tensor<16xf32>)
// CHECK: scf.for {{.*}} -> (tensor<16xf32>) {
// CHECK: tensor.extract %arg0
// CHECK: %[[PAIRS:.*]] = arith.constant 2 : index
// CHECK: scf.for {{.*}} to %[[PAIRS]] {{.*}} -> (tensor<16xf32>, tensor<16xf32>, index)
// CHECK-COUNT-2: func.call @less
// CHECK: scf.for {{.*}} -> (tensor<3x16xf32>)
// CHECK-NOT: func.func private @tp.sort
// CHECK: func.func private @less
// INLINED-LABEL: func.func @even
// INLINED-NOT: call
// INLINED-NOT: func.func
// INLINED-COUNT-2: arith.cmpf olt
// INLINED: return
// INLINED-NEXT: }
// INLINED-NEXT: }
func.func @even(%x: tensor<3x16xf32>) -> tensor<3x16xf32> {
  %0 = call @tp.sort(%x) {tp.sort = {dim = 1, less = @less}} : (tensor<3x16xf32>) -> tensor<3x16xf32>
  return %0 : tensor<3x16xf32>
}
func.func private @tp.sort(tensor<3x16xf32>) -> tensor<3x16xf32>
func.func private @less(%a: f32, %b: f32) -> i1 attributes {tp.comparator} {
  %0 = arith.cmpf olt, %a, %b : f32
  return %0 : i1
}

// -----

// Five elements: one merge before, then once two. A payload is read at the positions, which move with the keys.
// CHECK-LABEL: func.func @odd
// CHECK: scf.for {{.*}} -> (tensor<5x2xf64>, tensor<5x2xi16>, tensor<5xi16>, tensor<5xi32>, tensor<5xi16>, tensor<5xi32>)
// CHECK: tensor.extract %arg1
// CHECK: arith.index_cast {{.*}} : index to i32
// CHECK: func.call @less
// CHECK: %[[PAIRS:.*]] = arith.constant 1 : index
// CHECK: scf.for {{.*}} to %[[PAIRS]]
// CHECK-COUNT-2: func.call @less
// CHECK: %[[AT:.*]] = arith.index_cast {{.*}} : i32 to index
// CHECK: tensor.extract %arg0[%[[AT]], %{{.*}}] : tensor<5x2xf64>
func.func @odd(%x: tensor<5x2xf64>, %y: tensor<5x2xi16>) -> (tensor<5x2xf64>, tensor<5x2xi16>) {
  %0:2 = call @tp.sort(%x, %y) {tp.sort = {dim = 0, less = @less}} : (tensor<5x2xf64>, tensor<5x2xi16>) -> (tensor<5x2xf64>, tensor<5x2xi16>)
  return %0#0, %0#1 : tensor<5x2xf64>, tensor<5x2xi16>
}
func.func private @tp.sort(tensor<5x2xf64>, tensor<5x2xi16>) -> (tensor<5x2xf64>, tensor<5x2xi16>)
func.func private @less(%a: f64, %b: f64, %c: i16, %d: i16) -> i1 attributes {tp.comparator} {
  %0 = arith.cmpi slt, %c, %d : i16
  return %0 : i1
}

// -----

// At most a quarter is kept: a buffer of twice as many candidates, which is sorted when it is full, and at the end.
// CHECK-LABEL: func.func @first
// CHECK: scf.for {{.*}} -> (tensor<6xf32>, tensor<6xf32>, index)
// CHECK: func.call @less
// CHECK: %[[ENTERS:.*]] = arith.ori
// CHECK: %[[STEP:.*]] = arith.select %[[ENTERS]]
// CHECK: %[[FILLED:.*]] = arith.addi %{{.*}}, %[[STEP]]
// CHECK: %[[FULL:.*]] = arith.cmpi eq, %[[FILLED]], %c6
// CHECK: %[[TURNS:.*]] = arith.select %[[FULL]]
// CHECK: scf.for {{.*}} to %[[TURNS]] {{.*}} -> (tensor<6xf32>, tensor<6xf32>, index)
// CHECK-COUNT-4: func.call @less
// CHECK-NOT: func.call @less
func.func @first(%x: tensor<64xf32>) -> tensor<3xf32> {
  %0 = call @tp.sort(%x) {tp.sort = {dim = 0, less = @less}} : (tensor<64xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func private @tp.sort(tensor<64xf32>) -> tensor<3xf32>
func.func private @less(%a: f32, %b: f32) -> i1 attributes {tp.comparator} {
  %0 = arith.cmpf olt, %a, %b : f32
  return %0 : i1
}

// -----

// Rows of one element are sorted, and an empty result has nothing to sort. Nothing is left of their comparator.
// CHECK-LABEL: func.func @trivial
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<0xf32>
// CHECK: return %arg0, %[[EMPTY]]
// CHECK-NOT: func.func
func.func @trivial(%x: tensor<4x1xf32>, %y: tensor<7xf32>) -> (tensor<4x1xf32>, tensor<0xf32>) {
  %0 = call @tp.sort(%x) {tp.sort = {dim = 1, less = @less}} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %1 = call @tp.sort.1(%y) {tp.sort = {dim = 0, less = @less}} : (tensor<7xf32>) -> tensor<0xf32>
  return %0, %1 : tensor<4x1xf32>, tensor<0xf32>
}
func.func private @tp.sort(tensor<4x1xf32>) -> tensor<4x1xf32>
func.func private @tp.sort.1(tensor<7xf32>) -> tensor<0xf32>
func.func private @less(%a: f32, %b: f32) -> i1 attributes {tp.comparator} {
  %0 = arith.cmpf olt, %a, %b : f32
  return %0 : i1
}
