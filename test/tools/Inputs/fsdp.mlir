shard.grid @mesh(shape = 4) {tp.axes = ["d"]}
func.func @main(%x: tensor<16x8xf32> {tp.name = "x", tp.sharding = [["d"], []]},
                %w: tensor<8x12xf32> {tp.name = "w", tp.role = "param", tp.sharding = [["d"], []]})
    -> (tensor<16x12xf32> {tp.sharding = [["d"], []]}, tensor<8x12xf32> {tp.sharding = [["d"], []]}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x12xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x12xf32>) -> tensor<16x12xf32>
  %y = linalg.matmul ins(%x, %w : tensor<16x8xf32>, tensor<8x12xf32>) outs(%f : tensor<16x12xf32>) -> tensor<16x12xf32>
  %t = math.tanh %y : tensor<16x12xf32>
  %ge = tensor.empty() : tensor<8x12xf32>
  %gf = linalg.fill ins(%zero : f32) outs(%ge : tensor<8x12xf32>) -> tensor<8x12xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %t : tensor<16x8xf32>, tensor<16x12xf32>) outs(%gf : tensor<8x12xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x12xf32>
  return %t, %g : tensor<16x12xf32>, tensor<8x12xf32>
}
