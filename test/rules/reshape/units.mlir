// Axes that do not divide a factor: shards of the large dimension end inside of a small one, and only what differs moves between neighbors.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=dp=1,tp=3 strategy=follow})' | FileCheck %s
// RUN: shard-run %s --mesh 1x3 --strategy follow
// RUN: shard-run %s --mesh 1x3 --launch processes
// RUN: shard-run %s --mesh 1x4 --strategy follow
// RUN: shard-run %s --mesh 1x8
// RUN: shard-run %s --mesh 2x2 --strategy follow
// RUN: shard-run %s --mesh 2x4 --strategy follow
// RUN: shard-run %s --mesh 4x3 --strategy follow
// RUN: shard-run %s --mesh 3x2

// 4 rows of 16 are 32, 32 and 0 elements; 64 elements are 22, 22 and 20.
// CHECK-LABEL: func.func @main
// CHECK: tensor.collapse_shape %{{.*}} : tensor<2x16xf32> into tensor<32xf32>
// CHECK: call @tp.permute.20xf32(%{{.*}}) {tp.pairs = {{\[\[}}0, 1], [1, 2]]}
// CHECK: tensor.extract_slice %{{.*}} : tensor<42xf32> to tensor<22xf32>
// 12 rows are 4 on each device already, each of 3 groups whole.
// CHECK: tensor.expand_shape %{{.*}} : tensor<4x5xi32> into tensor<1x4x5xi32>
// 105 elements, 35 on each; 5 groups of 21 are 42, 42 and 21.
// CHECK: tensor.expand_shape %{{.*}} : tensor<42xf64> into tensor<2x3x7xf64>
// CHECK-NOT: all_gather
func.func @main(%a: tensor<4x16xf32> {tp.sharding = [["tp"], []]}, %b: tensor<12x5xi32> {tp.sharding = [["tp"], []]},
                %c: tensor<105xf64> {tp.sharding = [["tp"]]})
    -> (tensor<64xf32> {tp.sharding = [["tp"]]}, tensor<3x4x5xi32> {tp.sharding = [["tp"], [], []]},
        tensor<5x3x7xf64> {tp.sharding = [["tp"], [], []]}) {
  %a1 = tensor.collapse_shape %a [[0, 1]] : tensor<4x16xf32> into tensor<64xf32>
  %b1 = tensor.expand_shape %b [[0, 1], [2]] output_shape [3, 4, 5] : tensor<12x5xi32> into tensor<3x4x5xi32>
  %c1 = tensor.expand_shape %c [[0, 1, 2]] output_shape [5, 3, 7] : tensor<105xf64> into tensor<5x3x7xf64>
  return %a1, %b1, %c1 : tensor<64xf32>, tensor<3x4x5xi32>, tensor<5x3x7xf64>
}
