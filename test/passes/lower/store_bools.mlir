// Bools in memory are loaded and stored as bytes.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-store-bools)' | FileCheck %s
// RUN: env TP_OPT_LEVEL=3 shard-run %S/Inputs/bools.mlir --mesh 1 --emit llvm -o %t.ll && FileCheck %s --check-prefix=VECTOR < %t.ll

// CHECK-LABEL: llvm.func @flip
// CHECK: %[[BYTE:.*]] = llvm.load %arg0 {alignment = 1 : i64} : !llvm.ptr -> i8
// CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : i8) : i8
// CHECK: %[[SET:.*]] = llvm.icmp "ne" %[[BYTE]], %[[ZERO]] : i8
// CHECK: %[[FLIPPED:.*]] = llvm.xor %[[SET]], %{{.*}} : i1
// CHECK: %[[WIDE:.*]] = llvm.zext %[[FLIPPED]] : i1 to i8
// CHECK: llvm.store %[[WIDE]], %arg1 : i8, !llvm.ptr
// CHECK: llvm.load %arg2 : !llvm.ptr -> i32
// CHECK: llvm.return
llvm.func @flip(%from: !llvm.ptr, %to: !llvm.ptr, %other: !llvm.ptr) -> i32 {
  %true = llvm.mlir.constant(true) : i1
  %0 = llvm.load %from {alignment = 1 : i64} : !llvm.ptr -> i1
  %1 = llvm.xor %0, %true : i1
  llvm.store %1, %to : i1, !llvm.ptr
  %2 = llvm.load %other : !llvm.ptr -> i32
  llvm.return %2 : i32
}

// A loop that selects by bools is vectorized.
// VECTOR: load <{{[0-9]+}} x i8>
