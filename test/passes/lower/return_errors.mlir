// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-return-errors)' | FileCheck %s

// Every call that can fail is followed by a branch to one exit; an assertion reports its text and leaves by the same exit.
// CHECK: llvm.mlir.global internal constant @tp.message.0("index out of range\00")
// CHECK: func.func @main(%[[CTX:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[P:.*]]: i1) -> i32
// CHECK: %[[S0:.*]] = call @tprt_abi_enter(%[[CTX]], %{{.*}})
// CHECK: %[[OK0:.*]] = arith.cmpi eq, %[[S0]], %{{.*}} : i32
// CHECK: cf.cond_br %[[OK0]], ^[[NEXT:.*]], ^[[EXIT:.*]](%[[S0]] : i32)
// CHECK: ^[[NEXT]]:
// CHECK: cf.cond_br %[[P]], ^[[GO:.*]], ^[[FAIL:.*]]
// CHECK: ^[[GO]]:
// CHECK: %[[S1:.*]] = call @tprt_abi_collective
// CHECK: cf.cond_br %{{.*}}, ^[[LAST:.*]], ^[[EXIT]](%[[S1]] : i32)
// CHECK: ^[[LAST]]:
// CHECK: call @tprt_abi_device
// CHECK-NEXT: arith.constant 0 : i32
// CHECK-NEXT: return
// CHECK: ^[[FAIL]]:
// CHECK: %[[TEXT:.*]] = llvm.mlir.addressof @tp.message.0
// CHECK: %[[S2:.*]] = call @tprt_abi_fail(%[[CTX]], %{{.*}}, %[[TEXT]])
// CHECK: cf.br ^[[EXIT]](%[[S2]] : i32)
// CHECK: ^[[EXIT]](%[[S:.*]]: i32):
// CHECK-NEXT: return %[[S]] : i32
func.func private @tprt_abi_enter(!llvm.ptr, !llvm.ptr) -> i32
func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
func.func private @tprt_abi_device(!llvm.ptr) -> i64
func.func @main(%ctx: !llvm.ptr, %t: !llvm.ptr, %p: i1) -> i32 {
  %s0 = call @tprt_abi_enter(%ctx, %t) : (!llvm.ptr, !llvm.ptr) -> i32
  cf.assert %p, "index out of range"
  %site = arith.constant 0 : i32
  %s1 = call @tprt_abi_collective(%ctx, %site, %t, %t) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  %d = call @tprt_abi_device(%ctx) : (!llvm.ptr) -> i64
  %ok = arith.constant 0 : i32
  return %ok : i32
}
