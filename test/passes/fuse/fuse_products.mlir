// Products in front of a reduce_scatter that become part of what is fused, to be computed in slices; and those that do not.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-fuse-collectives{topology=%S/../Inputs/kernels.json})' 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-fuse-collectives{topology=%S/../Inputs/kernels.json fuse=always})' 2>/dev/null | FileCheck %s --check-prefix=ALWAYS
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-fuse-collectives{topology=%S/../Inputs/kernels.json},tp-to-cuda)' 2>/dev/null | FileCheck %s --check-prefix=CUDA

// CUDA-LABEL: llvm.func @sliced
// CUDA-NOT: tprt_abi_contract
// CUDA: llvm.call @tprt_abi_fused
// CUDA-NOT: llvm.call @tprt_abi_collective
// CUDA-LABEL: llvm.func @slower

// Sending takes 252 us, which all but the last slice hide.
// REMARK: 'shard.reduce_scatter': is fused with its matmul, residual, 8192 rows of 1024: matmul slices and one kernel (slices) take {{[0-9.]+}} us, separate ones {{[0-9.]+}} us
// CHECK-LABEL: func.func @sliced
// CHECK-SAME: (%[[X:.*]]: tensor<8192x2048xf32>, %[[W:.*]]: tensor<2048x1024xf32>, %[[R:.*]]: tensor<2048x1024xf32>)
// CHECK-NOT: linalg.matmul
// CHECK: call @tp.fused.0(%[[X]], %[[W]], %[[R]]) : (tensor<8192x2048xf32>, tensor<2048x1024xf32>, tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
// CHECK: func.func private @tp.fused.0(%[[A:.*]]: tensor<8192x2048xf32>, %[[B:.*]]: tensor<2048x1024xf32>, %[[C:.*]]: tensor<2048x1024xf32>)
// CHECK-SAME: tp.fused = {algorithm = "slices", axes = ["tp"], dim = 0 : i64, kind = "multiply_rows", layout = "scattered", norm = "none", operands = ["a", "b", "residual"], results = ["out"], shape = array<i64: 8192, 1024>, transpose_b = false}
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[B]] :
// CHECK: %[[S:.*]] = shard.reduce_scatter %[[Y]] on @mesh grid_axes = [1] scatter_axis = 0
// CHECK: linalg.generic {{.*}} ins(%[[S]], %[[C]] :
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @sliced(%x: tensor<8192x2048xf32>, %w: tensor<2048x1024xf32>, %residual: tensor<2048x1024xf32>) -> tensor<2048x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8192x1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8192x2048xf32>, tensor<2048x1024xf32>) outs(%zeros : tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  %a = shard.reduce_scatter %y on @mesh grid_axes = [1] scatter_axis = 0 : tensor<8192x1024xf32> -> tensor<2048x1024xf32>
  %r = arith.addf %a, %residual : tensor<2048x1024xf32>
  return %r : tensor<2048x1024xf32>
}
}

// -----

// Four small products take longer than what they hide.
// REMARK: 'shard.reduce_scatter': its matmul is not computed in slices: in slices, with its rows, it takes {{[0-9.]+}} us, and {{[0-9.]+}} us as one
// REMARK: 'shard.reduce_scatter': is fused with residual, 4096 rows of 64: one kernel (slices)
// CHECK-LABEL: func.func @slower
// CHECK: linalg.matmul
// CHECK: call @tp.fused.0
// ALWAYS-LABEL: func.func @slower
// ALWAYS-NOT: linalg.matmul
// ALWAYS: kind = "multiply_rows"
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @slower(%x: tensor<4096x128xf32>, %w: tensor<128x64xf32>, %residual: tensor<1024x64xf32>) -> tensor<1024x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4096x64xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4096x128xf32>, tensor<128x64xf32>) outs(%zeros : tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %a = shard.reduce_scatter %y on @mesh grid_axes = [1] scatter_axis = 0 : tensor<4096x64xf32> -> tensor<1024x64xf32>
  %r = arith.addf %a, %residual : tensor<1024x64xf32>
  return %r : tensor<1024x64xf32>
}
}

// -----

// What the model says of so few rows was not so when it was measured.
// REMARK: 'shard.reduce_scatter': its matmul is not computed in slices, whose time is not known for fewer than 4096 rows, or fewer than 512 rows per device
// REMARK: 'shard.reduce_scatter': is fused with residual, 4092 rows of 1024: one kernel (slices)
// CHECK-LABEL: func.func @few
// CHECK: linalg.matmul
// CHECK: call @tp.fused.0
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @few(%x: tensor<4092x2048xf32>, %w: tensor<2048x1024xf32>, %residual: tensor<1023x1024xf32>) -> tensor<1023x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4092x1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4092x1024xf32>) -> tensor<4092x1024xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4092x2048xf32>, tensor<2048x1024xf32>) outs(%zeros : tensor<4092x1024xf32>) -> tensor<4092x1024xf32>
  %a = shard.reduce_scatter %y on @mesh grid_axes = [1] scatter_axis = 0 : tensor<4092x1024xf32> -> tensor<1023x1024xf32>
  %r = arith.addf %a, %residual : tensor<1023x1024xf32>
  return %r : tensor<1023x1024xf32>
}
}

// -----

// Nor where sending takes next to nothing.
// REMARK: 'shard.reduce_scatter': its matmul is not computed in slices, whose time is not known for a communication time below 1/20 or above 2 times the matmul time
// REMARK: 'shard.reduce_scatter': is fused with residual, 8192 rows of 1024: one kernel (slices)
// CHECK-LABEL: func.func @long
// CHECK: linalg.matmul
// CHECK: call @tp.fused.0
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @long(%x: tensor<8192x32768xf32>, %w: tensor<32768x1024xf32>, %residual: tensor<2048x1024xf32>) -> tensor<2048x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8192x1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8192x32768xf32>, tensor<32768x1024xf32>) outs(%zeros : tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  %a = shard.reduce_scatter %y on @mesh grid_axes = [1] scatter_axis = 0 : tensor<8192x1024xf32> -> tensor<2048x1024xf32>
  %r = arith.addf %a, %residual : tensor<2048x1024xf32>
  return %r : tensor<2048x1024xf32>
}
}

// -----

// The product has another reader.
// REMARK: 'shard.reduce_scatter': its matmul is not computed in slices: its result has other users
// REMARK: 'shard.reduce_scatter': is fused with residual, 8192 rows of 1024: one kernel (slices)
// CHECK-LABEL: func.func @read
// CHECK: linalg.matmul
// CHECK: call @tp.fused.0
// ALWAYS-LABEL: func.func @read
// ALWAYS: linalg.matmul
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @read(%x: tensor<8192x2048xf32>, %w: tensor<2048x1024xf32>, %residual: tensor<2048x1024xf32>) -> (tensor<2048x1024xf32>, tensor<8192x1024xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8192x1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8192x2048xf32>, tensor<2048x1024xf32>) outs(%zeros : tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  %a = shard.reduce_scatter %y on @mesh grid_axes = [1] scatter_axis = 0 : tensor<8192x1024xf32> -> tensor<2048x1024xf32>
  %r = arith.addf %a, %residual : tensor<2048x1024xf32>
  return %r, %y : tensor<2048x1024xf32>, tensor<8192x1024xf32>
}
}

// -----

// It is added to what another product made.
// REMARK: 'shard.reduce_scatter': its matmul is not computed in slices: its init is not zero
// REMARK: 'shard.reduce_scatter': is fused with residual, 8192 rows of 1024: one kernel (slices)
// CHECK-LABEL: func.func @added
// CHECK: linalg.matmul
// CHECK: call @tp.fused.0
// ALWAYS-LABEL: func.func @added
// ALWAYS: linalg.matmul
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @added(%x: tensor<8192x2048xf32>, %w: tensor<2048x1024xf32>, %residual: tensor<2048x1024xf32>, %other: tensor<8192x1024xf32>) -> tensor<2048x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8192x1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8192x2048xf32>, tensor<2048x1024xf32>) outs(%other : tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  %a = shard.reduce_scatter %y on @mesh grid_axes = [1] scatter_axis = 0 : tensor<8192x1024xf32> -> tensor<2048x1024xf32>
  %r = arith.addf %a, %residual : tensor<2048x1024xf32>
  return %r : tensor<2048x1024xf32>
}
}

// -----

// Nothing is multiplied: no rows.
// REMARK: 'shard.reduce_scatter': its matmul is not computed in slices: it has no elements, or its contracted dimension has size 0
// REMARK: 'shard.reduce_scatter': is fused with residual, 0 rows of 1024: one kernel (slices)
// CHECK-LABEL: func.func @empty
// CHECK: linalg.matmul
// CHECK: call @tp.fused.0
// ALWAYS-LABEL: func.func @empty
// ALWAYS: linalg.matmul
module attributes {tp.phase = "local"} {
shard.grid @mesh(shape = 4x4) {tp.axes = ["dp", "tp"]}
func.func @empty(%x: tensor<0x2048xf32>, %w: tensor<2048x1024xf32>, %residual: tensor<0x1024xf32>) -> tensor<0x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<0x1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<0x1024xf32>) -> tensor<0x1024xf32>
  %y = linalg.matmul ins(%x, %w : tensor<0x2048xf32>, tensor<2048x1024xf32>) outs(%zeros : tensor<0x1024xf32>) -> tensor<0x1024xf32>
  %a = shard.reduce_scatter %y on @mesh grid_axes = [1] scatter_axis = 0 : tensor<0x1024xf32> -> tensor<0x1024xf32>
  %r = arith.addf %a, %residual : tensor<0x1024xf32>
  return %r : tensor<0x1024xf32>
}
}
