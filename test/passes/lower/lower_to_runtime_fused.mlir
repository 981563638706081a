// Functions of tp-fuse-collectives, kept by tp-inline-calls, become calls of the runtime: what they do is in a site, not in their bodies.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-inline-calls{fused=keep},tp-lower-to-runtime)' | FileCheck %s
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-inline-calls,tp-lower-to-runtime)' | FileCheck %s --check-prefix=INLINED
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-to-cuda)' | FileCheck %s --check-prefix=CUDA

// INLINED-NOT: tprt_abi_fused
// INLINED: tprt_abi_collective
// In the end the pointers lie in one array of the stack: inputs, and behind them outputs.
// CUDA-LABEL: llvm.func @main
// CUDA: %[[ARRAY:.*]] = llvm.alloca %{{.*}} x !llvm.ptr
// CUDA: %[[SLOT:.*]] = llvm.getelementptr %[[ARRAY]][4] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CUDA: llvm.store %{{.*}}, %[[SLOT]]
// CUDA: %[[OUTPUTS:.*]] = llvm.getelementptr %[[ARRAY]][3] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CUDA: llvm.call @tprt_abi_fused(%{{.*}}, %{{.*}}, %[[ARRAY]], %[[OUTPUTS]]) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
// CUDA-NOT: tprt_abi_collective
// CUDA-NOT: tprt_abi_fused.

// The site: kind 8, f32, sum, axis 1 of 2; 32 x 16, scattered along 0. Its extra data: 3 inputs (tensor, residual, gamma) and 2 outputs (residual, tensor);
// gathered, RMS norm, 1e-5, slices; no matmul, no quantization.
// CHECK: func.func private @tprt_abi_fused.3.2(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
// CHECK: func.func @main(%[[CTX:.*]]: !llvm.ptr, %[[D:.*]]: tensor<32x16xf32> {{.*}}, %[[RES:.*]]: tensor<8x16xf32> {{.*}}, %[[G:.*]]: tensor<16xf32>
// CHECK-SAME: tp.extra = array<i64: 3, 2, 1, 4, 6, 0, 0, 0, 0, 0, 0, 0, 24, 23, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 925353388, 3, 0, 0, 0, 0, 0, 0>
// CHECK-SAME: tp.sites = array<i64: 8, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 2, 32, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32>
// CHECK: %[[R:.*]] = memref.alloc() : memref<8x16xf32>
// CHECK: memref.extract_aligned_pointer_as_index %[[R]]
// CHECK: %[[RP:.*]] = llvm.inttoptr
// CHECK: %[[Y:.*]] = memref.alloc() : memref<32x16xf32>
// CHECK: memref.extract_aligned_pointer_as_index %[[Y]]
// CHECK: %[[YP:.*]] = llvm.inttoptr
// CHECK: bufferization.to_buffer %[[D]] read_only
// CHECK: %[[DP:.*]] = llvm.inttoptr
// CHECK: bufferization.to_buffer %[[RES]] read_only
// CHECK: %[[RESP:.*]] = llvm.inttoptr
// CHECK: bufferization.to_buffer %[[G]] read_only
// CHECK: %[[GP:.*]] = llvm.inttoptr
// CHECK: %[[SITE:.*]] = arith.constant 0 : i32
// CHECK: call @tprt_abi_fused.3.2(%[[CTX]], %[[SITE]], %[[DP]], %[[RESP]], %[[GP]], %[[RP]], %[[YP]])
// CHECK: %[[RT:.*]] = bufferization.to_tensor %[[R]] restrict writable
// CHECK: %[[YT:.*]] = bufferization.to_tensor %[[Y]] restrict writable
// CHECK: return %[[RT]], %[[YT]]
// CHECK-NOT: tp.fused
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%d: tensor<32x16xf32>, %residual: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> (tensor<8x16xf32>, tensor<32x16xf32>) {
  %c:2 = call @tp.fused.0(%d, %residual, %gamma) : (tensor<32x16xf32>, tensor<8x16xf32>, tensor<16xf32>) -> (tensor<8x16xf32>, tensor<32x16xf32>)
  return %c#0, %c#1 : tensor<8x16xf32>, tensor<32x16xf32>
}
func.func private @tp.fused.0(%d: tensor<32x16xf32>, %residual: tensor<8x16xf32>, %gamma: tensor<16xf32>) -> (tensor<8x16xf32>, tensor<32x16xf32>)
    attributes {tp.fused = {kind = "reduce_rows", algorithm = "slices", axes = ["tp"], layout = "gathered", dim = 0 : i64, norm = "rms_norm",
                            epsilon = 1.0e-5 : f32, operands = ["input", "residual", "gamma"], results = ["residual_out", "out"]}} {
  %a = shard.reduce_scatter %d on @mesh grid_axes = [1] scatter_axis = 0 : tensor<32x16xf32> -> tensor<8x16xf32>
  %r = arith.addf %a, %residual : tensor<8x16xf32>
  %all = shard.all_gather %r on @mesh grid_axes = [1] gather_axis = 0 : tensor<8x16xf32> -> tensor<32x16xf32>
  return %r, %all : tensor<8x16xf32>, tensor<32x16xf32>
}
}

// -----

// A loop whose condition comes from what is fused is the same on all devices: the sum is, and what it is added to.
// CHECK-LABEL: func.func @loop
// CHECK: scf.while
// CHECK: call @tprt_abi_fused.2.1(
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @loop(%d: tensor<8x16xf32> {tp.sharding = {mesh = @mesh, dims = [[], []], partial = {tp = "sum"}}}, %r: tensor<8x16xf32> {tp.sharding = [[], []]}) -> tensor<8x16xf32> {
  %c0 = arith.constant 0 : index
  %limit = arith.constant 100.0 : f32
  %0 = scf.while (%v = %r) : (tensor<8x16xf32>) -> tensor<8x16xf32> {
    %m = tensor.extract %v[%c0, %c0] : tensor<8x16xf32>
    %more = arith.cmpf ult, %m, %limit : f32
    scf.condition(%more) %v : tensor<8x16xf32>
  } do {
  ^bb0(%v: tensor<8x16xf32>):
    %c = func.call @tp.fused.0(%d, %v) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    scf.yield %c : tensor<8x16xf32>
  }
  return %0 : tensor<8x16xf32>
}
func.func private @tp.fused.0(%d: tensor<8x16xf32>, %residual: tensor<8x16xf32>) -> tensor<8x16xf32>
    attributes {tp.fused = {kind = "reduce_rows", algorithm = "push", axes = ["tp"], layout = "whole", dim = 0 : i64, norm = "none",
                            operands = ["input", "residual"], results = ["out"]}} {
  %a = shard.all_reduce %d on @mesh grid_axes = [0] : tensor<8x16xf32> -> tensor<8x16xf32>
  %r = arith.addf %a, %residual : tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}
}

// -----

// The rows are a matmul of inputs A and B (2 and 3): k is 4, B is transposed.
// CHECK: func.func private @tprt_abi_fused.3.1(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
// CHECK: func.func @product(%[[CTX:.*]]: !llvm.ptr, %[[A:.*]]: tensor<2x8x4xf32> {{.*}}, %[[B:.*]]: tensor<16x4xf32> {{.*}}, %[[RES:.*]]: tensor<2x2x16xf32>
// CHECK-SAME: tp.extra = array<i64: 3, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 3, 4, 1, 0, 0, 0, 0>
// CHECK-SAME: tp.sites = array<i64: 8, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 3, 2, 8, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 32>
// CHECK: bufferization.to_buffer %[[A]] read_only
// CHECK: %[[AP:.*]] = llvm.inttoptr
// CHECK: bufferization.to_buffer %[[B]] read_only
// CHECK: %[[BP:.*]] = llvm.inttoptr
// CHECK: bufferization.to_buffer %[[RES]] read_only
// CHECK: %[[RP:.*]] = llvm.inttoptr
// CHECK: call @tprt_abi_fused.3.1(%[[CTX]], %{{.*}}, %[[AP]], %[[BP]], %[[RP]], %{{.*}})
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @product(%a: tensor<2x8x4xf32>, %b: tensor<16x4xf32>, %r: tensor<2x2x16xf32>) -> tensor<2x2x16xf32> {
  %c = call @tp.fused.0(%a, %b, %r) : (tensor<2x8x4xf32>, tensor<16x4xf32>, tensor<2x2x16xf32>) -> tensor<2x2x16xf32>
  return %c : tensor<2x2x16xf32>
}
func.func private @tp.fused.0(%a: tensor<2x8x4xf32>, %b: tensor<16x4xf32>, %r: tensor<2x2x16xf32>) -> tensor<2x2x16xf32>
    attributes {tp.fused = {kind = "multiply_rows", algorithm = "slices", axes = ["tp"], layout = "scattered", dim = 1 : i64, norm = "none",
                            operands = ["a", "b", "residual"], results = ["out"], shape = array<i64: 2, 8, 16>, transpose_b = true}} {
  %e = tensor.empty() : tensor<2x8x16xf32>
  %s = shard.reduce_scatter %e on @mesh grid_axes = [0] scatter_axis = 1 : tensor<2x8x16xf32> -> tensor<2x2x16xf32>
  return %s : tensor<2x2x16xf32>
}
}

// -----

// The rows of a matmul become f8: outputs 12 and 13; per token, at least 1.0.
// CHECK: func.func private @tprt_abi_fused.3.2(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
// CHECK: func.func @quantized_product(%[[CTX:.*]]: !llvm.ptr, %[[A:.*]]: tensor<8x4xf32> {{.*}}, %[[B:.*]]: tensor<16x4xf32> {{.*}}, %[[RES:.*]]: tensor<2x16xf32>
// CHECK-SAME: tp.extra = array<i64: 3, 2, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 25, 26, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 3, 4, 1, 2, 1065353216, 0, 1>
// CHECK-SAME: tp.sites = array<i64: 8, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 8, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32>
// CHECK: bufferization.to_buffer %[[A]] read_only
// CHECK: %[[AP:.*]] = llvm.inttoptr
// CHECK: bufferization.to_buffer %[[B]] read_only
// CHECK: %[[BP:.*]] = llvm.inttoptr
// CHECK: bufferization.to_buffer %[[RES]] read_only
// CHECK: %[[RP:.*]] = llvm.inttoptr
// CHECK: call @tprt_abi_fused.3.2(%[[CTX]], %{{.*}}, %[[AP]], %[[BP]], %[[RP]], %{{.*}}, %{{.*}})
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @quantized_product(%a: tensor<8x4xf32>, %b: tensor<16x4xf32>, %r: tensor<2x16xf32>) -> (tensor<2x16xf8E4M3FN>, tensor<2xf32>) {
  %c:2 = call @tp.fused.0(%a, %b, %r) : (tensor<8x4xf32>, tensor<16x4xf32>, tensor<2x16xf32>) -> (tensor<2x16xf8E4M3FN>, tensor<2xf32>)
  return %c#0, %c#1 : tensor<2x16xf8E4M3FN>, tensor<2xf32>
}
func.func private @tp.fused.0(%a: tensor<8x4xf32>, %b: tensor<16x4xf32>, %r: tensor<2x16xf32>) -> (tensor<2x16xf8E4M3FN>, tensor<2xf32>)
    attributes {tp.fused = {kind = "multiply_quantize_rows", algorithm = "slices", axes = ["tp"], layout = "scattered", dim = 0 : i64, norm = "none",
                            quantize = "per_token", least_largest = 1.0 : f32, least_scale = 0.0 : f32,
                            operands = ["a", "b", "residual"], results = ["quantized", "scale"], shape = array<i64: 8, 16>, transpose_b = true}} {
  %q = tensor.empty() : tensor<2x16xf8E4M3FN>
  %s = tensor.empty() : tensor<2xf32>
  return %q, %s : tensor<2x16xf8E4M3FN>, tensor<2xf32>
}
}

// -----

// An all-gather of rows and two matmuls: kind 9; 16 and 8 columns, the second B is transposed.
// CHECK: func.func @gathered(%[[CTX:.*]]: !llvm.ptr, %[[X:.*]]: tensor<2x4xf32> {{.*}}, %[[B0:.*]]: tensor<4x16xf32> {{.*}}, %[[B1:.*]]: tensor<8x4xf32>
// CHECK-SAME: tp.extra = array<i64: 3, 2, 1, 3, 3, 0, 0, 0, 0, 0, 0, 0, 23, 23, 0, 0, 0, 0, 0, 0, 0, 0, 2, 16, 8, 0, 0, 0, 1, 0, 0>
// CHECK-SAME: tp.sites = array<i64: 9, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 31>
// CHECK: bufferization.to_buffer %[[X]] read_only
// CHECK: %[[XP:.*]] = llvm.inttoptr
// CHECK: bufferization.to_buffer %[[B0]] read_only
// CHECK: %[[P0:.*]] = llvm.inttoptr
// CHECK: bufferization.to_buffer %[[B1]] read_only
// CHECK: %[[P1:.*]] = llvm.inttoptr
// CHECK: call @tprt_abi_fused.3.2(%[[CTX]], %{{.*}}, %[[XP]], %[[P0]], %[[P1]], %{{.*}}, %{{.*}})
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @gathered(%x: tensor<2x4xf32>, %b: tensor<4x16xf32>, %c: tensor<8x4xf32>) -> (tensor<8x16xf32>, tensor<8x8xf32>) {
  %r:2 = call @tp.fused.0(%x, %b, %c) : (tensor<2x4xf32>, tensor<4x16xf32>, tensor<8x4xf32>) -> (tensor<8x16xf32>, tensor<8x8xf32>)
  return %r#0, %r#1 : tensor<8x16xf32>, tensor<8x8xf32>
}
func.func private @tp.fused.0(%x: tensor<2x4xf32>, %b: tensor<4x16xf32>, %c: tensor<8x4xf32>) -> (tensor<8x16xf32>, tensor<8x8xf32>)
    attributes {tp.fused = {kind = "gather_multiply", axes = ["tp"], dim = 0 : i64, operands = ["input", "b0", "b1"], results = ["out0", "out1"], transposed = [false, true]}} {
  %e = tensor.empty() : tensor<8x16xf32>
  %f = tensor.empty() : tensor<8x8xf32>
  return %e, %f : tensor<8x16xf32>, tensor<8x8xf32>
}
}

// -----

// A softmax: kind 10, the shape of the logits; a target of i32, all results, of the target the logarithm of its probability, as this device has it.
// CHECK: func.func private @tprt_abi_fused.2.3(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
// CHECK: func.func @softmax(%[[CTX:.*]]: !llvm.ptr, %[[X:.*]]: tensor<8x16xbf16> {{.*}}, %[[T:.*]]: tensor<8xi32>
// CHECK-SAME: tp.extra = array<i64: 2, 3, 1, 9, 0, 0, 0, 0, 0, 0, 0, 0, 28, 29, 30, 0, 0, 0, 0, 0, 0, 0, [[I32:[0-9]+]], 2, 1, 1>
// CHECK-SAME: tp.sites = array<i64: 10, {{[0-9]+}}, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 8, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 26>
// CHECK: bufferization.to_buffer %[[X]] read_only
// CHECK: %[[XP:.*]] = llvm.inttoptr
// CHECK: bufferization.to_buffer %[[T]] read_only
// CHECK: %[[TP:.*]] = llvm.inttoptr
// CHECK: call @tprt_abi_fused.2.3(%[[CTX]], %{{.*}}, %[[XP]], %[[TP]], %{{.*}}, %{{.*}}, %{{.*}})
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @softmax(%x: tensor<8x16xbf16>, %t: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c:3 = call @tp.fused.0(%x, %t) : (tensor<8x16xbf16>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %c#0, %c#1, %c#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
func.func private @tp.fused.0(%x: tensor<8x16xbf16>, %t: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    attributes {tp.fused = {kind = "softmax_rows", axes = ["tp"], operands = ["logits", "target"], results = ["largest", "sum", "picked"],
                            infinite = "zero", pick = "log_probability", picks_of = "device"}} {
  %e = tensor.empty() : tensor<8xf32>
  return %e, %e, %e : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
}
