// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-decompose)' | FileCheck %s

// Both the program of one device and that of many are decomposed, so running them compares nothing here: who reads what is said in full.
// The layout that was asked for goes to the op that gives the result.
// CHECK-LABEL: func.func @softmax(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xbf16>
// CHECK: %[[LEAST:.*]] = arith.constant 0xFF80 : bf16
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : bf16
// CHECK: %[[FROM:.*]] = linalg.fill ins(%[[LEAST]] : bf16)
// CHECK: %[[MAX:.*]] = linalg.generic {{.*}} ins(%[[X]] : {{.*}}) outs(%[[FROM]] :
// CHECK: arith.maxnumf
// CHECK: %[[EXP:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[MAX]] :
// CHECK: ^bb0(%[[A:.*]]: bf16, %[[B:.*]]: bf16, %{{.*}}: bf16):
// CHECK: %[[D:.*]] = arith.subf %[[A]], %[[B]]
// CHECK: math.exp %[[D]]
// CHECK: %[[NONE:.*]] = linalg.fill ins(%[[ZERO]] : bf16)
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[EXP]] : {{.*}}) outs(%[[NONE]] :
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} ins(%[[EXP]], %[[SUM]] : {{.*}} {tp.sharding = {{\[}}["x"], []]}
// CHECK: ^bb0(%[[A:.*]]: bf16, %[[B:.*]]: bf16, %{{.*}}: bf16):
// CHECK: arith.divf %[[A]], %[[B]]
// CHECK: } -> tensor<4x8xbf16>
// CHECK-NOT: linalg.softmax
// CHECK: return
func.func @softmax(%x: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %e = tensor.empty() : tensor<4x8xbf16>
  %y = linalg.softmax {tp.sharding = [["x"], []]} dimension(1) ins(%x : tensor<4x8xbf16>) outs(%e : tensor<4x8xbf16>) -> tensor<4x8xbf16>
  return %y : tensor<4x8xbf16>
}

// -----

// CHECK-LABEL: func.func @generate
// CHECK-SAME: %[[X:.*]]: tensor<5xf32>
// CHECK: linalg.generic {{.*}} {
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[V:.*]] = tensor.extract %[[X]][%[[I]]]
// CHECK: linalg.yield %[[V]]
func.func @generate(%x: tensor<5xf32>) -> tensor<5xf32> {
  %y = tensor.generate {
  ^bb0(%i: index):
    %v = tensor.extract %x[%i] : tensor<5xf32>
    tensor.yield %v : f32
  } : tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

// A reshape to the same shape is a value that exists; its annotation goes to a cast.
// CHECK-LABEL: func.func @reshape
// CHECK: tensor.cast %{{.*}} {tp.sharding = {{\[\[}}"x"]]} : tensor<4xf32> to tensor<4xf32>
// CHECK: tensor.expand_shape
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<2x2x3xf32> into tensor<4x3xf32>
// CHECK-NOT: tensor.reshape
func.func @reshape(%x: tensor<4xf32>, %y: tensor<2x2x3xf32>) -> (tensor<4xf32>, tensor<2x2xf32>, tensor<4x3xf32>) {
  %s = arith.constant dense<4> : tensor<1xi32>
  %t = arith.constant dense<2> : tensor<2xi32>
  %u = arith.constant dense<[4, 3]> : tensor<2xi32>
  %a = tensor.reshape %x(%s) {tp.sharding = [["x"]]} : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  %b = tensor.reshape %x(%t) : (tensor<4xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  %c = tensor.reshape %y(%u) : (tensor<2x2x3xf32>, tensor<2xi32>) -> tensor<4x3xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<2x2xf32>, tensor<4x3xf32>
}

// -----

// CHECK-LABEL: func.func @gather
// CHECK-SAME: %[[X:.*]]: tensor<5x3xf32>
// CHECK: linalg.generic
// CHECK: ^bb0(%[[K:.*]]: i32, %{{.*}}: f32):
// CHECK: %[[P:.*]] = arith.index_cast %[[K]]
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[V:.*]] = tensor.extract %[[X]][%[[P]], %[[J]]]
// CHECK: linalg.yield %[[V]]
func.func @gather(%x: tensor<5x3xf32>, %i: tensor<7x1xi32>) -> tensor<7x3xf32> {
  %y = tensor.gather %x[%i] gather_dims([0]) {tp.sharding = [["x"], []]} : (tensor<5x3xf32>, tensor<7x1xi32>) -> tensor<7x3xf32>
  return %y : tensor<7x3xf32>
}

// -----

// Poolings and divisions get a body that can be changed; contractions, and what neither reduces nor traps, keep their names.
// CHECK-LABEL: func.func @named
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: arith.maximumf
// CHECK: } -> tensor<1x4x3xf32>
// CHECK: linalg.generic
// CHECK: arith.divui
// CHECK: linalg.matmul
// CHECK: linalg.add
func.func @named(%x: tensor<1x5x3xf32>, %w: tensor<2xf32>, %o: tensor<1x4x3xf32>, %a: tensor<4x4xi32>) -> (tensor<1x4x3xf32>, tensor<4x4xi32>) {
  %p = linalg.pooling_nwc_max {tp.sharding = [[], [], ["x"]]} ins(%x, %w : tensor<1x5x3xf32>, tensor<2xf32>) outs(%o : tensor<1x4x3xf32>) -> tensor<1x4x3xf32>
  %d = linalg.div_unsigned ins(%a, %a : tensor<4x4xi32>, tensor<4x4xi32>) outs(%a : tensor<4x4xi32>) -> tensor<4x4xi32>
  %m = linalg.matmul ins(%d, %a : tensor<4x4xi32>, tensor<4x4xi32>) outs(%a : tensor<4x4xi32>) -> tensor<4x4xi32>
  %s = linalg.add ins(%m, %a : tensor<4x4xi32>, tensor<4x4xi32>) outs(%a : tensor<4x4xi32>) -> tensor<4x4xi32>
  return %p, %s : tensor<1x4x3xf32>, tensor<4x4xi32>
}

// -----

// CHECK-LABEL: func.func @fma(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xbf16>, %[[Y:.*]]: bf16, %[[Z:.*]]: tensor<4xf32>
// CHECK-DAG: %[[U:.*]] = arith.extf %[[X]] : tensor<4x8xbf16> to tensor<4x8xf32>
// CHECK: %[[V:.*]] = math.fma %[[U]], %{{.*}}, %{{.*}} : tensor<4x8xf32>
// CHECK: arith.truncf %[[V]] {tp.sharding = {{\[}}["x"], []]} : tensor<4x8xf32> to tensor<4x8xbf16>
// CHECK: %[[W:.*]] = math.fma {{.*}} : f32
// CHECK: arith.truncf %[[W]] : f32 to bf16
// CHECK: math.fma %[[Z]], %[[Z]], %[[Z]] : tensor<4xf32>
func.func @fma(%x: tensor<4x8xbf16>, %y: bf16, %z: tensor<4xf32>) -> (tensor<4x8xbf16>, bf16, tensor<4xf32>) {
  %a = math.fma %x, %x, %x {tp.sharding = [["x"], []]} : tensor<4x8xbf16>
  %b = math.fma %y, %y, %y : bf16
  %c = math.fma %z, %z, %z : tensor<4xf32>
  return %a, %b, %c : tensor<4x8xbf16>, bf16, tensor<4xf32>
}

// -----

// A cast of an index that may lose bits goes through arith.trunci; one that keeps its value stays.
// CHECK-LABEL: func.func @index_casts
// CHECK-SAME: %[[X:.*]]: tensor<4xindex>
// CHECK: %[[W:.*]] = arith.index_cast %[[X]] : tensor<4xindex> to tensor<4xi64>
// CHECK: arith.trunci %[[W]] {tp.sharding = {{\[\[}}"x"]]} : tensor<4xi64> to tensor<4xi8>
// CHECK: arith.index_cast %[[X]] : tensor<4xindex> to tensor<4xi64>
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: arith.index_cast %[[I]] : index to i8
// CHECK: %[[J:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK: arith.trunci %[[J]] : i64 to i7
// CHECK: arith.index_castui %[[I]] : index to i7
// CHECK: scf.for %[[K:[a-z0-9]*]] =
// CHECK: arith.index_cast %[[K]] : index to i8
// CHECK: %[[L:.*]] = arith.index_cast %[[K]] : index to i64
// CHECK: arith.trunci %[[L]] : i64 to i4
func.func @index_casts(%x: tensor<4xindex>) -> (tensor<4xi8>, tensor<4xi64>, tensor<128xi8>, i8) {
  %n = arith.index_cast %x {tp.sharding = [["x"]]} : tensor<4xindex> to tensor<4xi8>
  %w = arith.index_cast %x : tensor<4xindex> to tensor<4xi64>
  %e = tensor.empty() : tensor<128xi8>
  %g = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<128xi8>) {
  ^bb0(%o: i8):
    %i = linalg.index 0 : index
    %a = arith.index_cast %i : index to i8
    %b = arith.index_cast %i : index to i7
    %c = arith.index_castui %i : index to i7
    %d = arith.extsi %b : i7 to i8
    %f = arith.extui %c : i7 to i8
    %s = arith.addi %a, %d : i8
    %t = arith.addi %s, %f : i8
    linalg.yield %t : i8
  } -> tensor<128xi8>
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  %z = arith.constant 0 : i8
  %l = scf.for %k = %c0 to %c9 step %c3 iter_args(%sum = %z) -> i8 {
    %a = arith.index_cast %k : index to i8
    %b = arith.index_cast %k : index to i4
    %c = arith.extsi %b : i4 to i8
    %s = arith.addi %sum, %a : i8
    %t = arith.addi %s, %c : i8
    scf.yield %t : i8
  }
  return %n, %w, %g, %l : tensor<4xi8>, tensor<4xi64>, tensor<128xi8>, i8
}

// -----

// A loop counts in i64 if its type may be too narrow.
// CHECK-LABEL: func.func @loops
// CHECK-SAME: %[[N:.*]]: i8) ->
// CHECK-DAG: %[[LOW:.*]] = arith.constant -100 : i64
// CHECK-DAG: %[[HIGH:.*]] = arith.constant 100 : i64
// CHECK: scf.for %[[I:[a-z0-9]*]] = %[[LOW]] to %[[HIGH]] step %{{.*}} : i64 {
// CHECK-NEXT: arith.trunci %[[I]] : i64 to i8
// CHECK: %[[TO:.*]] = arith.extui %[[N]] : i8 to i64
// CHECK: scf.for unsigned %{{.*}} to %[[TO]] step %{{.*}} : i64 {
// CHECK: scf.for %[[K:[a-z0-9]*]] = {{.*}} : i8 {
// CHECK-NEXT: arith.addi %{{.*}}, %[[K]] : i8
func.func @loops(%n: i8) -> (i8, i8, i8) {
  %m100 = arith.constant -100 : i8
  %p100 = arith.constant 100 : i8
  %z = arith.constant 0 : i8
  %c20 = arith.constant 20 : i8
  %a = scf.for %i = %m100 to %p100 step %c20 iter_args(%t = %z) -> i8 : i8 {
    %s = arith.addi %t, %i : i8
    scf.yield %s : i8
  }
  %b = scf.for unsigned %i = %z to %n step %c20 iter_args(%t = %z) -> i8 : i8 {
    %s = arith.addi %t, %i : i8
    scf.yield %s : i8
  }
  %c = scf.for %i = %z to %p100 step %c20 iter_args(%t = %z) -> i8 : i8 {
    %s = arith.addi %t, %i : i8
    scf.yield %s : i8
  }
  return %a, %b, %c : i8, i8, i8
}
