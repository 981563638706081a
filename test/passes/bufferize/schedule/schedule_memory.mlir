// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-schedule-collectives{least=0 memory-limit=98304})' | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-schedule-collectives{least=0 memory-limit=98303})' | FileCheck %s --check-prefix=TIGHT
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-schedule-collectives{least=0 memory-limit=topology})' | FileCheck %s

// Two arguments, two results and a buffer of 16 KiB each, whose place r and c share one after the other; beside the collective c needs its own.
// CHECK: call @tprt_abi_start
// CHECK: linalg.matmul
// CHECK: call @tprt_abi_wait
// TIGHT-NOT: call @tprt_abi_start
// TIGHT: call @tprt_abi_collective
// TIGHT: linalg.exp
// TIGHT: linalg.matmul
#sites = array<i64: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>

func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32

func.func @memory(%ctx: !llvm.ptr, %x: memref<64x64xf32>, %y: memref<64x64xf32>) -> (memref<64x64xf32>, memref<64x64xf32>) attributes {tp.mesh = array<i64: 2>, tp.sites = #sites} {
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
  linalg.exp ins(%c : memref<64x64xf32>) outs(%d : memref<64x64xf32>)
  return %d, %e : memref<64x64xf32>, memref<64x64xf32>
}
