// An op of a dialect for which there are no sharding rules.
ml_program.global private @w(dense<1.0> : tensor<64x256xf32>) : tensor<64x256xf32>
func.func @add(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %w = ml_program.global_load_const @w : tensor<64x256xf32>
  %y = arith.addf %x, %w : tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
