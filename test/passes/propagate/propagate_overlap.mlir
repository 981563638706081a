// Two streams: the gather of the second weight runs beside the first matmul, and is not waited for. What the plan costs is what the sum says; without
// it, 228399200 - 210315200, the time of the gather, it takes what the matmuls take.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{overlap=true})' | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{overlap=true})' | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate)' | FileCheck %s --check-prefix=SUM

// CHECK: bound_ps = 228399200 : i64, cost_ps = 228399200 : i64, {{.*}}overlapped_ps = 210315200 : i64
// SUM-NOT: overlapped_ps

// A plan that costs more in sum and takes less time: the bound stays that of the sum. It is executed.
// RUN: shard-opt %S/propagate_sub_axes_heads.mlir --pass-pipeline='builtin.module(tp-decompose,tp-propagate{overlap=true})' -o %t.mlir
// RUN: FileCheck %s --check-prefix=HEADS --input-file=%t.mlir
// RUN: shard-run %t.mlir --mesh tp=8
// HEADS: bound_ps = 222465600 : i64, cost_ps = 245537600 : i64, {{.*}}overlapped_ps = 207515200 : i64

shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @main(%x: tensor<256x128xf32> {tp.sharding = [["tp"], []]}, %v: tensor<128x128xf32> {tp.sharding = [[], []]}, %w: tensor<128x128xf32> {tp.sharding = [["tp"], []]})
    -> (tensor<256x128xf32> {tp.sharding = [["tp"], []]}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x128xf32>) -> tensor<256x128xf32>
  %h = linalg.matmul ins(%x, %v : tensor<256x128xf32>, tensor<128x128xf32>) outs(%f : tensor<256x128xf32>) -> tensor<256x128xf32>
  %e2 = tensor.empty() : tensor<256x128xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<256x128xf32>) -> tensor<256x128xf32>
  %y = linalg.matmul ins(%h, %w : tensor<256x128xf32>, tensor<128x128xf32>) outs(%f2 : tensor<256x128xf32>) -> tensor<256x128xf32>
  return %y : tensor<256x128xf32>
}
