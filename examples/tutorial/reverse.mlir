// An op of a dialect for which there are no sharding rules.
func.func @reverse(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %y = tosa.reverse %x {axis = 0 : i32} : (tensor<64x256xf32>) -> tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
