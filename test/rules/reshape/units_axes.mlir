// Factors that several axes split: those that divide leave whole units behind, the rest moves along the other axes alone.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=dp=2,tp=4 strategy=follow})' | FileCheck %s
// RUN: shard-run %s --mesh 2x4 --strategy follow
// RUN: shard-run %s --mesh 2x2 --strategy follow
// RUN: shard-run %s --mesh 2x3
// RUN: shard-run %s --mesh 4x2 --strategy follow
// RUN: shard-run %s --mesh 4x3 --strategy follow

// 6 rows, 3 on each dp, 1 on each tp but the last: 16 elements where there should be 12. And back.
// CHECK-LABEL: func.func @main
// CHECK: call @tp.permute.{{.*}}{tp.pairs = {{\[\[}}0, 1], [1, 2], [2, 3], [4, 5], [5, 6], [6, 7]]}
// CHECK: call @tp.permute.{{.*}}{tp.pairs = {{\[\[}}1, 0], [2, 1], [3, 2], [5, 4], [6, 5], [7, 6]]}
// CHECK-NOT: all_gather
func.func @main(%a: tensor<6x16xf32> {tp.sharding = [["dp", "tp"], []]}, %b: tensor<96xi64> {tp.sharding = [["dp", "tp"]]},
                %c: tensor<2x6x5xf32> {tp.sharding = [["dp"], ["tp"], []]}, %d: tensor<7x8x3xf32> {tp.sharding = [["dp", "tp"], [], []]})
    -> (tensor<96xf32> {tp.sharding = [["dp", "tp"]]}, tensor<6x16xi64> {tp.sharding = [["dp", "tp"], []]},
        tensor<60xf32> {tp.sharding = [["dp", "tp"]]}, tensor<56x3xf32> {tp.sharding = [["dp", "tp"], []]}) {
  %a1 = tensor.collapse_shape %a [[0, 1]] : tensor<6x16xf32> into tensor<96xf32>
  %b1 = tensor.expand_shape %b [[0, 1]] output_shape [6, 16] : tensor<96xi64> into tensor<6x16xi64>
  %c1 = tensor.collapse_shape %c [[0, 1, 2]] : tensor<2x6x5xf32> into tensor<60xf32>
  %d1 = tensor.collapse_shape %d [[0, 1], [2]] : tensor<7x8x3xf32> into tensor<56x3xf32>
  return %a1, %b1, %c1, %d1 : tensor<96xf32>, tensor<6x16xi64>, tensor<60xf32>, tensor<56x3xf32>
}
