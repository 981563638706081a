// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-unroll-loops)' | FileCheck %s

// A loop over an index: three iterations, each with its index.
// CHECK-LABEL: func.func @counted
// CHECK-NOT: scf.for
// CHECK: %[[A:.*]] = arith.mulf %arg0, %arg0
// CHECK: arith.index_cast %c2
// CHECK: %[[I1:.*]] = arith.addi %c2{{.*}}, %c3
// CHECK: %[[B:.*]] = arith.mulf %{{.*}}, %{{.*}}
// CHECK: arith.index_cast %[[I1]]
// CHECK: %[[I2A:.*]] = arith.addi %c2{{.*}}, %c3
// CHECK: %[[I2:.*]] = arith.addi %[[I2A]], %c3
// CHECK: arith.index_cast %[[I2]]
// CHECK-NOT: arith.mulf {{.*}}8xf32
// CHECK: return
func.func @counted(%x: tensor<8xf32>) -> (tensor<8xf32>, i64) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0 : i64
  %y:2 = scf.for %i = %c2 to %c9 step %c3 iter_args(%a = %x, %n = %zero) -> (tensor<8xf32>, i64) {
    %b = arith.mulf %a, %a : tensor<8xf32>
    %k = arith.index_cast %i : index to i64
    %m = arith.addi %n, %k : i64
    scf.yield %b, %m : tensor<8xf32>, i64
  }
  return %y#0, %y#1 : tensor<8xf32>, i64
}

// -----

// A loop as JAX exports it: it counts in a tensor and carries two tables, which change places. Amounts of shifts are constants afterwards.
// CHECK-LABEL: func.func @rounds
// CHECK-NOT: scf.while
// CHECK-NOT: arith.cmpi
// CHECK: %[[S0:.*]] = arith.constant dense<13> : tensor<1xi32>
// CHECK: tensor.collapse_shape %[[S0]]
// CHECK: %[[X0:.*]] = linalg.generic
// CHECK: %[[S1:.*]] = arith.constant dense<17> : tensor<1xi32>
// CHECK: tensor.collapse_shape %[[S1]]
// CHECK: %[[X1:.*]] = linalg.generic {{.*}} ins(%[[X0]]
// CHECK-NOT: linalg.generic
// CHECK: return %[[X1]]
#id = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>
func.func @rounds(%x: tensor<8xi32>) -> tensor<8xi32> {
  %zero = arith.constant dense<0> : tensor<i32>
  %two = arith.constant dense<2> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %first = arith.constant dense<[13, 15]> : tensor<2xi32>
  %second = arith.constant dense<[17, 29]> : tensor<2xi32>
  %r:4 = scf.while (%i = %zero, %a = %x, %t = %first, %u = %second)
      : (tensor<i32>, tensor<8xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<i32>, tensor<8xi32>, tensor<2xi32>, tensor<2xi32>) {
    %less = arith.cmpi slt, %i, %two : tensor<i32>
    %go = tensor.extract %less[] : tensor<i1>
    scf.condition(%go) %i, %a, %t, %u : tensor<i32>, tensor<8xi32>, tensor<2xi32>, tensor<2xi32>
  } do {
  ^bb0(%i: tensor<i32>, %a: tensor<8xi32>, %t: tensor<2xi32>, %u: tensor<2xi32>):
    %next = arith.addi %i, %one : tensor<i32>
    %s = tensor.extract_slice %t[0] [1] [1] : tensor<2xi32> to tensor<1xi32>
    %n = tensor.collapse_shape %s [] : tensor<1xi32> into tensor<i32>
    %e = tensor.empty() : tensor<8xi32>
    %b = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel"]} ins(%a, %n : tensor<8xi32>, tensor<i32>) outs(%e : tensor<8xi32>) {
    ^bb0(%p: i32, %q: i32, %o: i32):
      %y = arith.shli %p, %q : i32
      linalg.yield %y : i32
    } -> tensor<8xi32>
    scf.yield %next, %b, %u, %t : tensor<i32>, tensor<8xi32>, tensor<2xi32>, tensor<2xi32>
  }
  return %r#1 : tensor<8xi32>
}

// -----

// What stays: too many iterations, and a number of them that the program computes.
// CHECK-LABEL: func.func @many
// CHECK-COUNT-2: scf.for
func.func @many(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %y = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x) -> tensor<8xf32> {
    %b = arith.mulf %a, %a : tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  %z = scf.for %i = %c0 to %n step %c1 iter_args(%a = %y) -> tensor<8xf32> {
    %b = arith.mulf %a, %a : tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  return %z : tensor<8xf32>
}

// -----

// Products and sums, a branch, and a layout in the loop.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: scf.for
shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @others(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %yes: i1) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x) -> tensor<8x8xf32> {
    %b = linalg.matmul ins(%a, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%a : tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %b : tensor<8x8xf32>
  }
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %s = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %zero) -> tensor<8xf32> {
    %b = linalg.reduce {arith.addf} ins(%y : tensor<8x8xf32>) outs(%a : tensor<8xf32>) dimensions = [1]
    scf.yield %b : tensor<8xf32>
  }
  %z = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %y) -> tensor<8x8xf32> {
    %b = scf.if %yes -> tensor<8x8xf32> {
      %c = arith.mulf %a, %a : tensor<8x8xf32>
      scf.yield %c : tensor<8x8xf32>
    } else {
      scf.yield %a : tensor<8x8xf32>
    }
    scf.yield %b : tensor<8x8xf32>
  }
  %v = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %z) -> tensor<8x8xf32> {
    %b = arith.mulf %a, %a {tp.sharding = [["tp"], []]} : tensor<8x8xf32>
    scf.yield %b : tensor<8x8xf32>
  }
  return %v, %s : tensor<8x8xf32>, tensor<8xf32>
}

// -----

// The counter overflows: 100 + 50 is less than 127 in i8, so the loop goes on.
// CHECK-LABEL: func.func @overflows
// CHECK: scf.while
func.func @overflows(%x: tensor<8xf32>) -> tensor<8xf32> {
  %low = arith.constant 100 : i8
  %high = arith.constant 127 : i8
  %step = arith.constant 50 : i8
  %r:2 = scf.while (%i = %low, %a = %x) : (i8, tensor<8xf32>) -> (i8, tensor<8xf32>) {
    %go = arith.cmpi slt, %i, %high : i8
    scf.condition(%go) %i, %a : i8, tensor<8xf32>
  } do {
  ^bb0(%i: i8, %a: tensor<8xf32>):
    %next = arith.addi %i, %step : i8
    %b = arith.mulf %a, %a : tensor<8xf32>
    scf.yield %next, %b : i8, tensor<8xf32>
  }
  return %r#1 : tensor<8xf32>
}
