// No two plans are within one limit: each halves the widest gap between those before it.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{topology=h100 report=%t.json report-alternatives=0 report-frontier=4})' -o /dev/null 2>/dev/null
// RUN: grep -o '"limit_bytes": [0-9]*' %t.json | FileCheck %s
// CHECK: 4097
// CHECK-NEXT: 6145
// CHECK-NEXT: 8194
// CHECK-NEXT: 12291
shard.grid @mesh(shape = 8) {tp.axes = ["x"]}
func.func @squares(%x: tensor<64x64xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<64x64xf32>) outs(%init : tensor<f32>) {
    ^bb0(%a: f32, %s: f32):
      %square = arith.mulf %a, %a : f32
      %next = arith.addf %s, %square : f32
      linalg.yield %next : f32
  } -> tensor<f32>
  return %sum : tensor<f32>
}
