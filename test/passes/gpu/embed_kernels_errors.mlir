// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-embed-kernels)'
// RUN: not shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-embed-kernels{chip=sm_75})' 2>&1 | FileCheck %s
// RUN: not shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-embed-kernels{chip=gfx90a})' 2>&1 | FileCheck %s

// CHECK: chip '{{sm_75|gfx90a}}' is not known; use sm_80 or a later compute capability

func.func private @other()

// LLVM's code generator would end the process.
// expected-error @below {{a kernel calls 'llvm.pow.f32', which is not available on GPUs; this function does not run on GPUs yet}}
module @tp_kernels {
  llvm.func @tp_kernel0(%a: !llvm.ptr, %b: f32) attributes {nvvm.kernel} {
    %x = llvm.load %a : !llvm.ptr -> f32
    %y = llvm.intr.pow(%x, %b) : (f32, f32) -> f32
    llvm.store %y, %a : f32, !llvm.ptr
    llvm.return
  }
}

// -----

func.func private @other()

// expected-error @below {{a kernel calls 'llvm.experimental.constrained.fptrunc.f32.f64', which is not available on GPUs}}
module @tp_kernels {
  llvm.func @tp_kernel0(%a: !llvm.ptr, %b: f64) attributes {nvvm.kernel} {
    %y = llvm.intr.experimental.constrained.fptrunc %b tonearest ignore : f64 to f32
    llvm.store %y, %a : f32, !llvm.ptr
    llvm.return
  }
}

// -----

func.func private @other()

// expected-error @below {{a kernel calls 'lgammaf', which is not available on GPUs}}
module @tp_kernels {
  llvm.func @lgammaf(f32) -> f32
  llvm.func @tp_kernel0(%a: !llvm.ptr, %b: f32) attributes {nvvm.kernel} {
    %y = llvm.call @lgammaf(%b) : (f32) -> f32
    llvm.store %y, %a : f32, !llvm.ptr
    llvm.return
  }
}

// -----

func.func private @other()

// expected-error @below {{is not in the LLVM dialect}}
module @tp_kernels {
  // expected-error @below {{cannot be converted to LLVM IR}}
  func.func @tp_kernel0() {
    return
  }
}

// -----

// expected-error @below {{'func.func': does not enter the runtime; run tp-assign-buffers and tp-map-kernels first}}
func.func @main(%context: !llvm.ptr) {
  return
}
module @tp_kernels {
  llvm.func @tp_kernel0() attributes {nvvm.kernel} {
    llvm.return
  }
}
