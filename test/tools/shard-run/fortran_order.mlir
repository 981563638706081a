// An npy file whose columns come first is the same array, as input and as expected output.
// RUN: %python %S/../Inputs/fortran_order.py %t.rows.npy %t.columns.npy
// RUN: shard-run %s --mesh x=2 --input @%t.columns.npy --expected-output @%t.rows.npy | FileCheck %s
// RUN: shard-run %s --mesh x=2 --input @%t.rows.npy --expected-output @%t.columns.npy | FileCheck %s
// CHECK: against expected ok: error 0
// CHECK: {{^}}verified
func.func @main(%x: tensor<2x3x4xcomplex<f32>> {tp.sharding = [[], ["x"], []]}) -> tensor<2x3x4xcomplex<f32>> {
  return %x : tensor<2x3x4xcomplex<f32>>
}
