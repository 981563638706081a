shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<8x16xf32> {tp.sharding = [["dp"], []]}, %w: tensor<16x32xf32> {tp.role = "param"}) -> tensor<8x32xf32> {
  %z = arith.constant dense<0.0> : tensor<8x32xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x32xf32>) outs(%z : tensor<8x32xf32>) -> tensor<8x32xf32>
  return %y : tensor<8x32xf32>
}
