// tensor.reshape takes its shape from a tensor; it has no sharding rule.
func.func @reshape(%x: tensor<64x256xf32>, %shape: tensor<1xindex>) -> tensor<16384xf32> {
  %y = tensor.reshape %x(%shape) : (tensor<64x256xf32>, tensor<1xindex>) -> tensor<16384xf32>
  return %y : tensor<16384xf32>
}
