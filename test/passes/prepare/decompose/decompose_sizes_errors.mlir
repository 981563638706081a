// RUN: shard-opt %s --verify-diagnostics --pass-pipeline='builtin.module(tp-decompose)'
func.func @main(%x: tensor<4x9xf32>) -> tensor<4x12xf32> {
  %c = arith.constant 3.0 : f32
  %two = arith.constant 2 : index
  // expected-error @below {{'tensor.pad': pads 9 elements of dimension 1 by 2 before and 2 behind, but the result has 12}}
  %r = tensor.pad %x low[0, %two] high[0, %two] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<4x9xf32> to tensor<4x12xf32>
  return %r : tensor<4x12xf32>
}
