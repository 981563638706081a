// Numbers where a bool is set, else 0.
func.func @main(%c: tensor<64x512xi1>, %x: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x512xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%c, %x : tensor<64x512xi1>, tensor<64x512xf32>) outs(%e : tensor<64x512xf32>) {
  ^bb0(%a: i1, %b: f32, %o: f32):
    %r = arith.select %a, %b, %zero : f32
    linalg.yield %r : f32
  } -> tensor<64x512xf32>
  return %y : tensor<64x512xf32>
}
