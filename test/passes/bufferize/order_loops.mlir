// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-order-loops)' --split-input-file | FileCheck %s

// A sum over rows: whole rows are added. The sum may be reassociated.
// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func @columns
// CHECK: indexing_maps = [#[[IN]], #[[OUT]]], iterator_types = ["reduction", "parallel"]
// CHECK: arith.addf %{{.*}}, %{{.*}} fastmath<reassoc> : f32
func.func @columns(%x: memref<256x512xf32>, %y: memref<512xf32>) {
  linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>],
                  iterator_types = ["parallel", "reduction"]} ins(%x : memref<256x512xf32>) outs(%y : memref<512xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %b, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Along rows it stays; so does the order of a combination that is not known to be one that may change, here of three loops.
// CHECK-LABEL: func @rows
// CHECK: iterator_types = ["parallel", "reduction"]
// CHECK: arith.mulf %{{.*}}, %{{.*}} fastmath<reassoc> : f64
// CHECK: iterator_types = ["reduction", "parallel", "reduction"]
// CHECK: arith.subf %{{.*}}, %{{.*}} : f32
func.func @rows(%x: memref<256x512xf64>, %y: memref<256xf64>, %u: memref<4x8x16xf32>, %v: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]} ins(%x : memref<256x512xf64>) outs(%y : memref<256xf64>) {
  ^bb0(%a: f64, %b: f64):
    %0 = arith.mulf %b, %a : f64
    linalg.yield %0 : f64
  }
  linalg.generic {indexing_maps = [affine_map<(k, i, j) -> (j, i, k)>, affine_map<(k, i, j) -> (i)>],
                  iterator_types = ["reduction", "parallel", "reduction"]} ins(%u : memref<4x8x16xf32>) outs(%v : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %b, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// The same with a maximum moves; loops of one iteration go outside; numbers of loops in the body follow.
// CHECK-LABEL: func @index
// CHECK: iterator_types = ["parallel", "parallel", "reduction", "reduction"]
// CHECK: linalg.index 3
// CHECK: linalg.index 1
func.func @index(%u: memref<4x8x16x1xi32>, %v: memref<8x1xi32>) {
  linalg.generic {indexing_maps = [affine_map<(k, i, j, l) -> (j, i, k, l)>, affine_map<(k, i, j, l) -> (i, l)>],
                  iterator_types = ["reduction", "parallel", "reduction", "parallel"]} ins(%u : memref<4x8x16x1xi32>) outs(%v : memref<8x1xi32>) {
  ^bb0(%a: i32, %b: i32):
    %k = linalg.index 0 : index
    %i = linalg.index 1 : index
    %s = arith.addi %k, %i : index
    %t = arith.index_cast %s : index to i32
    %m = arith.addi %a, %t : i32
    %0 = arith.maxsi %b, %m : i32
    linalg.yield %0 : i32
  }
  return
}
