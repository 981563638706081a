// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-lower-contractions)' | FileCheck %s

// Site 7 of type f32 (1); extra data: 3 loops, each its size and strides in A, B, C. A is read through a strided view, whose offset is
// part of its address.
// CHECK: func.func @strided
// CHECK-SAME: tp.extra = array<i64: 3, 4, 16, 0, 6, 6, 0, 1, 1, 8, 1, 6, 0>
// CHECK-SAME: tp.sites = array<i64: 7, 1, 0, 0,
// CHECK: memref.extract_aligned_pointer_as_index %{{.*}} : memref<4x8xf32, strided<[16, 1], offset: 8>>
// CHECK: memref.extract_strided_metadata
// CHECK: call @tprt_abi_contract
// CHECK-NOT: linalg.matmul
func.func @strided(%ctx: !llvm.ptr, %x: memref<4x16xf32>, %b: memref<8x6xf32>, %c: memref<4x6xf32>) {
  %a = memref.subview %x[0, 8] [4, 8] [1, 1] : memref<4x16xf32> to memref<4x8xf32, strided<[16, 1], offset: 8>>
  linalg.matmul ins(%a, %b : memref<4x8xf32, strided<[16, 1], offset: 8>>, memref<8x6xf32>) outs(%c : memref<4x6xf32>)
  return
}

// -----

// Strides known only at run time, or operands of different types: stays a loop nest.
// CHECK: func.func @stays
// CHECK-COUNT-2: linalg.matmul
// CHECK-NOT: tprt_abi_contract
func.func @stays(%ctx: !llvm.ptr, %a: memref<4x8xf32, strided<[?, 1]>>, %n: memref<4x8xbf16>, %b: memref<8x6xf32>, %c: memref<4x6xf32>) {
  linalg.matmul ins(%a, %b : memref<4x8xf32, strided<[?, 1]>>, memref<8x6xf32>) outs(%c : memref<4x6xf32>)
  linalg.matmul ins(%n, %b : memref<4x8xbf16>, memref<8x6xf32>) outs(%c : memref<4x6xf32>)
  return
}
