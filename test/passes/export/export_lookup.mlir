// RUN: shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-import-stablehlo,tp-export-stablehlo)' --mlir-print-op-generic | FileCheck %s

// Rows of a table: a slice for each index.
// CHECK-LABEL: sym_name = "rows"
// CHECK: "stablehlo.gather"(%{{.*}}, %{{.*}}) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16>}
// CHECK-SAME: (tensor<64x16xf32>, tensor<4x8x1xi64>) -> tensor<4x8x16xf32>
func.func @rows(%t: tensor<64x16xf32>, %i: tensor<4x8x1xi32>) -> tensor<4x8x16xf32> {
  %0 = "stablehlo.gather"(%t, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16>}
    : (tensor<64x16xf32>, tensor<4x8x1xi32>) -> tensor<4x8x16xf32>
  return %0 : tensor<4x8x16xf32>
}

// An element of each row: the rows are a batch.
// CHECK-LABEL: sym_name = "along"
// CHECK: "stablehlo.gather"
// CHECK-SAME: #stablehlo.gather<offset_dims = [], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>
// CHECK-SAME: (tensor<8x64xf32>, tensor<8x5x1xi64>) -> tensor<8x5xf32>
func.func @along(%t: tensor<8x64xf32>, %i: tensor<8x5x1xi32>) -> tensor<8x5xf32> {
  %0 = "stablehlo.gather"(%t, %i) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}
    : (tensor<8x64xf32>, tensor<8x5x1xi32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}
