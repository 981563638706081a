// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-hoist-invariants)' | FileCheck %s

// A layout, a product of two weights with the fill that it starts from, and a transposed weight leave both loops.
// CHECK-LABEL: func.func @weights
// CHECK: shard.shard %arg1
// CHECK: linalg.fill
// CHECK: linalg.matmul ins(%{{.*}}, %arg2
// CHECK: linalg.transpose
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: linalg.fill
// CHECK: linalg.matmul
// CHECK: return
shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @weights(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<8x8xf32> {
    %z = scf.for %j = %c0 to %c3 step %c1 iter_args(%b = %a) -> tensor<8x8xf32> {
      %s = shard.sharding @mesh split_axes = [[], []] : !shard.sharding
      %wr = shard.shard %w to %s {tp.sharding = [[], []]} : tensor<8x8xf32>
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<8x8xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
      %wv = linalg.matmul ins(%wr, %v : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
      %t = linalg.transpose ins(%wv : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) permutation = [1, 0]
      %p = linalg.matmul ins(%b, %t : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
      scf.yield %p : tensor<8x8xf32>
    }
    scf.yield %z : tensor<8x8xf32>
  }
  return %y : tensor<8x8xf32>
}

// -----

// What stays: a fill that only the loop needs, a broadcast, what depends on the loop, a division and reads at computed places, which may
// trap where the loop has no trip, communication, and what a branch may not run.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: linalg
// CHECK-NOT: tensor.extract
// CHECK-NOT: shard.all_reduce
// CHECK-NOT: arith.divsi
// CHECK: scf.for
// CHECK-DAG: linalg.fill
// CHECK-DAG: linalg.broadcast
// CHECK-DAG: arith.divsi
// CHECK-DAG: tensor.extract_slice
// CHECK-DAG: shard.all_reduce
// CHECK: scf.if
// CHECK-NEXT: arith.mulf
shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @stays(%x: tensor<8x8xf32>, %b: tensor<8xf32>, %k: tensor<8xi32>, %n: index, %yes: i1) -> (tensor<8x8xf32>, tensor<8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %m = %k) -> (tensor<8x8xf32>, tensor<8xi32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8x8xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
    %w = linalg.broadcast ins(%b : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
    %d = arith.divsi %k, %k : tensor<8xi32>
    %o = arith.addi %d, %m : tensor<8xi32>
    %row = tensor.extract_slice %x[%n, 0] [1, 8] [1, 1] : tensor<8x8xf32> to tensor<1x8xf32>
    %r = shard.all_reduce %row on @mesh grid_axes = [0] : tensor<1x8xf32> -> tensor<1x8xf32>
    %s = tensor.insert_slice %r into %a[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<8x8xf32>
    %p = linalg.matmul ins(%s, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
    %q = scf.if %yes -> tensor<8x8xf32> {
      %g = arith.mulf %x, %x : tensor<8x8xf32>
      %h = arith.addf %g, %p : tensor<8x8xf32>
      scf.yield %h : tensor<8x8xf32>
    } else {
      scf.yield %p : tensor<8x8xf32>
    }
    scf.yield %q, %o : tensor<8x8xf32>, tensor<8xi32>
  }
  return %y#0, %y#1 : tensor<8x8xf32>, tensor<8xi32>
}

// -----

// Both regions of scf.while; a body with a captured scalar takes it along.
// CHECK-LABEL: func.func @while
// CHECK: %[[C:.*]] = arith.constant 2.0
// CHECK: linalg.generic
// CHECK: arith.mulf %{{.*}}, %[[C]]
// CHECK: arith.negf %arg1
// CHECK: scf.while
// CHECK-NOT: arith.negf
// CHECK: return
#id = affine_map<(d0) -> (d0)>
func.func @while(%x: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %r = scf.while (%a = %x) : (tensor<8xf32>) -> tensor<8xf32> {
    %two = arith.constant 2.0 : f32
    %e = tensor.empty() : tensor<8xf32>
    %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%w : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %m = arith.mulf %in, %two : f32
      linalg.yield %m : f32
    } -> tensor<8xf32>
    %s = arith.addf %a, %g : tensor<8xf32>
    %v = tensor.extract %s[%c0] : tensor<8xf32>
    %go = arith.cmpf olt, %v, %two : f32
    scf.condition(%go) %s : tensor<8xf32>
  } do {
  ^bb0(%a: tensor<8xf32>):
    %n = arith.negf %w : tensor<8xf32>
    %s = arith.subf %a, %n : tensor<8xf32>
    scf.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// What no iteration changes is not carried: by a while whose condition passes it on, by a loop in a loop, with unsigned counters too. A value
// that the condition replaces by another one stays, and so does a loop that carries nothing else.
// CHECK-LABEL: func.func @carried
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8xf32>, %[[W:[a-z0-9]+]]: tensor<8xf32>
// CHECK: %[[R:.*]]:2 = scf.while (%[[I:.*]] = %{{.*}}, %[[A:.*]] = %[[X]]) : (i32, tensor<8xf32>) -> (i32, tensor<8xf32>)
// CHECK: arith.addf %[[A]], %[[W]]
// CHECK: scf.condition(%{{.*}}) %[[I]], %[[A]] : i32, tensor<8xf32>
// CHECK: ^bb0(%{{.*}}: i32, %[[B:.*]]: tensor<8xf32>):
// CHECK: scf.for unsigned {{.*}} iter_args(%[[C:.*]] = %[[B]]) -> (tensor<8xf32>)
// CHECK: arith.mulf %[[C]], %[[W]]
// CHECK: arith.subf %[[R]]#1, %[[W]]
// CHECK: scf.while {{.*}} : (i32, tensor<8xf32>, tensor<8xf32>) -> (i32, tensor<8xf32>, tensor<8xf32>)
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[W]]) -> (tensor<8xf32>)
func.func @carried(%x: tensor<8xf32>, %w: tensor<8xf32>, %n: i32) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r:3 = scf.while (%v = %w, %i = %zero, %a = %x) : (tensor<8xf32>, i32, tensor<8xf32>) -> (tensor<8xf32>, i32, tensor<8xf32>) {
    %s = arith.addf %a, %v : tensor<8xf32>
    %e = tensor.extract %s[%c0] : tensor<8xf32>
    %f = arith.fptosi %e : f32 to i32
    %go = arith.cmpi slt, %i, %f : i32
    scf.condition(%go) %v, %i, %a : tensor<8xf32>, i32, tensor<8xf32>
  } do {
  ^bb0(%v: tensor<8xf32>, %i: i32, %b: tensor<8xf32>):
    %k:2 = scf.for unsigned %j = %c0 to %c9 step %c1 iter_args(%u = %v, %c = %b) -> (tensor<8xf32>, tensor<8xf32>) {
      %m = arith.mulf %c, %u : tensor<8xf32>
      scf.yield %u, %m : tensor<8xf32>, tensor<8xf32>
    }
    %next = arith.addi %i, %one : i32
    scf.yield %k#0, %next, %k#1 : tensor<8xf32>, i32, tensor<8xf32>
  }
  %d = arith.subf %r#2, %r#0 : tensor<8xf32>
  %t:3 = scf.while (%i = %zero, %a = %x, %b = %w) : (i32, tensor<8xf32>, tensor<8xf32>) -> (i32, tensor<8xf32>, tensor<8xf32>) {
    %go = arith.cmpi slt, %i, %n : i32
    scf.condition(%go) %i, %b, %a : i32, tensor<8xf32>, tensor<8xf32>
  } do {
  ^bb0(%i: i32, %a: tensor<8xf32>, %b: tensor<8xf32>):
    %next = arith.addi %i, %one : i32
    scf.yield %next, %a, %b : i32, tensor<8xf32>, tensor<8xf32>
  }
  %o = scf.for %j = %c0 to %c9 step %c1 iter_args(%u = %w) -> tensor<8xf32> {
    scf.yield %u : tensor<8xf32>
  }
  return %d, %t#1, %o : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
