// RUN: shard-opt %s --tp-keep-offsets | FileCheck %s
// RUN: shard-opt %s --tp-keep-offsets --tp-outline-kernels=asserts=true | FileCheck %s --check-prefix=OUTLINED

// A copy into a part of a buffer becomes a nest, which has the position as an operand.
// CHECK-LABEL: func.func @write
// CHECK: %[[PART:.*]] = memref.subview %arg2
// CHECK-NEXT: linalg.generic {{.*}} ins(%arg1, %arg0 : memref<1x4xf32>, memref<i32>) outs(%[[PART]] : memref<1x4xf32, strided<[4, 1], offset: ?>>) attrs = {tp.offsets}
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %{{.*}}: i32, %{{.*}}: f32):
// CHECK-NEXT: linalg.yield %[[IN]]

// The load, the offset and the part move into the kernel. Nothing is left of them outside.
// OUTLINED-LABEL: func.func @write
// OUTLINED-NEXT: call @write.kernel0(%arg1, %arg0, %arg2)
// OUTLINED-NEXT: return
func.func @write(%at: memref<i32>, %row: memref<1x4xf32>, %cache: memref<16x4xf32>) {
  %c0 = arith.constant 0 : index
  %c15 = arith.constant 15 : index
  %n = memref.load %at[] : memref<i32>
  %i = arith.index_cast %n : i32 to index
  %low = arith.maxsi %i, %c0 : index
  %p = arith.minsi %low, %c15 : index
  %part = memref.subview %cache[%p, 0] [1, 4] [1, 1] : memref<16x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
  memref.copy %row, %part : memref<1x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
  return
}

// A nest that reads there. Its own operands and results stay in order.
// CHECK-LABEL: func.func @read
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %arg1, %arg0 : memref<1x4xf32, strided<[4, 1], offset: ?>>, memref<1x4xf32>, memref<i64>) outs(%arg3 : memref<1x4xf32>) attrs = {tp.offsets}
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: i64, %{{.*}}: f32):
// CHECK-NEXT: arith.mulf %[[A]], %[[B]]
// OUTLINED-LABEL: func.func @read
// OUTLINED-NEXT: call @read.kernel1(%arg1, %arg0, %arg3, %arg2)
func.func @read(%at: memref<i64>, %row: memref<1x4xf32>, %table: memref<16x4xf32>, %out: memref<1x4xf32>) {
  %n = memref.load %at[] : memref<i64>
  %p = arith.index_cast %n : i64 to index
  %part = memref.subview %table[%p, 0] [1, 4] [1, 1] : memref<16x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%part, %row : memref<1x4xf32, strided<[4, 1], offset: ?>>, memref<1x4xf32>) outs(%out : memref<1x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  }
  return
}

// The position changes between the load and the copy: the host has the old one.
// CHECK-LABEL: func.func @changed
// CHECK-NOT: tp.offsets
// CHECK: memref.copy
// CHECK: return
// OUTLINED-LABEL: func.func @changed
// OUTLINED: memref.load
func.func @changed(%at: memref<i32>, %row: memref<1x4xf32>, %cache: memref<16x4xf32>) {
  %n = memref.load %at[] : memref<i32>
  %p = arith.index_cast %n : i32 to index
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%at : memref<i32>) {
  ^bb0(%a: i32):
    %b = arith.addi %a, %a : i32
    linalg.yield %b : i32
  }
  %part = memref.subview %cache[%p, 0] [1, 4] [1, 1] : memref<16x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
  memref.copy %row, %part : memref<1x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
  return
}

// A number from elsewhere; and one of a view, of whose memory nothing is written.
// CHECK-LABEL: func.func @others
// CHECK: memref.copy
// CHECK: linalg.generic {{.*}} ins(%arg2, %{{.*}} : memref<1x4xf32>, memref<i32, strided<[], offset: 1>>) {{.*}} {tp.offsets}
// CHECK: return
func.func @others(%p: index, %at: memref<4xi32>, %row: memref<1x4xf32>, %cache: memref<16x4xf32>) {
  %c1 = arith.constant 1 : index
  %part = memref.subview %cache[%p, 0] [1, 4] [1, 1] : memref<16x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
  memref.copy %row, %part : memref<1x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
  %first = memref.subview %at[1] [1] [1] : memref<4xi32> to memref<i32, strided<[], offset: 1>>
  %n = memref.load %first[] : memref<i32, strided<[], offset: 1>>
  %q = arith.index_cast %n : i32 to index
  %other = memref.subview %cache[%q, 0] [1, 4] [1, 1] : memref<16x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
  memref.copy %row, %other : memref<1x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
  return
}

// Another view of that memory is written behind the load: the host has the old number.
// CHECK-LABEL: func.func @view_changed
// CHECK-NOT: tp.offsets
// CHECK: return
func.func @view_changed(%at: memref<4xi32>, %row: memref<1x4xf32>, %cache: memref<16x4xf32>) {
  %first = memref.subview %at[1] [1] [1] : memref<4xi32> to memref<i32, strided<[], offset: 1>>
  %n = memref.load %first[] : memref<i32, strided<[], offset: 1>>
  %q = arith.index_cast %n : i32 to index
  %all = memref.subview %at[0] [4] [1] : memref<4xi32> to memref<4xi32, strided<[1]>>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%all : memref<4xi32, strided<[1]>>) {
  ^bb0(%a: i32):
    %b = arith.addi %a, %a : i32
    linalg.yield %b : i32
  }
  %other = memref.subview %cache[%q, 0] [1, 4] [1, 1] : memref<16x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
  memref.copy %row, %other : memref<1x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
  return
}
