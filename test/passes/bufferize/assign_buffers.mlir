// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-assign-buffers)' | FileCheck %s
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-assign-buffers{target=cuda})' | FileCheck %s --check-prefix=CUDA

// Three buffers in a row: the third is alive with the second only, so it takes the place of the first. What is returned is
// computed in the caller's memory. Table: magic, version, words, one axis of 2, blocks of 128 and 0 bytes, no sites.
// CUDA: @chain.tprt(dense<[8390331949966846257, 9, 24, 1, 2, 1, 1, 1, 1, 1, 1, 1, 128, 0, 0, 24, 1,
// CHECK: llvm.mlir.global external constant @chain.tprt(dense<[8390331949966846257, 9, 24, 1, 2, 1, 1, 1, 1, 1, 1, 1, 128, 0, 0, 24, 0,
// CHECK: func.func @chain(%[[CTX:.*]]: !llvm.ptr, %[[IN:.*]]: !llvm.ptr, %[[OUT:.*]]: !llvm.ptr) -> i32
// CHECK-NEXT: %[[TABLE:.*]] = llvm.mlir.addressof @chain.tprt
// CHECK-NEXT: call @tprt_abi_enter(%[[CTX]], %[[TABLE]])
// CHECK-NEXT: %[[A0:.*]] = llvm.getelementptr %[[IN]][0]
// CHECK-NEXT: llvm.load %[[A0]]
// CHECK: %[[X:.*]] = memref.view %{{.*}} : memref<64xi8> to memref<16xf32>
// CHECK: call @tprt_abi_private(%[[CTX]])
// CHECK: %[[BLOCK:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<128xi8>
// CHECK: llvm.getelementptr %[[OUT]][0]
// CHECK: %[[Y:.*]] = memref.view %{{.*}} : memref<64xi8> to memref<16xf32>
// CHECK: %[[O1:.*]] = arith.constant 0 : index
// CHECK: %[[B1:.*]] = memref.view %[[BLOCK]][%[[O1]]][]
// CHECK: memref.copy %[[X]], %[[B1]]
// CHECK: %[[O2:.*]] = arith.constant 64 : index
// CHECK: %[[B2:.*]] = memref.view %[[BLOCK]][%[[O2]]][]
// CHECK: memref.copy %[[B1]], %[[B2]]
// CHECK: %[[O3:.*]] = arith.constant 0 : index
// CHECK: %[[B3:.*]] = memref.view %[[BLOCK]][%[[O3]]][]
// CHECK: memref.copy %[[B2]], %[[B3]]
// CHECK: memref.copy %[[B3]], %[[Y]]
// CHECK: %[[OK:.*]] = arith.constant 0 : i32
// CHECK: return %[[OK]] : i32
func.func @chain(%ctx: !llvm.ptr, %x: memref<16xf32>) -> memref<16xf32> attributes {tp.mesh = array<i64: 2>} {
  %a = memref.alloc() : memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  memref.copy %a, %b : memref<16xf32> to memref<16xf32>
  %c = memref.alloc() : memref<16xf32>
  memref.copy %b, %c : memref<16xf32> to memref<16xf32>
  %d = memref.alloc() : memref<16xf32>
  memref.copy %c, %d : memref<16xf32> to memref<16xf32>
  return %d : memref<16xf32>
}

// -----

// A buffer of another loop iteration: what is read in a loop is kept until the loop ends, so a and b do not share.
// CHECK: func.func @loop
// CHECK: unrealized_conversion_cast %{{.*}} to memref<128xi8>
func.func @loop(%ctx: !llvm.ptr, %x: memref<16xf32>, %n: index) attributes {tp.mesh = array<i64: 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  scf.for %i = %c0 to %n step %c1 {
    memref.copy %a, %x : memref<16xf32> to memref<16xf32>
    %b = memref.alloc() : memref<16xf32>
    memref.copy %x, %b : memref<16xf32> to memref<16xf32>
    memref.copy %b, %x : memref<16xf32> to memref<16xf32>
  }
  return
}

// -----

// The address of a buffer is a use: `a` is sent, `b` received; both lie in the registered block, next to each other.
// `c` takes the place of `a`, which is no longer needed then: a private block would only add to it. `d` is alive with both, and is private.
// CHECK: func.func @registered
// CHECK-DAG: call @tprt_abi_private
// CHECK-DAG: unrealized_conversion_cast %{{.*}} to memref<64xi8>
// CHECK-DAG: call @tprt_abi_registered
// CHECK-DAG: unrealized_conversion_cast %{{.*}} to memref<128xi8>
func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
func.func @registered(%ctx: !llvm.ptr, %x: memref<16xf32>) attributes {tp.mesh = array<i64: 1>} {
  %d = memref.alloc() : memref<16xf32>
  memref.copy %x, %d : memref<16xf32> to memref<16xf32>
  %a = memref.alloc() : memref<4x4xf32>
  %v = memref.collapse_shape %a [[0, 1]] : memref<4x4xf32> into memref<16xf32>
  memref.copy %x, %v : memref<16xf32> to memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  %c = memref.alloc() : memref<16xf32>
  %site = arith.constant 0 : i32
  %pa = memref.extract_aligned_pointer_as_index %a : memref<4x4xf32> -> index
  %wa = arith.index_cast %pa : index to i64
  %qa = llvm.inttoptr %wa : i64 to !llvm.ptr
  %pb = memref.extract_aligned_pointer_as_index %b : memref<16xf32> -> index
  %wb = arith.index_cast %pb : index to i64
  %qb = llvm.inttoptr %wb : i64 to !llvm.ptr
  %s = call @tprt_abi_collective(%ctx, %site, %qa, %qb) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  memref.copy %b, %c : memref<16xf32> to memref<16xf32>
  memref.copy %c, %x : memref<16xf32> to memref<16xf32>
  memref.copy %d, %x : memref<16xf32> to memref<16xf32>
  return
}

// -----

// What is sent and received is gone when `d` is needed, and `d` is larger: one block for all takes less than two.
// CHECK: func.func @one_block
// CHECK-NOT: call @tprt_abi_private
// CHECK: call @tprt_abi_registered
// CHECK: unrealized_conversion_cast %{{.*}} to memref<192xi8>
// CHECK-NOT: call @tprt_abi_private
// CHECK: return
func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
func.func @one_block(%ctx: !llvm.ptr, %x: memref<16xf32>, %y: memref<48xf32>) attributes {tp.mesh = array<i64: 1>} {
  %a = memref.alloc() : memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  %site = arith.constant 0 : i32
  %pa = memref.extract_aligned_pointer_as_index %a : memref<16xf32> -> index
  %wa = arith.index_cast %pa : index to i64
  %qa = llvm.inttoptr %wa : i64 to !llvm.ptr
  %pb = memref.extract_aligned_pointer_as_index %b : memref<16xf32> -> index
  %wb = arith.index_cast %pb : index to i64
  %qb = llvm.inttoptr %wb : i64 to !llvm.ptr
  %s = call @tprt_abi_collective(%ctx, %site, %qa, %qb) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  memref.copy %b, %x : memref<16xf32> to memref<16xf32>
  %d = memref.alloc() : memref<48xf32>
  memref.copy %y, %d : memref<48xf32> to memref<48xf32>
  memref.copy %d, %y : memref<48xf32> to memref<48xf32>
  return
}

// -----

// Largest first leaves a gap that nothing fits, and takes 448 bytes; longest first takes 384, what is in use together at most.
// CHECK: func.func @without_gaps
// CHECK: call @tprt_abi_private
// CHECK: unrealized_conversion_cast %{{.*}} to memref<384xi8>
func.func @without_gaps(%ctx: !llvm.ptr, %x: memref<32xf32>, %y: memref<48xf32>) attributes {tp.mesh = array<i64: 1>} {
  %a = memref.alloc() : memref<48xf32>
  %b = memref.alloc() : memref<32xf32>
  %c = memref.alloc() : memref<32xf32>
  %d = memref.alloc() : memref<32xf32>
  memref.copy %y, %a : memref<48xf32> to memref<48xf32>
  memref.copy %x, %b : memref<32xf32> to memref<32xf32>
  memref.copy %a, %y : memref<48xf32> to memref<48xf32>
  memref.copy %b, %c : memref<32xf32> to memref<32xf32>
  memref.copy %c, %d : memref<32xf32> to memref<32xf32>
  memref.copy %b, %x : memref<32xf32> to memref<32xf32>
  memref.copy %d, %x : memref<32xf32> to memref<32xf32>
  return
}

// -----

// A result that is another shape of what the program allocates is made in the caller's memory too: nothing is copied, and there is no block.
// CHECK: func.func @returned_view
// CHECK-NOT: tprt_abi_private
// CHECK: memref.copy
// CHECK-NOT: memref.copy
// CHECK: return
func.func @returned_view(%ctx: !llvm.ptr, %x: memref<4x4xf32>) -> memref<16xf32> attributes {tp.mesh = array<i64: 1>} {
  %a = memref.alloc() : memref<4x4xf32>
  memref.copy %x, %a : memref<4x4xf32> to memref<4x4xf32>
  %v = memref.collapse_shape %a [[0, 1]] : memref<4x4xf32> into memref<16xf32>
  return %v : memref<16xf32>
}

// -----

// A loop that yields the buffer of its iteration carries one of its own: initial value in, yielded value in.
// CHECK: func.func @carried
// CHECK: %[[C:.*]] = memref.view
// CHECK: memref.copy %{{.*}}, %[[CARRIED:.*]] : memref<16xf32> to memref<16xf32>
// CHECK: scf.for {{.*}} iter_args(%[[V:.*]] = %[[CARRIED]])
// CHECK: memref.copy %[[V]], %[[FRESH:.*]] :
// CHECK: memref.copy %[[FRESH]], %[[CARRIED]] :
// CHECK: scf.yield %[[CARRIED]]
func.func @carried(%ctx: !llvm.ptr, %x: memref<16xf32>, %n: index) -> memref<16xf32> attributes {tp.mesh = array<i64: 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (memref<16xf32>) {
    %f = memref.alloc() : memref<16xf32>
    memref.copy %v, %f : memref<16xf32> to memref<16xf32>
    scf.yield %f : memref<16xf32>
  }
  return %r : memref<16xf32>
}

// -----

// Strided copies become loops; scalars go through memory.
// CHECK: func.func @strided
// CHECK: linalg.copy
// CHECK: memref.store %{{.*}}, %{{.*}}[] : memref<i1>
func.func @strided(%ctx: !llvm.ptr, %x: memref<4x4xf32>, %y: memref<4x2xf32>, %p: i1) -> i1 attributes {tp.mesh = array<i64: 1>} {
  %s = memref.subview %x[0, 1] [4, 2] [1, 1] : memref<4x4xf32> to memref<4x2xf32, strided<[4, 1], offset: 1>>
  memref.copy %y, %s : memref<4x2xf32> to memref<4x2xf32, strided<[4, 1], offset: 1>>
  return %p : i1
}

// -----

// Placed by size, by life, by both or by start, these buffers leave gaps, and need 1280 bytes. In another order they need what is live at once.
// CHECK: func.func @gaps
// CHECK: unrealized_conversion_cast %{{.*}} to memref<1024xi8>
func.func @gaps(%ctx: !llvm.ptr, %x1: memref<16xf32>, %x4: memref<64xf32>, %x5: memref<80xf32>, %x6: memref<96xf32>) attributes {tp.mesh = array<i64: 1>} {
  %a = memref.alloc() : memref<16xf32>
  memref.copy %x1, %a : memref<16xf32> to memref<16xf32>
  %b = memref.alloc() : memref<80xf32>
  memref.copy %x5, %b : memref<80xf32> to memref<80xf32>
  %c = memref.alloc() : memref<64xf32>
  memref.copy %x4, %c : memref<64xf32> to memref<64xf32>
  %d = memref.alloc() : memref<80xf32>
  memref.copy %x5, %d : memref<80xf32> to memref<80xf32>
  memref.copy %d, %x5 : memref<80xf32> to memref<80xf32>
  %e = memref.alloc() : memref<80xf32>
  memref.copy %x5, %e : memref<80xf32> to memref<80xf32>
  memref.copy %a, %x1 : memref<16xf32> to memref<16xf32>
  memref.copy %c, %x4 : memref<64xf32> to memref<64xf32>
  %f = memref.alloc() : memref<96xf32>
  memref.copy %x6, %f : memref<96xf32> to memref<96xf32>
  memref.copy %e, %x5 : memref<80xf32> to memref<80xf32>
  memref.copy %b, %x5 : memref<80xf32> to memref<80xf32>
  memref.copy %f, %x6 : memref<96xf32> to memref<96xf32>
  return
}
