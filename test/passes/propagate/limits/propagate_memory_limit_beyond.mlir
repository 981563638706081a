// More may be counted than a plan holds: what costs less and is counted with more than the limit is written, and taken if it keeps the limit.
// First the cheapest plan of all, within exactly what it holds, though another one is counted to fit; then what lies between the two.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate)' -o %t.free.mlir
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=4476B})' -o %t.cheapest.mlir
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=2588B})' -o %t.between.mlir
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=2587B})' -o %t.less.mlir
// Every plan is proven to be the cheapest of its limit. Bytes that they hold at their peak:
//   cheapest: v1 whole (3600), 2 rows of v0 (80), v0 gathered and its product (360 each), sums
//     (40), results (16 + 20);
//   between: 5 of 9 matrices of v1 (2000), v0 (80), 5 rows of it gathered and of the product (200
//     each), sums and their init (40 each), results (8 + 20).
// RUN: %python -B %S/../../Inputs/relations.py free=%t.free.mlir cheapest=%t.cheapest.mlir between=%t.between.mlir less=%t.less.mlir -- \
// RUN:   'free.cost_ps == cheapest.cost_ps < between.cost_ps < less.cost_ps' \
// RUN:   'cheapest.cost_ps == cheapest.bound_ps' 'between.cost_ps == between.bound_ps' 'less.cost_ps == less.bound_ps' \
// RUN:   'free.peak_memory == cheapest.peak_memory == 4476' 'between.peak_memory == 2588' 'less.peak_memory <= 2587'
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
