// The same MLP without a mesh and without annotations.
func.func @mlp(%x: tensor<64x256xf32>,
               %w1: tensor<256x1024xf32> {tp.role = "param"},
               %w2: tensor<1024x256xf32> {tp.role = "param"})
    -> tensor<64x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<64x1024xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<64x256xf32>, tensor<256x1024xf32>) outs(%i1 : tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %z = arith.constant dense<0.0> : tensor<64x1024xf32>
  %a = arith.maximumf %h, %z : tensor<64x1024xf32>
  %e2 = tensor.empty() : tensor<64x256xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<64x256xf32>) -> tensor<64x256xf32>
  %y = linalg.matmul ins(%a, %w2 : tensor<64x1024xf32>, tensor<1024x256xf32>) outs(%i2 : tensor<64x256xf32>) -> tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
