// What matmuls of f32 ask for is asked for again: the most of all of them.
// RUN: shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-import-stablehlo,tp-spmd{mesh=2},tp-export-stablehlo)' | FileCheck %s --check-prefix=DEFAULT
// RUN: sed 's/DEFAULT>] \/\/ first/HIGH>]/' %s | shard-opt --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-import-stablehlo,tp-spmd{mesh=2},tp-export-stablehlo)' | FileCheck %s --check-prefix=HIGH
// RUN: sed 's/DEFAULT>] \/\/ first/HIGHEST>]/; s/DEFAULT>] \/\/ second/HIGH>]/' %s | shard-opt --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-import-stablehlo,tp-spmd{mesh=2},tp-export-stablehlo)' | FileCheck %s --check-prefix=HIGHEST
// RUN: sed 's/DEFAULT>] \/\/ second/DEFAULT>], algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32>/' %s | shard-opt --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-import-stablehlo,tp-spmd{mesh=2},tp-export-stablehlo)' | FileCheck %s --check-prefix=HIGHEST
// DEFAULT-NOT: tp.precision
// DEFAULT-COUNT-4: #stablehlo<precision DEFAULT>
// DEFAULT-NOT: #stablehlo<precision
// HIGH-NOT: tp.precision
// HIGH-COUNT-4: #stablehlo<precision HIGH>
// HIGH-NOT: #stablehlo<precision
// HIGHEST-NOT: tp.precision
// HIGHEST-COUNT-4: #stablehlo<precision HIGHEST>
// HIGHEST-NOT: #stablehlo<precision
func.func @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = "stablehlo.dot_general"(%a, %b) <{
    dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>,
    precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>] // first
  }> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = "stablehlo.dot_general"(%0, %b) <{
    dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>,
    precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>] // second
  }> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
