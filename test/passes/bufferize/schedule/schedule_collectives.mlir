// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-schedule-collectives{least=0})' | FileCheck %s
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-schedule-collectives{least=0 window=0})' | FileCheck %s --check-prefix=STAY
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-schedule-collectives{least=0 in-flight=1})' | FileCheck %s --check-prefix=ONE
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-schedule-collectives{overlap=false})' | FileCheck %s --check-prefix=NONE
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-schedule-collectives{least=10000})' | FileCheck %s --check-prefix=NONE
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-schedule-collectives{least=0 memory-limit=1KiB})' | FileCheck %s --check-prefix=NONE
// NONE-NOT: call @tprt_abi_start

// Sites: all-reduces of 64x64 numbers over the only axis.
#sites = array<i64: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>

func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32

// What does not need the result is computed meanwhile. Start and wait have the operands of the call.
// CHECK-LABEL: func.func @beside
// CHECK-DAG: %[[SEND:.*]] = llvm.inttoptr
// CHECK-DAG: %[[RECV:.*]] = llvm.inttoptr
// CHECK: call @tprt_abi_start(%{{.*}}, %[[SITE:.*]], %[[A:.*]], %[[B:.*]])
// CHECK-NEXT: memref.alloc
// CHECK-NEXT: linalg.matmul
// CHECK-NEXT: call @tprt_abi_wait(%{{.*}}, %[[SITE]], %[[A]], %[[B]])
// CHECK-NEXT: memref.alloc
// CHECK-NEXT: linalg.exp
// CHECK-NOT: call @tprt_abi_collective
func.func @beside(%ctx: !llvm.ptr, %x: memref<64x64xf32>, %y: memref<64x64xf32>) -> (memref<64x64xf32>, memref<64x64xf32>) attributes {tp.mesh = array<i64: 2>, tp.sites = #sites} {
  %r = memref.alloc() : memref<64x64xf32>
  %c = memref.alloc() : memref<64x64xf32>
  %e = memref.alloc() : memref<64x64xf32>
  %i1 = memref.extract_aligned_pointer_as_index %x : memref<64x64xf32> -> index
  %a1 = arith.index_cast %i1 : index to i64
  %p1 = llvm.inttoptr %a1 : i64 to !llvm.ptr
  %i2 = memref.extract_aligned_pointer_as_index %r : memref<64x64xf32> -> index
  %a2 = arith.index_cast %i2 : index to i64
  %p2 = llvm.inttoptr %a2 : i64 to !llvm.ptr
  %s3 = arith.constant 0 : i32
  %r3 = func.call @tprt_abi_collective(%ctx, %s3, %p1, %p2) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  linalg.matmul ins(%x, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  linalg.exp ins(%r : memref<64x64xf32>) outs(%e : memref<64x64xf32>)
  return %c, %e : memref<64x64xf32>, memref<64x64xf32>
}

// -----

#sites = array<i64: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>

func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32

// The same where the program computes it later: it comes before what has to wait. STAY does not let it.
// CHECK-LABEL: func.func @moved
// CHECK: call @tprt_abi_start
// CHECK: linalg.matmul
// CHECK-NEXT: call @tprt_abi_wait
// CHECK: linalg.exp
// STAY-LABEL: func.func @moved
// STAY: call @tprt_abi_collective
// STAY: linalg.exp
// STAY: linalg.matmul
func.func @moved(%ctx: !llvm.ptr, %x: memref<64x64xf32>, %y: memref<64x64xf32>) -> (memref<64x64xf32>, memref<64x64xf32>) attributes {tp.mesh = array<i64: 2>, tp.sites = #sites} {
  %r = memref.alloc() : memref<64x64xf32>
  %c = memref.alloc() : memref<64x64xf32>
  %e = memref.alloc() : memref<64x64xf32>
  %i1 = memref.extract_aligned_pointer_as_index %x : memref<64x64xf32> -> index
  %a1 = arith.index_cast %i1 : index to i64
  %p1 = llvm.inttoptr %a1 : i64 to !llvm.ptr
  %i2 = memref.extract_aligned_pointer_as_index %r : memref<64x64xf32> -> index
  %a2 = arith.index_cast %i2 : index to i64
  %p2 = llvm.inttoptr %a2 : i64 to !llvm.ptr
  %s3 = arith.constant 0 : i32
  %r3 = func.call @tprt_abi_collective(%ctx, %s3, %p1, %p2) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  linalg.exp ins(%r : memref<64x64xf32>) outs(%e : memref<64x64xf32>)
  linalg.matmul ins(%x, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  return %c, %e : memref<64x64xf32>, memref<64x64xf32>
}

// -----

#sites = array<i64: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>

func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32

// By the clock the first product hides all of it. Ranks drift apart, so the second comes before the wait, too.
// CHECK-LABEL: func.func @late
// CHECK: call @tprt_abi_start
// CHECK: linalg.matmul
// CHECK: linalg.matmul
// CHECK-NEXT: call @tprt_abi_wait
// CHECK: linalg.exp
func.func @late(%ctx: !llvm.ptr, %x: memref<64x64xf32>, %y: memref<64x64xf32>) -> (memref<64x64xf32>, memref<64x64xf32>, memref<64x64xf32>) attributes {tp.mesh = array<i64: 2>, tp.sites = #sites} {
  %r = memref.alloc() : memref<64x64xf32>
  %c = memref.alloc() : memref<64x64xf32>
  %d = memref.alloc() : memref<64x64xf32>
  %e = memref.alloc() : memref<64x64xf32>
  %i1 = memref.extract_aligned_pointer_as_index %x : memref<64x64xf32> -> index
  %a1 = arith.index_cast %i1 : index to i64
  %p1 = llvm.inttoptr %a1 : i64 to !llvm.ptr
  %i2 = memref.extract_aligned_pointer_as_index %r : memref<64x64xf32> -> index
  %a2 = arith.index_cast %i2 : index to i64
  %p2 = llvm.inttoptr %a2 : i64 to !llvm.ptr
  %s3 = arith.constant 0 : i32
  %r3 = func.call @tprt_abi_collective(%ctx, %s3, %p1, %p2) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  linalg.exp ins(%r : memref<64x64xf32>) outs(%e : memref<64x64xf32>)
  linalg.matmul ins(%x, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  linalg.matmul ins(%y, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%d : memref<64x64xf32>)
  return %c, %d, %e : memref<64x64xf32>, memref<64x64xf32>, memref<64x64xf32>
}

// -----

#sites = array<i64: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>

func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32

// A start goes up to where its operand is ready.
// STAY-LABEL: func.func @early
// STAY: linalg.exp
// STAY: call @tprt_abi_start
// STAY: linalg.matmul
// STAY: call @tprt_abi_wait
// STAY: linalg.exp
func.func @early(%ctx: !llvm.ptr, %x: memref<64x64xf32>, %y: memref<64x64xf32>) -> (memref<64x64xf32>, memref<64x64xf32>) attributes {tp.mesh = array<i64: 2>, tp.sites = #sites} {
  %s = memref.alloc() : memref<64x64xf32>
  %r = memref.alloc() : memref<64x64xf32>
  %c = memref.alloc() : memref<64x64xf32>
  %e = memref.alloc() : memref<64x64xf32>
  linalg.exp ins(%x : memref<64x64xf32>) outs(%s : memref<64x64xf32>)
  linalg.matmul ins(%x, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  %i1 = memref.extract_aligned_pointer_as_index %s : memref<64x64xf32> -> index
  %a1 = arith.index_cast %i1 : index to i64
  %p1 = llvm.inttoptr %a1 : i64 to !llvm.ptr
  %i2 = memref.extract_aligned_pointer_as_index %r : memref<64x64xf32> -> index
  %a2 = arith.index_cast %i2 : index to i64
  %p2 = llvm.inttoptr %a2 : i64 to !llvm.ptr
  %s3 = arith.constant 0 : i32
  %r3 = func.call @tprt_abi_collective(%ctx, %s3, %p1, %p2) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  linalg.exp ins(%r : memref<64x64xf32>) outs(%e : memref<64x64xf32>)
  return %c, %e : memref<64x64xf32>, memref<64x64xf32>
}

// -----

#sites = array<i64: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>

func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32

// All that follows needs it.
// CHECK-LABEL: func.func @dependent
// CHECK-NOT: tprt_abi_start
// CHECK: call @tprt_abi_collective
// CHECK-NOT: tprt_abi_wait
func.func @dependent(%ctx: !llvm.ptr, %x: memref<64x64xf32>, %y: memref<64x64xf32>) -> (memref<64x64xf32>, memref<64x64xf32>) attributes {tp.mesh = array<i64: 2>, tp.sites = #sites} {
  %s = memref.alloc() : memref<64x64xf32>
  %r = memref.alloc() : memref<64x64xf32>
  %c = memref.alloc() : memref<64x64xf32>
  %e = memref.alloc() : memref<64x64xf32>
  linalg.exp ins(%x : memref<64x64xf32>) outs(%s : memref<64x64xf32>)
  %i1 = memref.extract_aligned_pointer_as_index %s : memref<64x64xf32> -> index
  %a1 = arith.index_cast %i1 : index to i64
  %p1 = llvm.inttoptr %a1 : i64 to !llvm.ptr
  %i2 = memref.extract_aligned_pointer_as_index %r : memref<64x64xf32> -> index
  %a2 = arith.index_cast %i2 : index to i64
  %p2 = llvm.inttoptr %a2 : i64 to !llvm.ptr
  %s3 = arith.constant 0 : i32
  %r3 = func.call @tprt_abi_collective(%ctx, %s3, %p1, %p2) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  linalg.matmul ins(%r, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  linalg.exp ins(%c : memref<64x64xf32>) outs(%e : memref<64x64xf32>)
  return %c, %e : memref<64x64xf32>, memref<64x64xf32>
}

// -----

#sites = array<i64: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>

func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32

// The operand is read until the wait: nobody writes it before.
// CHECK-LABEL: func.func @overwritten
// CHECK: linalg.exp
// CHECK-NOT: tprt_abi_start
// CHECK: call @tprt_abi_collective
// CHECK: linalg.matmul
func.func @overwritten(%ctx: !llvm.ptr, %x: memref<64x64xf32>, %y: memref<64x64xf32>) -> (memref<64x64xf32>, memref<64x64xf32>) attributes {tp.mesh = array<i64: 2>, tp.sites = #sites} {
  %s = memref.alloc() : memref<64x64xf32>
  %r = memref.alloc() : memref<64x64xf32>
  %c = memref.alloc() : memref<64x64xf32>
  linalg.exp ins(%x : memref<64x64xf32>) outs(%s : memref<64x64xf32>)
  %i1 = memref.extract_aligned_pointer_as_index %s : memref<64x64xf32> -> index
  %a1 = arith.index_cast %i1 : index to i64
  %p1 = llvm.inttoptr %a1 : i64 to !llvm.ptr
  %i2 = memref.extract_aligned_pointer_as_index %r : memref<64x64xf32> -> index
  %a2 = arith.index_cast %i2 : index to i64
  %p2 = llvm.inttoptr %a2 : i64 to !llvm.ptr
  %s3 = arith.constant 0 : i32
  %r3 = func.call @tprt_abi_collective(%ctx, %s3, %p1, %p2) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  linalg.matmul ins(%x, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%s : memref<64x64xf32>)
  linalg.exp ins(%r : memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  return %c, %s : memref<64x64xf32>, memref<64x64xf32>
}

// -----

#sites = array<i64: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>

func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32

// Others may read it.
// CHECK-LABEL: func.func @read
// CHECK: call @tprt_abi_start
// CHECK: linalg.matmul
// CHECK: call @tprt_abi_wait
func.func @read(%ctx: !llvm.ptr, %x: memref<64x64xf32>, %y: memref<64x64xf32>) -> (memref<64x64xf32>, memref<64x64xf32>) attributes {tp.mesh = array<i64: 2>, tp.sites = #sites} {
  %s = memref.alloc() : memref<64x64xf32>
  %r = memref.alloc() : memref<64x64xf32>
  %c = memref.alloc() : memref<64x64xf32>
  %e = memref.alloc() : memref<64x64xf32>
  linalg.exp ins(%x : memref<64x64xf32>) outs(%s : memref<64x64xf32>)
  %i1 = memref.extract_aligned_pointer_as_index %s : memref<64x64xf32> -> index
  %a1 = arith.index_cast %i1 : index to i64
  %p1 = llvm.inttoptr %a1 : i64 to !llvm.ptr
  %i2 = memref.extract_aligned_pointer_as_index %r : memref<64x64xf32> -> index
  %a2 = arith.index_cast %i2 : index to i64
  %p2 = llvm.inttoptr %a2 : i64 to !llvm.ptr
  %s3 = arith.constant 0 : i32
  %r3 = func.call @tprt_abi_collective(%ctx, %s3, %p1, %p2) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  linalg.matmul ins(%s, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  linalg.exp ins(%r : memref<64x64xf32>) outs(%e : memref<64x64xf32>)
  return %c, %e : memref<64x64xf32>, memref<64x64xf32>
}

// -----

#sites = array<i64: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>

func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32

// A view touches nothing, what is read through it is its source.
// CHECK-LABEL: func.func @views
// CHECK: call @tprt_abi_start
// CHECK: linalg.exp
// CHECK: call @tprt_abi_wait
// CHECK: memref.subview
// CHECK: linalg.exp
func.func @views(%ctx: !llvm.ptr, %x: memref<64x64xf32>, %y: memref<64x64xf32>) -> (memref<64x64xf32>, memref<64x64xf32>) attributes {tp.mesh = array<i64: 2>, tp.sites = #sites} {
  %r = memref.alloc() : memref<64x64xf32>
  %c = memref.alloc() : memref<64x64xf32>
  %e = memref.alloc() : memref<64x64xf32>
  %i1 = memref.extract_aligned_pointer_as_index %x : memref<64x64xf32> -> index
  %a1 = arith.index_cast %i1 : index to i64
  %p1 = llvm.inttoptr %a1 : i64 to !llvm.ptr
  %i2 = memref.extract_aligned_pointer_as_index %r : memref<64x64xf32> -> index
  %a2 = arith.index_cast %i2 : index to i64
  %p2 = llvm.inttoptr %a2 : i64 to !llvm.ptr
  %s3 = arith.constant 0 : i32
  %r3 = func.call @tprt_abi_collective(%ctx, %s3, %p1, %p2) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  %v = memref.subview %r[0, 0] [32, 64] [1, 1] : memref<64x64xf32> to memref<32x64xf32, strided<[64, 1]>>
  %w = memref.subview %y[32, 0] [32, 64] [1, 1] : memref<64x64xf32> to memref<32x64xf32, strided<[64, 1], offset: 2048>>
  %d = memref.alloc() : memref<32x64xf32>
  linalg.matmul ins(%x, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  linalg.exp ins(%w : memref<32x64xf32, strided<[64, 1], offset: 2048>>) outs(%d : memref<32x64xf32>)
  linalg.exp ins(%v : memref<32x64xf32, strided<[64, 1]>>) outs(%d : memref<32x64xf32>)
  memref.copy %d, %v : memref<32x64xf32> to memref<32x64xf32, strided<[64, 1]>>
  return %c, %r : memref<64x64xf32>, memref<64x64xf32>
}

// -----

#sites = array<i64: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>

func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32

// Nothing is known of the call: it may read what the collective writes.
// CHECK-LABEL: func.func @unknown
// CHECK-NOT: tprt_abi_start
// CHECK: call @tprt_abi_collective
// CHECK-NEXT: call @other
// CHECK: linalg.matmul
func.func private @other()

func.func @unknown(%ctx: !llvm.ptr, %x: memref<64x64xf32>, %y: memref<64x64xf32>) -> (memref<64x64xf32>, memref<64x64xf32>) attributes {tp.mesh = array<i64: 2>, tp.sites = #sites} {
  %r = memref.alloc() : memref<64x64xf32>
  %c = memref.alloc() : memref<64x64xf32>
  %e = memref.alloc() : memref<64x64xf32>
  %i1 = memref.extract_aligned_pointer_as_index %x : memref<64x64xf32> -> index
  %a1 = arith.index_cast %i1 : index to i64
  %p1 = llvm.inttoptr %a1 : i64 to !llvm.ptr
  %i2 = memref.extract_aligned_pointer_as_index %r : memref<64x64xf32> -> index
  %a2 = arith.index_cast %i2 : index to i64
  %p2 = llvm.inttoptr %a2 : i64 to !llvm.ptr
  %s3 = arith.constant 0 : i32
  %r3 = func.call @tprt_abi_collective(%ctx, %s3, %p1, %p2) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  func.call @other() : () -> ()
  linalg.matmul ins(%x, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  linalg.exp ins(%r : memref<64x64xf32>) outs(%e : memref<64x64xf32>)
  return %c, %e : memref<64x64xf32>, memref<64x64xf32>
}

// -----

#sites = array<i64: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>

func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32

// What follows an assertion may rely on it, and the first that fails is the one that is told. What is in flight does not mind.
// CHECK-LABEL: func.func @asserts
// CHECK: call @tprt_abi_start
// CHECK: cf.assert %{{.*}}, "first"
// CHECK: linalg.matmul
// CHECK: cf.assert %{{.*}}, "second"
// CHECK: linalg.matmul
// CHECK: call @tprt_abi_wait
func.func @asserts(%ctx: !llvm.ptr, %x: memref<64x64xf32>, %y: memref<64x64xf32>, %p: i1, %q: i1) -> (memref<64x64xf32>, memref<64x64xf32>) attributes {tp.mesh = array<i64: 2>, tp.sites = #sites} {
  %r = memref.alloc() : memref<64x64xf32>
  %c = memref.alloc() : memref<64x64xf32>
  %e = memref.alloc() : memref<64x64xf32>
  %i1 = memref.extract_aligned_pointer_as_index %x : memref<64x64xf32> -> index
  %a1 = arith.index_cast %i1 : index to i64
  %p1 = llvm.inttoptr %a1 : i64 to !llvm.ptr
  %i2 = memref.extract_aligned_pointer_as_index %r : memref<64x64xf32> -> index
  %a2 = arith.index_cast %i2 : index to i64
  %p2 = llvm.inttoptr %a2 : i64 to !llvm.ptr
  %s3 = arith.constant 0 : i32
  %r3 = func.call @tprt_abi_collective(%ctx, %s3, %p1, %p2) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  cf.assert %p, "first"
  linalg.matmul ins(%x, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  cf.assert %q, "second"
  linalg.matmul ins(%y, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%e : memref<64x64xf32>)
  linalg.exp ins(%r : memref<64x64xf32>) outs(%e : memref<64x64xf32>)
  return %c, %e : memref<64x64xf32>, memref<64x64xf32>
}

// -----

#sites = array<i64: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>

func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32

// CHECK-LABEL: func.func @guarded
// CHECK: cf.assert
// CHECK: linalg.matmul
func.func @guarded(%ctx: !llvm.ptr, %x: memref<64x64xf32>, %y: memref<64x64xf32>, %p: i1) -> (memref<64x64xf32>, memref<64x64xf32>) attributes {tp.mesh = array<i64: 2>, tp.sites = #sites} {
  %r = memref.alloc() : memref<64x64xf32>
  %c = memref.alloc() : memref<64x64xf32>
  %e = memref.alloc() : memref<64x64xf32>
  %i1 = memref.extract_aligned_pointer_as_index %x : memref<64x64xf32> -> index
  %a1 = arith.index_cast %i1 : index to i64
  %p1 = llvm.inttoptr %a1 : i64 to !llvm.ptr
  %i2 = memref.extract_aligned_pointer_as_index %r : memref<64x64xf32> -> index
  %a2 = arith.index_cast %i2 : index to i64
  %p2 = llvm.inttoptr %a2 : i64 to !llvm.ptr
  %s3 = arith.constant 0 : i32
  %r3 = func.call @tprt_abi_collective(%ctx, %s3, %p1, %p2) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  linalg.exp ins(%r : memref<64x64xf32>) outs(%e : memref<64x64xf32>)
  cf.assert %p, "inside"
  linalg.matmul ins(%x, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  return %c, %e : memref<64x64xf32>, memref<64x64xf32>
}

// -----

#sites = array<i64: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>

func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32

// Two at once, in the order of their starts. ONE allows one.
// CHECK-LABEL: func.func @two
// CHECK: call @tprt_abi_start(%{{.*}}, %[[FIRST:.*]], %{{.*}}, %{{.*}})
// CHECK: call @tprt_abi_start(%{{.*}}, %[[SECOND:.*]], %{{.*}}, %{{.*}})
// CHECK: linalg.matmul
// CHECK: call @tprt_abi_wait(%{{.*}}, %[[FIRST]], %{{.*}}, %{{.*}})
// CHECK: linalg.exp
// CHECK: call @tprt_abi_wait(%{{.*}}, %[[SECOND]], %{{.*}}, %{{.*}})
// CHECK: linalg.exp
// ONE-LABEL: func.func @two
// ONE: call @tprt_abi_start(%{{.*}}, %[[FIRST:.*]], %{{.*}}, %{{.*}})
// ONE: call @tprt_abi_wait(%{{.*}}, %[[FIRST]], %{{.*}}, %{{.*}})
// ONE-NOT: call @tprt_abi_start(%{{.*}}, %[[FIRST]],
// ONE: return
func.func @two(%ctx: !llvm.ptr, %x: memref<64x64xf32>, %y: memref<64x64xf32>) -> (memref<64x64xf32>, memref<64x64xf32>, memref<64x64xf32>) attributes {tp.mesh = array<i64: 2>, tp.sites = #sites} {
  %r = memref.alloc() : memref<64x64xf32>
  %t = memref.alloc() : memref<64x64xf32>
  %c = memref.alloc() : memref<64x64xf32>
  %d = memref.alloc() : memref<64x64xf32>
  %e = memref.alloc() : memref<64x64xf32>
  %i1 = memref.extract_aligned_pointer_as_index %x : memref<64x64xf32> -> index
  %a1 = arith.index_cast %i1 : index to i64
  %p1 = llvm.inttoptr %a1 : i64 to !llvm.ptr
  %i2 = memref.extract_aligned_pointer_as_index %r : memref<64x64xf32> -> index
  %a2 = arith.index_cast %i2 : index to i64
  %p2 = llvm.inttoptr %a2 : i64 to !llvm.ptr
  %s3 = arith.constant 0 : i32
  %r3 = func.call @tprt_abi_collective(%ctx, %s3, %p1, %p2) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  %i4 = memref.extract_aligned_pointer_as_index %y : memref<64x64xf32> -> index
  %a4 = arith.index_cast %i4 : index to i64
  %p4 = llvm.inttoptr %a4 : i64 to !llvm.ptr
  %i5 = memref.extract_aligned_pointer_as_index %t : memref<64x64xf32> -> index
  %a5 = arith.index_cast %i5 : index to i64
  %p5 = llvm.inttoptr %a5 : i64 to !llvm.ptr
  %s6 = arith.constant 1 : i32
  %r6 = func.call @tprt_abi_collective(%ctx, %s6, %p4, %p5) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  linalg.matmul ins(%x, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  linalg.exp ins(%r : memref<64x64xf32>) outs(%e : memref<64x64xf32>)
  linalg.exp ins(%t : memref<64x64xf32>) outs(%d : memref<64x64xf32>)
  return %c, %d, %e : memref<64x64xf32>, memref<64x64xf32>, memref<64x64xf32>
}

// -----

#sites = array<i64: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>

func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32

// What a collective waits for comes first, so that there is something to do beside it.
// CHECK-LABEL: func.func @urgent
// CHECK: linalg.matmul ins(%[[Y:[a-z0-9]+]], %[[X:[a-z0-9]+]] :
// CHECK: call @tprt_abi_start
// CHECK: linalg.matmul ins(%[[X]], %[[Y]] :
// CHECK: call @tprt_abi_wait
func.func @urgent(%ctx: !llvm.ptr, %x: memref<64x64xf32>, %y: memref<64x64xf32>) -> (memref<64x64xf32>, memref<64x64xf32>) attributes {tp.mesh = array<i64: 2>, tp.sites = #sites} {
  %s = memref.alloc() : memref<64x64xf32>
  %r = memref.alloc() : memref<64x64xf32>
  %c = memref.alloc() : memref<64x64xf32>
  %e = memref.alloc() : memref<64x64xf32>
  linalg.matmul ins(%x, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  linalg.matmul ins(%y, %x : memref<64x64xf32>, memref<64x64xf32>) outs(%s : memref<64x64xf32>)
  %i1 = memref.extract_aligned_pointer_as_index %s : memref<64x64xf32> -> index
  %a1 = arith.index_cast %i1 : index to i64
  %p1 = llvm.inttoptr %a1 : i64 to !llvm.ptr
  %i2 = memref.extract_aligned_pointer_as_index %r : memref<64x64xf32> -> index
  %a2 = arith.index_cast %i2 : index to i64
  %p2 = llvm.inttoptr %a2 : i64 to !llvm.ptr
  %s3 = arith.constant 0 : i32
  %r3 = func.call @tprt_abi_collective(%ctx, %s3, %p1, %p2) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  linalg.exp ins(%r : memref<64x64xf32>) outs(%e : memref<64x64xf32>)
  return %c, %e : memref<64x64xf32>, memref<64x64xf32>
}

// -----

#sites = array<i64: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>

func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32

// In a loop both stand in one iteration.
// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK: call @tprt_abi_start
// CHECK: linalg.matmul
// CHECK: call @tprt_abi_wait
// CHECK: linalg.exp
// CHECK: linalg.matmul
// CHECK: }
func.func @loop(%ctx: !llvm.ptr, %x: memref<64x64xf32>, %y: memref<64x64xf32>, %n: index) -> (memref<64x64xf32>) attributes {tp.mesh = array<i64: 2>, tp.sites = #sites} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %c = memref.alloc() : memref<64x64xf32>
  scf.for %i = %zero to %n step %one {
    %r = memref.alloc() : memref<64x64xf32>
    %i1 = memref.extract_aligned_pointer_as_index %x : memref<64x64xf32> -> index
    %a1 = arith.index_cast %i1 : index to i64
    %p1 = llvm.inttoptr %a1 : i64 to !llvm.ptr
    %i2 = memref.extract_aligned_pointer_as_index %r : memref<64x64xf32> -> index
    %a2 = arith.index_cast %i2 : index to i64
    %p2 = llvm.inttoptr %a2 : i64 to !llvm.ptr
    %s3 = arith.constant 0 : i32
    %r3 = func.call @tprt_abi_collective(%ctx, %s3, %p1, %p2) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
    linalg.matmul ins(%x, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
    linalg.exp ins(%r : memref<64x64xf32>) outs(%c : memref<64x64xf32>)
    linalg.matmul ins(%y, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  }
  return %c : memref<64x64xf32>
}

// -----

#sites = array<i64: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>

func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32

// A loop or a branch does what its ops do.
// CHECK-LABEL: func.func @regions
// CHECK: call @tprt_abi_start
// CHECK: scf.for
// CHECK: linalg.matmul
// CHECK: call @tprt_abi_wait
// CHECK-NEXT: scf.if
func.func @regions(%ctx: !llvm.ptr, %x: memref<64x64xf32>, %y: memref<64x64xf32>, %n: index, %p: i1) -> (memref<64x64xf32>, memref<64x64xf32>) attributes {tp.mesh = array<i64: 2>, tp.sites = #sites} {
  %r = memref.alloc() : memref<64x64xf32>
  %c = memref.alloc() : memref<64x64xf32>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %i1 = memref.extract_aligned_pointer_as_index %x : memref<64x64xf32> -> index
  %a1 = arith.index_cast %i1 : index to i64
  %p1 = llvm.inttoptr %a1 : i64 to !llvm.ptr
  %i2 = memref.extract_aligned_pointer_as_index %r : memref<64x64xf32> -> index
  %a2 = arith.index_cast %i2 : index to i64
  %p2 = llvm.inttoptr %a2 : i64 to !llvm.ptr
  %s3 = arith.constant 0 : i32
  %r3 = func.call @tprt_abi_collective(%ctx, %s3, %p1, %p2) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  scf.for %i = %zero to %n step %one {
    linalg.matmul ins(%x, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  }
  scf.if %p {
    linalg.exp ins(%r : memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  }
  return %c, %r : memref<64x64xf32>, memref<64x64xf32>
}

// -----

#sites = array<i64: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>

func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32

// A structured op reads what its body loads.
// CHECK-LABEL: func.func @captured
// CHECK: call @tprt_abi_start
// CHECK: linalg.matmul
// CHECK: call @tprt_abi_wait
// CHECK-NEXT: linalg.generic
func.func @captured(%ctx: !llvm.ptr, %x: memref<64x64xf32>, %y: memref<64x64xf32>) -> (memref<64x64xf32>, memref<64x64xf32>) attributes {tp.mesh = array<i64: 2>, tp.sites = #sites} {
  %r = memref.alloc() : memref<64x64xf32>
  %c = memref.alloc() : memref<64x64xf32>
  %i1 = memref.extract_aligned_pointer_as_index %x : memref<64x64xf32> -> index
  %a1 = arith.index_cast %i1 : index to i64
  %p1 = llvm.inttoptr %a1 : i64 to !llvm.ptr
  %i2 = memref.extract_aligned_pointer_as_index %r : memref<64x64xf32> -> index
  %a2 = arith.index_cast %i2 : index to i64
  %p2 = llvm.inttoptr %a2 : i64 to !llvm.ptr
  %s3 = arith.constant 0 : i32
  %r3 = func.call @tprt_abi_collective(%ctx, %s3, %p1, %p2) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  linalg.matmul ins(%x, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%c : memref<64x64xf32>) {
  ^bb0(%o: f32):
    %k = linalg.index 0 : index
    %e = memref.load %r[%k, %k] : memref<64x64xf32>
    linalg.yield %e : f32
  }
  return %c, %r : memref<64x64xf32>, memref<64x64xf32>
}

// -----

#sites = array<i64: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>

func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32

// Nothing is in flight when the function returns.
// CHECK-LABEL: func.func @returned
// CHECK: call @tprt_abi_start
// CHECK: linalg.matmul
// CHECK-NEXT: call @tprt_abi_wait
// CHECK-NEXT: return
func.func @returned(%ctx: !llvm.ptr, %x: memref<64x64xf32>, %y: memref<64x64xf32>) -> (memref<64x64xf32>, memref<64x64xf32>) attributes {tp.mesh = array<i64: 2>, tp.sites = #sites} {
  %r = memref.alloc() : memref<64x64xf32>
  %c = memref.alloc() : memref<64x64xf32>
  %i1 = memref.extract_aligned_pointer_as_index %x : memref<64x64xf32> -> index
  %a1 = arith.index_cast %i1 : index to i64
  %p1 = llvm.inttoptr %a1 : i64 to !llvm.ptr
  %i2 = memref.extract_aligned_pointer_as_index %r : memref<64x64xf32> -> index
  %a2 = arith.index_cast %i2 : index to i64
  %p2 = llvm.inttoptr %a2 : i64 to !llvm.ptr
  %s3 = arith.constant 0 : i32
  %r3 = func.call @tprt_abi_collective(%ctx, %s3, %p1, %p2) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  linalg.matmul ins(%x, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  return %c, %r : memref<64x64xf32>, memref<64x64xf32>
}

// -----

#sites = array<i64: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>

func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32

// Functions of tp-fuse-nests: what they read may be sent meanwhile, and what reads the result waits; so does what writes over what is sent, also
// by a view.
// CHECK-LABEL: func.func @kernels
// CHECK-SAME: (%{{.*}}: !llvm.ptr, %[[X:[a-z0-9]*]]: memref<64x64xf32>, %[[Y:[a-z0-9]*]]: memref<64x64xf32>
// CHECK: call @tprt_abi_start
// CHECK-NEXT: call @reads(%[[X]], %[[Y]])
// CHECK-NEXT: call @tprt_abi_wait
// CHECK-DAG: call @reads(%alloc
// CHECK-DAG: call @writes(%[[X]])
func.func @kernels(%ctx: !llvm.ptr, %x: memref<64x64xf32>, %y: memref<64x64xf32>, %z: memref<64x64xf32>) -> memref<64x64xf32> attributes {tp.mesh = array<i64: 2>, tp.sites = #sites} {
  %r = memref.alloc() : memref<64x64xf32>
  %i1 = memref.extract_aligned_pointer_as_index %x : memref<64x64xf32> -> index
  %a1 = arith.index_cast %i1 : index to i64
  %p1 = llvm.inttoptr %a1 : i64 to !llvm.ptr
  %i2 = memref.extract_aligned_pointer_as_index %r : memref<64x64xf32> -> index
  %a2 = arith.index_cast %i2 : index to i64
  %p2 = llvm.inttoptr %a2 : i64 to !llvm.ptr
  %s3 = arith.constant 0 : i32
  %r3 = func.call @tprt_abi_collective(%ctx, %s3, %p1, %p2) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  func.call @reads(%r, %z) : (memref<64x64xf32>, memref<64x64xf32>) -> ()
  func.call @reads(%x, %y) : (memref<64x64xf32>, memref<64x64xf32>) -> ()
  func.call @writes(%x) : (memref<64x64xf32>) -> ()
  return %r : memref<64x64xf32>
}
func.func private @reads(%from: memref<64x64xf32>, %to: memref<64x64xf32>) {
  linalg.exp ins(%from : memref<64x64xf32>) outs(%to : memref<64x64xf32>)
  return
}
func.func private @writes(%to: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %part = memref.subview %to[0, 0] [32, 64] [1, 1] : memref<64x64xf32> to memref<32x64xf32, strided<[64, 1]>>
  linalg.fill ins(%zero : f32) outs(%part : memref<32x64xf32, strided<[64, 1]>>)
  return
}
