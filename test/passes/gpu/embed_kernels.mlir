// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-embed-kernels)' | FileCheck %s
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-embed-kernels{chip=sm_90})' | FileCheck %s --check-prefix=NEWER

// The kernels are a constant of the program, which gives them to the runtime before the first launch.
// CHECK-NOT: module @tp_kernels
// CHECK: func.func @main
// CHECK: call @tprt_abi_enter
// CHECK-NEXT: %[[PTX:.*]] = llvm.mlir.addressof @tp.ptx
// CHECK-NEXT: call @tprt_abi_kernels(%arg0, %[[PTX]])
// CHECK: call @tprt_abi_launch
// CHECK: llvm.mlir.global internal constant @tp.ptx("{{.*}}.version 7.8\0A.target sm_80{{.*}}.visible .entry tp_kernel0({{.*}}.reqntid 32{{.*}}\00")
// NEWER: .version 7.8\0A.target sm_90
func.func private @tprt_abi_enter(!llvm.ptr, !llvm.ptr) -> i32
func.func private @tprt_abi_launch(!llvm.ptr, i32, i64, i32, !llvm.ptr, i32) -> i32
func.func @main(%context: !llvm.ptr, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %0 = func.call @tprt_abi_enter(%context, %in) : (!llvm.ptr, !llvm.ptr) -> i32
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  %threads = arith.constant 32 : i32
  %1 = func.call @tprt_abi_launch(%context, %zero, %one, %threads, %in, %zero) : (!llvm.ptr, i32, i64, i32, !llvm.ptr, i32) -> i32
  return %1 : i32
}
module @tp_kernels {
  llvm.func @tp_kernel0(%a: !llvm.ptr) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %p = llvm.getelementptr %a[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32
    llvm.store %t, %p : i32, !llvm.ptr
    llvm.return
  }
}

// -----

// A program without kernels.
// CHECK-LABEL: func.func @nothing
// CHECK-NOT: tp.ptx
func.func @nothing(%context: !llvm.ptr) {
  return
}
