// A small layer to try: the hidden dimension is split over "tp", so the second product leaves partial sums.
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}

func.func @layer(%x: tensor<8x16xf32> {tp.sharding = [["dp"], []]},
                 %up: tensor<16x32xf32> {tp.sharding = [[], ["tp"]], tp.role = "param"},
                 %down: tensor<32x16xf32> {tp.sharding = [["tp"], []], tp.role = "param"})
    -> (tensor<8x16xf32> {tp.sharding = [["dp"], []]}) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<8x32xf32>
  %c0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %hidden = linalg.matmul ins(%x, %up : tensor<8x16xf32>, tensor<16x32xf32>) outs(%c0 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %e1 = tensor.empty() : tensor<8x16xf32>
  %c1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %out = linalg.matmul ins(%hidden, %down : tensor<8x32xf32>, tensor<32x16xf32>) outs(%c1 : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %out : tensor<8x16xf32>
}
