// Collectives of the largest and smallest numbers that are not NaN have regions of one op. Imported again, they give the same results: NaN only where all devices have it.
// RUN: shard-opt %s --mlir-print-op-generic --pass-pipeline='builtin.module(tp-export-stablehlo)' -o %t.mlir
// RUN: FileCheck %s --input-file %t.mlir
// RUN: shard-run %s --output @%t.0.npy --output @%t.1.npy --output @%t.2.npy --output @%t.3.npy
// RUN: shard-run %t.mlir --expected-output @%t.0.npy --expected-output @%t.1.npy --expected-output @%t.2.npy --expected-output @%t.3.npy

// CHECK: %[[E:.*]] = "stablehlo.compare"(%[[X:.*]], %[[X]]) {{.*}} NE>
// CHECK: %[[O:.*]] = "stablehlo.select"(%[[E]], %{{.*}}, %[[X]])
// CHECK: %[[M:.*]] = "stablehlo.all_reduce"(%[[O]]) ({
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>):
// CHECK-NEXT: "stablehlo.maximum"(%[[A]], %[[B]])
// CHECK-NEXT: "stablehlo.return"
// CHECK: %[[N:.*]] = "stablehlo.all_reduce"(%[[E]]) ({
// CHECK: "stablehlo.and"
// CHECK: "stablehlo.select"(%[[N]], %{{.*}}, %[[M]])
module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
  func.func @main() -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xi1>) {
    %all = arith.constant dense<[[0x7FC00000, 0x7FC00000, 1.0, 0xFF800000], [2.0, 0x7FC00000, 3.0, 0x7FC00000]]> : tensor<2x4xf32>
    %row = shard.all_slice %all on @mesh grid_axes = [0] slice_axis = 0 : tensor<2x4xf32> -> tensor<1x4xf32>
    %0 = shard.all_reduce %row on @mesh grid_axes = [0] reduction = max {tp.combiner = "maxnumf"} : tensor<1x4xf32> -> tensor<1x4xf32>
    %1 = shard.all_reduce %row on @mesh grid_axes = [0] reduction = min {tp.combiner = "minnumf"} : tensor<1x4xf32> -> tensor<1x4xf32>
    %part = shard.reduce_scatter %row on @mesh grid_axes = [0] reduction = max scatter_axis = 1 {tp.combiner = "maxnumf"} : tensor<1x4xf32> -> tensor<1x2xf32>
    %2 = shard.all_gather %part on @mesh grid_axes = [0] gather_axis = 1 : tensor<1x2xf32> -> tensor<1x4xf32>
    %3 = arith.cmpf uno, %2, %2 : tensor<1x4xf32>
    return %0, %1, %2, %3 : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xi1>
  }
}
