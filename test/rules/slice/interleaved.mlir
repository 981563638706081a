// Two halves put into every other place, as scans are exported, and an element of every third: the small tensor is split with the large one, nothing
// moves where the shards are even. Those of 11 pairs are not: whole pairs are exchanged.
// RUN: shard-run %s --mesh x=2
// RUN: shard-run %s --mesh x=3
// RUN: shard-run %s --mesh x=4 --strategy follow
// RUN: shard-run %s --mesh x=2,y=2 --strategy follow --launch processes
// RUN: sed -e 's/16x4x/11x4x/g' -e 's/32x4x/22x4x/g' -e 's/\[16, 4\]/[11, 4]/' %s > %t.mlir
// RUN: shard-run %t.mlir --mesh x=2
// RUN: shard-run %t.mlir --mesh x=3 --strategy follow
// RUN: shard-run %t.mlir --mesh x=4
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=x=2,y=1 strategy=follow})' | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-NOT: shard.all_
// CHECK-NOT: @tp.permute
// CHECK: tensor.insert_slice {{.*}}[0, 0] [8, 4] [2, 1] : tensor<8x4xf32> into tensor<16x4xf32>
// CHECK: tensor.insert_slice {{.*}}[1, 0] [8, 4] [2, 1] : tensor<8x4xf32> into tensor<16x4xf32>
// CHECK: tensor.insert_slice {{.*}}[2] [4] [3] : tensor<4xi32> into tensor<12xi32>
// CHECK-NOT: shard.all_
// CHECK-NOT: @tp.permute
// CHECK: return

shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @main(%even: tensor<16x4xf32> {tp.sharding = [["x"], ["y"]]}, %odd: tensor<16x4xf32> {tp.sharding = [["x"], ["y"]]},
                %third: tensor<8xi32> {tp.sharding = [["x"]]}, %i: tensor<24xi32> {tp.sharding = [["x"]]})
    -> (tensor<32x4xf32> {tp.sharding = [["x"], ["y"]]}, tensor<24xi32> {tp.sharding = [["x"]]}) {
  %zero = arith.constant dense<0.0> : tensor<32x4xf32>
  %half = tensor.insert_slice %even into %zero[0, 0] [16, 4] [2, 1] : tensor<16x4xf32> into tensor<32x4xf32>
  %both = tensor.insert_slice %odd into %half[1, 0] [16, 4] [2, 1] : tensor<16x4xf32> into tensor<32x4xf32>
  %sparse = tensor.insert_slice %third into %i[2] [8] [3] : tensor<8xi32> into tensor<24xi32>
  return %both, %sparse : tensor<32x4xf32>, tensor<24xi32>
}
