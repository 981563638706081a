// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-schedule-collectives)'
// RUN: not shard-opt %S/schedule_memory.mlir --pass-pipeline='builtin.module(tp-schedule-collectives{overlap=maybe})' 2>&1 | FileCheck %s --check-prefix=OVERLAP
// RUN: not shard-opt %S/schedule_memory.mlir --pass-pipeline='builtin.module(tp-schedule-collectives{window=-1})' 2>&1 | FileCheck %s --check-prefix=WINDOW
// RUN: not shard-opt %S/schedule_memory.mlir --pass-pipeline='builtin.module(tp-schedule-collectives{in-flight=0})' 2>&1 | FileCheck %s --check-prefix=FLIGHT
// RUN: not shard-opt %S/schedule_memory.mlir --pass-pipeline='builtin.module(tp-schedule-collectives{least=1us})' 2>&1 | FileCheck %s --check-prefix=LEAST
// RUN: not shard-opt %S/schedule_memory.mlir --pass-pipeline='builtin.module(tp-schedule-collectives{memory-limit=much})' 2>&1 | FileCheck %s --check-prefix=LIMIT
// RUN: not shard-opt %S/schedule_memory.mlir --pass-pipeline='builtin.module(tp-schedule-collectives{memory-limit=topology topology=%S/../../Inputs/slow_device.json})' 2>&1 | FileCheck %s --check-prefix=MACHINE
// OVERLAP: overlap 'maybe' is not known; use true or false
// WINDOW: window '-1' is not a whole number from 0 to 1048576
// FLIGHT: in-flight '0' is not a whole number from 1 to 1048576
// LEAST: least '1us' is not a whole number from 0 to 1048576
// LIMIT: invalid memory-limit 'much': expected bytes with a unit (B, KB, MB, GB, TB, KiB, MiB, GiB, TiB), as in 80GB, or topology
// MACHINE: memory-limit=topology: topology '{{.*}}' does not say how much memory a device has; add memory_bytes to it, or give a number of bytes

func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32

// expected-error @+1 {{is not lowered to the runtime yet; run tp-lower-to-runtime first}}
func.func @no_mesh(%ctx: !llvm.ptr, %p: !llvm.ptr) {
  %site = arith.constant 0 : i32
  %r = func.call @tprt_abi_collective(%ctx, %site, %p, %p) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  return
}

// -----

func.func private @tprt_abi_collective(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32

// expected-error @+1 {{tp.mesh is not a valid list of mesh sizes}}
func.func @no_size(%ctx: !llvm.ptr, %p: !llvm.ptr) attributes {tp.mesh = array<i64: 0>} {
  %site = arith.constant 0 : i32
  %r = func.call @tprt_abi_collective(%ctx, %site, %p, %p) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  return
}
