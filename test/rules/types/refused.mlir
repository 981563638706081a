// Types of elements that have no form at run time are refused by name, wherever a tensor of them stands.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-spmd{mesh=2})'

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @main(%x: tensor<4xf8E5M2FNUZ>) -> tensor<4xf32> {
  // expected-error @below {{'arith.extf': operand 0 has elements of type f8E5M2FNUZ; tensors may have f8E4M3FN, f8E5M2, f16, bf16, f32, f64, i1, i8, i16, i32, i64, index, complex<f32>, complex<f64>; convert it to bf16, which has all their numbers}}
  %y = arith.extf %x : tensor<4xf8E5M2FNUZ> to tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @below {{result 0 has elements of type i4}}
  %y = arith.trunci %x : tensor<4xi32> to tensor<4xi4>
  %z = arith.extsi %y : tensor<4xi4> to tensor<4xi32>
  return %z : tensor<4xi32>
}

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
// expected-error @below {{argument 0 (%x) has elements of type complex<f16>}}
func.func @main(%x: tensor<4xcomplex<f16>>) -> tensor<4xcomplex<f16>> {
  return %x : tensor<4xcomplex<f16>>
}

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
// expected-error @below {{argument 0 (%x) is a tensor without static shape}}
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
// expected-error @below {{argument 0 (%x) is tensor<4xf32, "rows">, a tensor with an encoding; use a dense tensor without an encoding}}
func.func @main(%x: tensor<4xf32, "rows">) -> tensor<4xf32, "rows"> {
  return %x : tensor<4xf32, "rows">
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
// expected-error @below {{argument 0 (%x) is tensor<4x4xf32, #sparse_tensor.encoding<}}
func.func @main(%x: tensor<4x4xf32, #csr>) -> tensor<4x4xf32, #csr> {
  return %x : tensor<4x4xf32, #csr>
}

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}
// expected-error @below {{argument 0 (%x) is tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>, of rank 15; tensors may have at most 14 dimensions, so collapse some of them}}
func.func @rank(%x: tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>) { return }
