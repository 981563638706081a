// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-keep-scalars,canonicalize)' | FileCheck %s

// A counter as frameworks export it: carried, compared, an offset, and what is stored are scalars; a result that is used is made of one.
// CHECK-LABEL: func.func @scan
// CHECK: %[[END:.*]]:2 = scf.while (%[[I:.*]] = %c0_i32, %{{.*}} = %{{.*}}) : (i32, tensor<8xf32>) -> (i32, tensor<8xf32>)
// CHECK-NEXT: %[[C:.*]] = arith.cmpi slt, %[[I]], %c4_i32
// CHECK-NEXT: scf.condition(%[[C]]) %[[I]]
// CHECK: ^bb0(%[[K:.*]]: i32,
// CHECK-NOT: tensor.extract %
// CHECK: %[[AT:.*]] = arith.index_cast %[[K]] : i32 to index
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%[[AT]]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[K]], %c1_i32
// CHECK: scf.yield %[[NEXT]]
// CHECK: linalg.generic
// CHECK: linalg.yield %[[END]]#0
#none = affine_map<() -> ()>
func.func @scan(%x: tensor<1xf32>, %y: tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>) {
  %zero = arith.constant dense<0> : tensor<i32>
  %c4 = arith.constant 4 : i32
  %c1 = arith.constant 1 : i32
  %end:2 = scf.while (%i = %zero, %v = %y) : (tensor<i32>, tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>) {
    %e = tensor.empty() : tensor<i1>
    %less = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%i : tensor<i32>) outs(%e : tensor<i1>) {
    ^bb0(%in: i32, %out: i1):
      %c = arith.cmpi slt, %in, %c4 : i32
      linalg.yield %c : i1
    } -> tensor<i1>
    %c = tensor.extract %less[] : tensor<i1>
    scf.condition(%c) %i, %v : tensor<i32>, tensor<8xf32>
  } do {
  ^bb0(%i: tensor<i32>, %v: tensor<8xf32>):
    %n = tensor.extract %i[] : tensor<i32>
    %at = arith.index_cast %n : i32 to index
    %w = tensor.insert_slice %x into %v[%at] [1] [1] : tensor<1xf32> into tensor<8xf32>
    %e = tensor.empty() : tensor<i32>
    %next = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%i : tensor<i32>) outs(%e : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %s = arith.addi %in, %c1 : i32
      linalg.yield %s : i32
    } -> tensor<i32>
    scf.yield %next, %w : tensor<i32>, tensor<8xf32>
  }
  return %end#0, %end#1 : tensor<i32>, tensor<8xf32>
}

// -----

// Two numbers that are made of each other, in a loop with bounds; one that starts from an argument stays, and so does what is made of it.
// CHECK-LABEL: func.func @bounds
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %c1_i64, %[[B:.*]] = %c0_i64, %[[P:.*]] = %{{.*}}, %[[Q:.*]] = %{{.*}}) -> (i64, i64, tensor<i64>, tensor<i64>)
// CHECK: %[[S:.*]] = arith.addi %[[A]], %[[B]] : i64
// CHECK: linalg.generic {{.*}} ins(%[[P]] : tensor<i64>)
// CHECK: scf.yield %[[S]], %[[A]], %{{.*}}, %[[P]] : i64, i64, tensor<i64>, tensor<i64>
#none = affine_map<() -> ()>
func.func @bounds(%n: index, %start: tensor<i64>) -> (i64, i64, tensor<i64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0> : tensor<i64>
  %one = arith.constant dense<1> : tensor<i64>
  %e = tensor.empty() : tensor<i64>
  %end:4 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %one, %b = %zero, %p = %start, %q = %one) -> (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) {
    %s = linalg.generic {indexing_maps = [#none, #none, #none], iterator_types = []} ins(%a, %b : tensor<i64>, tensor<i64>) outs(%e : tensor<i64>) {
    ^bb0(%x: i64, %y: i64, %out: i64):
      %sum = arith.addi %x, %y : i64
      linalg.yield %sum : i64
    } -> tensor<i64>
    %t = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%p : tensor<i64>) outs(%e : tensor<i64>) {
    ^bb0(%x: i64, %out: i64):
      %twice = arith.addi %x, %x : i64
      linalg.yield %twice : i64
    } -> tensor<i64>
    scf.yield %s, %a, %t, %p : tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>
  }
  %x = tensor.extract %end#0[] : tensor<i64>
  %y = tensor.extract %end#3[] : tensor<i64>
  return %x, %y, %end#2 : i64, i64, tensor<i64>
}

// -----

// Not what reads the result it is stored to, nor a floating-point number, nor what is read from a tensor with dimensions.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: tensor.extract
#none = affine_map<() -> ()>
func.func @others(%x: tensor<2xi32>) -> (i32, f32, i32) {
  %zero = arith.constant dense<0> : tensor<i32>
  %c0 = arith.constant 0 : index
  %float = arith.constant dense<1.0> : tensor<f32>
  %again = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%zero : tensor<i32>) outs(%zero : tensor<i32>) {
  ^bb0(%in: i32, %out: i32):
    %s = arith.addi %in, %out : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  %e = tensor.empty() : tensor<f32>
  %half = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%float : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %a = tensor.extract %again[] : tensor<i32>
  %b = tensor.extract %half[] : tensor<f32>
  %c = tensor.extract %x[%c0] : tensor<2xi32>
  return %a, %b, %c : i32, f32, i32
}
