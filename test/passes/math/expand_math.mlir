// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-expand-math)' --verify-diagnostics | FileCheck %s
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-expand-math{target=tpu})' 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: target 'tpu' is not known; use host or cuda

// CHECK-LABEL: func @extrema
// CHECK: llvm.intr.maximum(%{{.*}}, %{{.*}}) : (f32, f32) -> f32
// CHECK: llvm.intr.minimum(%{{.*}}, %{{.*}}) : (f64, f64) -> f64
// CHECK: arith.maximumf %{{.*}}, %{{.*}} : f16
func.func @extrema(%a: f32, %b: f64, %c: f16) -> (f32, f64, f16) {
  %0 = arith.maximumf %a, %a : f32
  %1 = arith.minimumf %b, %b : f64
  %2 = arith.maximumf %c, %c : f16
  return %0, %1, %2 : f32, f64, f16
}

// One function for all uses; what it uses itself is expanded as well. Others, and f64 but for two, stay.
// CHECK-LABEL: func @uses
// CHECK: call @tp.tanh.f32(%{{.*}}) : (f32) -> f32
// CHECK: call @tp.tanh.f32
// CHECK: math.tanh %{{.*}} : f64
// CHECK: math.cos %{{.*}} : f32
// CHECK: call @tp.log1p.f64(%{{.*}}) : (f64) -> f64
// CHECK-COUNT-1: func.func private @tp.tanh.f32(%{{.*}}: f32) -> f32 attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = ["alwaysinline"]}
// CHECK: call @tp.exp.f32
// CHECK: func.func private @tp.log1p.f64
// CHECK: math.log %{{.*}} : f64
// CHECK: func.func private @tp.exp.f32
// CHECK-NOT: math.
// CHECK-NOT: func.func
func.func @uses(%a: f32, %b: f64) -> (f32, f64, f32, f64) {
  %0 = math.tanh %a : f32
  %1 = math.tanh %0 : f32
  %2 = math.tanh %b : f64
  %3 = math.cos %a : f32
  %4 = math.log1p %b : f64
  return %1, %2, %3, %4 : f32, f64, f32, f64
}

// GPUs have all functions, and two functions for sincos.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-expand-math{target=cuda})' | FileCheck %s --check-prefix=CUDA
// CUDA-LABEL: func @pair
// CUDA: call @tp.sin.f64
// CUDA: call @tp.cos.f64
// CUDA-NOT: math.sin
func.func @pair(%a: f64) -> (f64, f64) {
  %s, %c = math.sincos %a : f64
  return %s, %c : f64, f64
}
