// More may be counted than a plan holds: what costs less and is counted with more than the limit is written, and taken if it keeps the limit.
// First the cheapest plan of all, within exactly what it holds, though another one is counted to fit; then what lies between the two.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=4476B})' | FileCheck %s --check-prefix=CHEAPEST
// CHEAPEST: bound_ps = 3752000 : i64, cost_ps = 3752000 : i64, {{.*}}peak_memory = 4476
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=2588B})' | FileCheck %s --check-prefix=BETWEEN
// BETWEEN: bound_ps = 4309333 : i64, cost_ps = 4309333 : i64, {{.*}}peak_memory = 2588
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=2587B})' | FileCheck %s --check-prefix=LESS
// LESS: bound_ps = 4370500 : i64, cost_ps = 4370500 : i64, {{.*}}peak_memory = 2488
shard.grid @mesh(shape = 2x1x3) {tp.axes = ["x", "y", "z"]}
func.func @main(%v0: tensor<9x10xf32> {tp.sharding = [["x", "z"], ["?"]]},
                %v1: tensor<9x10x10xf32>) -> (tensor<2x2xf32>, tensor<10xf32> {tp.sharding = [["y", "x"]]}) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<9x10xf32>
  %init0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<9x10xf32>) -> tensor<9x10xf32>
  %v2 = linalg.batch_vecmat ins(%v0, %v1 : tensor<9x10xf32>, tensor<9x10x10xf32>) outs(%init0 : tensor<9x10xf32>) -> tensor<9x10xf32>
  %two = arith.constant 2.0 : f32
  %e1 = tensor.empty() : tensor<10xf32>
  %init1 = linalg.fill ins(%two : f32) outs(%e1 : tensor<10xf32>) -> tensor<10xf32>
  %v3 = linalg.reduce { arith.addf } ins(%v0 : tensor<9x10xf32>) outs(%init1 : tensor<10xf32>) dimensions = [0]
  %v4 = tensor.extract_slice %v2[5, 7] [2, 2] [1, 1] : tensor<9x10xf32> to tensor<2x2xf32>
  return %v4, %v3 : tensor<2x2xf32>, tensor<10xf32>
}
