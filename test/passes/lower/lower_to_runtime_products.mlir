// Matmuls with epilogues that have the same rows are one call, which runs them side by side on a GPU.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-lower-to-runtime)' | FileCheck %s

// Kind 15. Inputs: a, b, bias; a, b; a, b. Of these the first has a bias (bits 1) and relu (1), the second one gelu (2). The third matrix is
// transposed. The call of other rows, and the one whose bias is made behind the first call, stay alone: kind 11.
// CHECK-LABEL: func.func @projections(
// CHECK-SAME: tp.extra = array<i64: 7, 3, 2, 3, 5, 2, 3, 2, 3, 0, 0, 0, 23, 23, 23, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 1, 1, 2, 0, 0, 3, 3, 3, 0, 4, 8, 0, 16, 16, 0, 1, 1, 8, 1, 16, 0,
// CHECK-SAME: tp.sites = array<i64: 15, 1, 0, {{.*}} 11, 1, 0, {{.*}} 11, 1, 0,
// CHECK: call @tprt_abi_fused.7.3(
// CHECK: arith.addf
// CHECK: call @tprt_abi_fused.2.1(
// CHECK: call @tprt_abi_fused.3.1(
// CHECK-NOT: call
module {
func.func @projections(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %wq: tensor<8x16xf32>, %bq: tensor<16xf32>, %wk: tensor<8x6xf32>, %wv: tensor<6x8xf32>, %bv: tensor<6xf32>)
    -> (tensor<4x16xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
  %q = call @q(%x, %wq, %bq) : (tensor<4x8xf32>, tensor<8x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %e = tensor.empty() : tensor<6xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]} ins(%bv : tensor<6xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %a : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  %k = call @k(%x, %wk) : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %other = call @k(%y, %wk) : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %late = call @biased(%x, %wk, %b) : (tensor<4x8xf32>, tensor<8x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %v = call @v(%x, %wv) : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
  return %q, %k, %v, %other, %late : tensor<4x16xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>
}
func.func private @q(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %c: tensor<16xf32>) -> tensor<4x16xf32>
    attributes {tp.fused = {kind = "multiply", operands = ["a", "b", "bias"], function = "relu", shape = array<i64: 4, 16>, transpose_b = false}} {
  %e = tensor.empty() : tensor<4x16xf32>
  return %e : tensor<4x16xf32>
}
func.func private @k(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>) -> tensor<4x6xf32>
    attributes {tp.fused = {kind = "multiply", operands = ["a", "b"], function = "gelu", shape = array<i64: 4, 6>, transpose_b = false}} {
  %e = tensor.empty() : tensor<4x6xf32>
  return %e : tensor<4x6xf32>
}
func.func private @v(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) -> tensor<4x6xf32>
    attributes {tp.fused = {kind = "multiply", operands = ["a", "b"], function = "none", shape = array<i64: 4, 6>, transpose_b = true}} {
  %e = tensor.empty() : tensor<4x6xf32>
  return %e : tensor<4x6xf32>
}
func.func private @biased(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %c: tensor<6xf32>) -> tensor<4x6xf32>
    attributes {tp.fused = {kind = "multiply", operands = ["a", "b", "bias"], function = "none", shape = array<i64: 4, 6>, transpose_b = false}} {
  %e = tensor.empty() : tensor<4x6xf32>
  return %e : tensor<4x6xf32>
}
}
