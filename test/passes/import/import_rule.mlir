// The sdy.sharding_rule of a custom call becomes its tp.rule.
// RUN: shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-import)' 2>&1 | FileCheck %s
// RUN: shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-import,tp-import-stablehlo,tp-normalize)' 2>&1 | FileCheck %s

// CHECK: import_rule.mlir:[[# @LINE + 40]]:8: remark: 'stablehlo.custom_call': sdy.sharding_rule: permutation={j} stays whole, because the call would need elements of its neighbors

// Only the batch of a matrix is in an operand and in every result.
// CHECK-LABEL: func.func @lapack
// CHECK: call_target_name = "lapack_spotrf_ffi"
// CHECK-SAME: tp.rule = "([i,_,_])->([i,_,_],[i])"}
func.func @lapack(%a: tensor<6x4x4xf32>) -> (tensor<6x4x4xf32>, tensor<6xi32>) {
  %0:2 = "stablehlo.custom_call"(%a) <{call_target_name = "lapack_spotrf_ffi"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i]) {i=6, j=4, k=4, l=4, m=4}, custom>} : (tensor<6x4x4xf32>) -> (tensor<6x4x4xf32>, tensor<6xi32>)
  return %0#0, %0#1 : tensor<6x4x4xf32>, tensor<6xi32>
}

// CHECK-LABEL: func.func @matmul
// CHECK: tp.rule = "([i,j],[j,_])->([i,_]) reduction={j}"}
func.func @matmul(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = "stablehlo.custom_call"(%a, %b) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [j, k])->([i, k]) {i=2, j=3, k=4} reduction={j} need_replication={k} blocked_propagation={i}, custom>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// A whole factor that shares a dimension is named, so that the sizes of both are known.
// CHECK-LABEL: func.func @joined
// CHECK: tp.rule = "([(i j),_])->([i,j,_])"}
// CHECK: tp.rule = "([(i j),_])->([i,j,_]) fixed={j}"}
func.func @joined(%a: tensor<6x3xf32>) -> tensor<2x3x3xf32> {
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([ij, k])->([i, j, l]) {i=2, j=3, k=3, l=3}, custom>} : (tensor<6x3xf32>) -> tensor<2x3x3xf32>
  %1 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([ij, k])->([i, j, l]) {i=2, j=3, k=3, l=3} need_replication={j}, custom>} : (tensor<6x3xf32>) -> tensor<2x3x3xf32>
  return %0 : tensor<2x3x3xf32>
}

// Joined factors that are both whole need no names.
// CHECK-LABEL: func.func @joined_whole
// CHECK: tp.rule = "([_])->([_])"}
func.func @joined_whole(%a: tensor<6xf32>) -> tensor<6xf32> {
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([ij])->([ij]) {i=2, j=3} need_replication={i, j}, custom>} : (tensor<6xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// A size that is not that of the dimension belongs to an op that shifts or cuts it.
// CHECK-LABEL: func.func @shifted
// CHECK: tp.rule = "([i,_])->([i,_])"}
func.func @shifted(%a: tensor<8x4xf32>) -> tensor<8x3xf32> {
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=3} permutation={j}, custom>} : (tensor<8x4xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// Factors after z; no operands; no results; numbers.
// CHECK-LABEL: func.func @forms
// CHECK: tp.rule = "([i,_,_,_,_,_,_,_,_,_],[_,_,_,_,_,_,_,z_2,_])->([i,z_2])"}
// CHECK: tp.rule = "()->([_])"}
// CHECK: tp.rule = "([i],[])->([i])"}
// CHECK: tp.rule = "([_])->()"}
func.func @forms(%a: tensor<2xf32>, %n: tensor<f32>, %b: tensor<4x1x1x1x1x1x1x1x1x1xf32>, %c: tensor<1x1x1x1x1x1x1x2x1xf32>) -> (tensor<3xf32>, tensor<2xf32>) {
  %0 = "stablehlo.custom_call"(%b, %c) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k, l, m, n, o, p, q, r], [s, t, u, v, w, x, y, z_2, z_1])->([i, z_2]) {i=4, j=1, k=1, l=1, m=1, n=1, o=1, p=1, q=1, r=1, s=1, t=1, u=1, v=1, w=1, x=1, y=1, z=1, z_1=1, z_2=2, z_3=1}, custom>} : (tensor<4x1x1x1x1x1x1x1x1x1xf32>, tensor<1x1x1x1x1x1x1x2x1xf32>) -> tensor<4x2xf32>
  %1 = "stablehlo.custom_call"() <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<()->([i]) {i=3}, custom>} : () -> tensor<3xf32>
  %2 = "stablehlo.custom_call"(%a, %n) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [])->([i]) {i=2}, custom>} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  "stablehlo.custom_call"(%a) <{call_target_name = "mine", has_side_effect = true}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->() {i=2} need_replication={i}, custom>} : (tensor<2xf32>) -> ()
  return %1, %2 : tensor<3xf32>, tensor<2xf32>
}

// The rule of another op follows from the op.
// CHECK-LABEL: func.func @other
// CHECK-NOT: rule
// CHECK: return
func.func @other(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.negate"(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=2}>} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// A dimension of size 0 is not split; large sizes are no size of a dimension.
// CHECK-LABEL: func.func @sizes
// CHECK: tp.rule = "([_,j])->([_,j])"}
// CHECK: tp.rule = "([_])->([_])"}
func.func @sizes(%a: tensor<0x4xf32>, %b: tensor<6xf32>) -> (tensor<0x4xf32>, tensor<6xf32>) {
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=0, j=4}, custom>} : (tensor<0x4xf32>) -> tensor<0x4xf32>
  %1 = "stablehlo.custom_call"(%b) <{call_target_name = "mine"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([ijklm])->([ijklm]) {i=999999999, j=999999999, k=999999999, l=999999999, m=999999999}, custom>} : (tensor<6xf32>) -> tensor<6xf32>
  return %0, %1 : tensor<0x4xf32>, tensor<6xf32>
}
