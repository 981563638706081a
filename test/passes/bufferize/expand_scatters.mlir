// A nest that compares the position of an element with one that an update gives becomes a loop over updates.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-expand-scatters)' | FileCheck %s

// The loop over rows is gone: the position is checked and used.
// CHECK-LABEL: func.func @add
// CHECK-SAME: %[[I:.*]]: memref<12xi32>, %[[U:.*]]: memref<12x4xf32>, %[[R:.*]]: memref<32x4xf32>
// CHECK-NOT: linalg.generic
// CHECK: scf.for %[[N:.*]] = %{{.*}} to %c12
// CHECK: %[[X:.*]] = memref.load %[[I]][%[[N]]]
// CHECK: %[[P:.*]] = arith.index_cast %[[X]]
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[P]], %c32
// CHECK: scf.if %[[IN]] {
// CHECK: scf.for %[[C:.*]] = %{{.*}} to %c4
// CHECK: %[[OLD:.*]] = memref.load %[[R]][%[[P]], %[[C]]]
// CHECK: %[[NEW:.*]] = memref.load %[[U]][%[[N]], %[[C]]]
// CHECK: arith.addf %[[OLD]], %[[NEW]]
// CHECK: memref.store %{{.*}}, %[[R]][%[[P]], %[[C]]]
#index = affine_map<(r, c, u) -> (u)>
#update = affine_map<(r, c, u) -> (u, c)>
#result = affine_map<(r, c, u) -> (r, c)>
func.func @add(%i: memref<12xi32>, %u: memref<12x4xf32>, %r: memref<32x4xf32>) {
  linalg.generic {indexing_maps = [#index, #update, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%i, %u : memref<12xi32>, memref<12x4xf32>) outs(%r : memref<32x4xf32>) {
  ^bb0(%in: i32, %value: f32, %old: f32):
    %new = arith.addf %old, %value : f32
    %p = arith.index_cast %in : i32 to index
    %row = linalg.index 0 : index
    %same = arith.cmpi eq, %p, %row : index
    %y = arith.select %same, %new, %old : f32
    linalg.yield %y : f32
  }
  return
}

// -----

// In a per-device program the row of the device's first element is added; both dimensions are given, one by a batch.
// CHECK-LABEL: func.func @shard
// CHECK: scf.for %[[B:.*]] = %{{.*}} to %c8
// CHECK: scf.for %[[N:.*]] = %{{.*}} to %c3
// CHECK: %[[P:.*]] = arith.index_cast
// CHECK: %[[AT:.*]] = arith.subi %[[P]], %arg3
// CHECK: arith.cmpi ult, %[[AT]], %c16
// CHECK: memref.store %{{.*}}, %arg2[%[[B]], %[[AT]]]
#index = affine_map<(b, r, u) -> (b, u)>
#result = affine_map<(b, r, u) -> (b, r)>
func.func @shard(%i: memref<8x3xi32>, %u: memref<8x3xf32>, %r: memref<8x16xf32>, %first: index) {
  linalg.generic {indexing_maps = [#index, #index, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%i, %u : memref<8x3xi32>, memref<8x3xf32>) outs(%r : memref<8x16xf32>) {
  ^bb0(%in: i32, %value: f32, %old: f32):
    %p = arith.index_cast %in : i32 to index
    %local = linalg.index 1 : index
    %row = arith.addi %local, %first : index
    %same = arith.cmpi eq, %p, %row : index
    %y = arith.select %same, %value, %old : f32
    linalg.yield %y : f32
  }
  return
}

// -----

// No scatter: the position depends on the element itself; the element changes in any case; the loop also reads an input.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: linalg.generic
#update = affine_map<(r, u) -> (u)>
#rows = affine_map<(r, u) -> (r)>
func.func @others(%i: memref<12xindex>, %u: memref<12xf32>, %x: memref<32xf32>, %r: memref<32xf32>) {
  linalg.generic {indexing_maps = [#update, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%u : memref<12xf32>) outs(%r : memref<32xf32>) {
  ^bb0(%value: f32, %old: f32):
    %whole = arith.fptosi %old : f32 to i32
    %p = arith.index_cast %whole : i32 to index
    %row = linalg.index 0 : index
    %same = arith.cmpi eq, %p, %row : index
    %y = arith.select %same, %value, %old : f32
    linalg.yield %y : f32
  }
  linalg.generic {indexing_maps = [#update, #update, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%i, %u : memref<12xindex>, memref<12xf32>) outs(%r : memref<32xf32>) {
  ^bb0(%p: index, %value: f32, %old: f32):
    %row = linalg.index 0 : index
    %same = arith.cmpi eq, %p, %row : index
    %y = arith.select %same, %value, %value : f32
    linalg.yield %y : f32
  }
  linalg.generic {indexing_maps = [#update, #rows, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%i, %x : memref<12xindex>, memref<32xf32>) outs(%r : memref<32xf32>) {
  ^bb0(%p: index, %value: f32, %old: f32):
    %row = linalg.index 0 : index
    %same = arith.cmpi eq, %p, %row : index
    %y = arith.select %same, %value, %old : f32
    linalg.yield %y : f32
  }
  return
}
