// A sort that does not fit is refused, as by its rule (test/rules/sort/errors.mlir).
// RUN: shard-opt %s --verify-diagnostics --pass-pipeline='builtin.module(tp-expand-sorts)'

func.func @dim(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'func.call': tp.sort: dim is 1, but the operands have rank 1}}
  %0 = call @tp.sort(%x) {tp.sort = {dim = 1, less = @less}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @tp.sort(tensor<4xf32>) -> tensor<4xf32>
