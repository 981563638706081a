// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-assign-buffers)'
// RUN: not shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-assign-buffers{target=tpu})' 2>&1 | FileCheck %s

// CHECK: target 'tpu' is not known; use host or cuda

func.func @dynamic(%ctx: !llvm.ptr, %n: index) attributes {tp.mesh = array<i64: 1>} {
  // expected-error @below {{'memref.alloc': allocates a buffer without a static size; compiled programs have static memory only}}
  %a = memref.alloc(%n) : memref<?xf32>
  return
}

// -----

// expected-error @below {{'func.func': has unstructured control flow (cf branches); use scf.if, scf.for and scf.while instead}}
func.func @branches(%ctx: !llvm.ptr, %p: i1) attributes {tp.mesh = array<i64: 1>} {
  cf.cond_br %p, ^a, ^b
^a:
  return
^b:
  return
}

// -----

// expected-error @below {{is not lowered to the runtime yet; run tp-lower-to-runtime first}}
func.func @too_early(%x: memref<4xf32>) {
  return
}

// -----

func.func @carried_dynamic(%ctx: !llvm.ptr, %x: memref<?xf32>, %y: memref<?xf32>, %n: index) attributes {tp.mesh = array<i64: 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{'scf.for': loop-carried value 0 has a buffer of dynamic shape}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (memref<?xf32>) {
    scf.yield %y : memref<?xf32>
  }
  return
}

// -----

// expected-error @below {{'func.func': attribute tp.sites has 33 words, but a site has 32; only tp-lower-to-runtime writes it}}
func.func @half_a_site(%ctx: !llvm.ptr) attributes {tp.mesh = array<i64: 1>, tp.sites = array<i64: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1>} {
  return
}
