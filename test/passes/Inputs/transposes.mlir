#id = affine_map<(b, i, j) -> (b, i, j)>
#across = affine_map<(b, i, j) -> (b, j, i)>
#front = affine_map<(b, i, j) -> (j, b, i)>
func.func @main(%x: tensor<6x70x40xf32>, %y: tensor<6x40x70xf32>, %z: tensor<70x7x40xf64>, %w: tensor<6x33x31xbf16>)
    -> (tensor<6x40x70xf32>, tensor<7x40x70xf64>, tensor<6x31x33xbf16>) {
  %e = tensor.empty() : tensor<6x40x70xf32>
  %f = tensor.empty() : tensor<7x40x70xf64>
  %g = tensor.empty() : tensor<6x31x33xbf16>
  %a = linalg.generic {indexing_maps = [#across, #across, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %x, %y : tensor<6x70x40xf32>, tensor<6x70x40xf32>, tensor<6x40x70xf32>) outs(%e : tensor<6x40x70xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32, %o: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %k = arith.subi %i, %j : index
    %l = arith.index_cast %k : index to i32
    %m = arith.sitofp %l : i32 to f32
    %s = arith.mulf %p, %q : f32
    %t = arith.addf %s, %r : f32
    %u = arith.mulf %t, %m : f32
    linalg.yield %u : f32
  } -> tensor<6x40x70xf32>
  %b = linalg.generic {indexing_maps = [#front, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%z : tensor<70x7x40xf64>) outs(%f : tensor<7x40x70xf64>) {
  ^bb0(%p: f64, %o: f64):
    linalg.yield %p : f64
  } -> tensor<7x40x70xf64>
  %c = linalg.generic {indexing_maps = [#across, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w : tensor<6x33x31xbf16>) outs(%g : tensor<6x31x33xbf16>) {
  ^bb0(%p: bf16, %o: bf16):
    %q = arith.negf %p : bf16
    linalg.yield %q : bf16
  } -> tensor<6x31x33xbf16>
  return %a, %b, %c : tensor<6x40x70xf32>, tensor<7x40x70xf64>, tensor<6x31x33xbf16>
}
