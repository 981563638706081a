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
// CHECK-NOT: call @tprt_abi_contract
func.func @stays(%ctx: !llvm.ptr, %a: memref<4x8xf32, strided<[?, 1]>>, %n: memref<4x8xbf16>, %b: memref<8x6xf32>, %c: memref<4x6xf32>) {
  linalg.matmul ins(%a, %b : memref<4x8xf32, strided<[?, 1]>>, memref<8x6xf32>) outs(%c : memref<4x6xf32>)
  linalg.matmul ins(%n, %b : memref<4x8xbf16>, memref<8x6xf32>) outs(%c : memref<4x6xf32>)
  return
}

// -----

// A fill with zeros just before is taken into the call: word 27 of the site is 1.
// CHECK: func.func @overwrites
// CHECK-SAME: tp.sites = array<i64: 7, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0,
// CHECK-NOT: linalg.fill
// CHECK: call @tprt_abi_contract
func.func @overwrites(%ctx: !llvm.ptr, %a: memref<4x8xf32>, %x: memref<16x6xf32>) -> memref<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<4x6xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x6xf32>)
  %b = memref.subview %x[0, 0] [8, 6] [1, 1] : memref<16x6xf32> to memref<8x6xf32, strided<[6, 1]>>
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x6xf32, strided<[6, 1]>>) outs(%c : memref<4x6xf32>)
  return %c : memref<4x6xf32>
}

// -----

// Not where the fill is not zero, or -0, or of another part, or where something may read it in between, or where nothing is summed.
// CHECK: func.func @adds
// CHECK-SAME: tp.sites = array<i64: 7, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
// CHECK-COUNT-5: linalg.fill
// CHECK-NOT: linalg.fill
func.func @adds(%ctx: !llvm.ptr, %a: memref<4x8xf32>, %b: memref<8x6xf32>, %c: memref<4x6xf32>, %d: memref<4x6xf32>,
                %none: memref<4x0xf32>, %nothing: memref<0x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %less = arith.constant -0.0 : f32
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%c : memref<4x6xf32>)
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x6xf32>) outs(%c : memref<4x6xf32>)
  linalg.fill ins(%less : f32) outs(%c : memref<4x6xf32>)
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x6xf32>) outs(%c : memref<4x6xf32>)
  linalg.fill ins(%zero : f32) outs(%d : memref<4x6xf32>)
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x6xf32>) outs(%c : memref<4x6xf32>)
  linalg.fill ins(%zero : f32) outs(%c : memref<4x6xf32>)
  memref.copy %c, %d : memref<4x6xf32> to memref<4x6xf32>
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x6xf32>) outs(%c : memref<4x6xf32>)
  linalg.fill ins(%zero : f32) outs(%d : memref<4x6xf32>)
  linalg.matmul ins(%none, %nothing : memref<4x0xf32>, memref<0x6xf32>) outs(%d : memref<4x6xf32>)
  return
}
