// The time of a contraction: the peak of its element type, less where a dimension is small. The
// device takes OP picoseconds for an operation of f32 and nothing for others; f64 takes twice as
// long, f16 a fourth. A product of N x N x N has 2 N N N operations. test/sharding/cost_test.c
// (work) has the formula with all of its terms.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate{mesh=1 topology=%S/../../Inputs/slow_device.json})' | FileCheck %s -D#OP=1000 -D#N=128

// CHECK: @f32{{.*}}cost_ps = [[#F32:mul(mul(2,OP),mul(N,mul(N,N)))]] :
func.func @f32(%a: tensor<128x128xf32>, %b: tensor<128x128xf32>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<128x128xf32>, tensor<128x128xf32>) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}
// -----
// CHECK: @f64{{.*}}cost_ps = [[#mul(2,F32)]] :
func.func @f64(%a: tensor<128x128xf64>, %b: tensor<128x128xf64>, %c: tensor<128x128xf64>) -> tensor<128x128xf64> {
  %r = linalg.matmul ins(%a, %b : tensor<128x128xf64>, tensor<128x128xf64>) outs(%c : tensor<128x128xf64>) -> tensor<128x128xf64>
  return %r : tensor<128x128xf64>
}
// -----
// The result may be wider: what is multiplied counts.
// CHECK: @bf16{{.*}}cost_ps = [[#div(F32,4)]] :
func.func @bf16(%a: tensor<128x128xbf16>, %b: tensor<128x128xbf16>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<128x128xbf16>, tensor<128x128xbf16>) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}
// -----
// CHECK: @mixed{{.*}}cost_ps = [[#F32]] :
func.func @mixed(%a: tensor<128x128xbf16>, %b: tensor<128x128xf32>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<128x128xbf16>, tensor<128x128xf32>) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}
// -----
// 32 instead of 128: a fourth of the work, at a fourth of the peak.
// CHECK: @small{{.*}}cost_ps = [[#F32]] :
func.func @small(%a: tensor<128x32xf32>, %b: tensor<32x128xf32>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<128x32xf32>, tensor<32x128xf32>) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}
// -----
// The batch is no dimension of a product; two dimensions that both are rows count together.
// CHECK: @batch{{.*}}cost_ps = [[#mul(2,F32)]] :
func.func @batch(%a: tensor<2x128x128xf32>, %b: tensor<2x128x128xf32>, %c: tensor<2x128x128xf32>) -> tensor<2x128x128xf32> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<2x128x128xf32>, tensor<2x128x128xf32>) outs(%c : tensor<2x128x128xf32>) -> tensor<2x128x128xf32>
  return %r : tensor<2x128x128xf32>
}
// -----
// A product with a vector takes the time of the memory, which is nothing here, and of its
// operations: one column of N.
// CHECK: @vector{{.*}}cost_ps = [[#div(F32,N)]] :
func.func @vector(%a: tensor<128x128xf32>, %b: tensor<128xf32>, %c: tensor<128xf32>) -> tensor<128xf32> {
  %r = linalg.matvec ins(%a, %b : tensor<128x128xf32>, tensor<128xf32>) outs(%c : tensor<128xf32>) -> tensor<128xf32>
  return %r : tensor<128xf32>
}
