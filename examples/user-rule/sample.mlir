// "my.activation" is an op of no dialect that MLIR has; its user registers a rule for it.
func.func @mlp(%x: tensor<8x16xf32> {tp.sharding = [["dp"], []]}, %w: tensor<16x32xf32> {tp.sharding = [[], ["tp"]]},
               %v: tensor<32x16xf32> {tp.sharding = [["tp"], []]}) -> (tensor<8x16xf32> {tp.sharding = [["dp"], []]}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x32xf32>) outs(%f : tensor<8x32xf32>) -> tensor<8x32xf32>
  %a = "my.activation"(%h) {kind = "tanh"} : (tensor<8x32xf32>) -> tensor<8x32xf32>
  %e2 = tensor.empty() : tensor<8x16xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = linalg.matmul ins(%a, %v : tensor<8x32xf32>, tensor<32x16xf32>) outs(%f2 : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
