// A training step of two layers, SGD with momentum; its results are the arguments of the next step.
#ik = affine_map<(i, j, k) -> (i, k)>
#ki = affine_map<(i, j, k) -> (k, i)>
#kj = affine_map<(i, j, k) -> (k, j)>
#jk = affine_map<(i, j, k) -> (j, k)>
#ij = affine_map<(i, j, k) -> (i, j)>
func.func @step(%x: tensor<256x32xf32> {tp.sharding = [["dp"], []]}, %y: tensor<256x32xf32> {tp.sharding = [["dp"], []]},
                %w1: tensor<32x64xf32> {tp.role = "param"}, %w2: tensor<64x32xf32> {tp.role = "param"},
                %m1: tensor<32x64xf32> {tp.role = "state"}, %m2: tensor<64x32xf32> {tp.role = "state"})
    -> (tensor<32x64xf32> {tp.updates = 2}, tensor<64x32xf32> {tp.updates = 3},
        tensor<32x64xf32> {tp.updates = 4}, tensor<64x32xf32> {tp.updates = 5}) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant dense<0.0> : tensor<256x64xf32>
  %rate1 = arith.constant dense<1.0e-3> : tensor<32x64xf32>
  %rate2 = arith.constant dense<1.0e-3> : tensor<64x32xf32>
  %decay1 = arith.constant dense<9.0e-1> : tensor<32x64xf32>
  %decay2 = arith.constant dense<9.0e-1> : tensor<64x32xf32>
  %e64 = tensor.empty() : tensor<256x64xf32>
  %f64 = linalg.fill ins(%zero : f32) outs(%e64 : tensor<256x64xf32>) -> tensor<256x64xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<256x32xf32>, tensor<32x64xf32>) outs(%f64 : tensor<256x64xf32>) -> tensor<256x64xf32>
  %r = arith.maximumf %h, %none : tensor<256x64xf32>
  %e32 = tensor.empty() : tensor<256x32xf32>
  %f32 = linalg.fill ins(%zero : f32) outs(%e32 : tensor<256x32xf32>) -> tensor<256x32xf32>
  %o = linalg.matmul ins(%r, %w2 : tensor<256x64xf32>, tensor<64x32xf32>) outs(%f32 : tensor<256x32xf32>) -> tensor<256x32xf32>
  %d = arith.subf %o, %y : tensor<256x32xf32>
  %e2 = tensor.empty() : tensor<64x32xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<64x32xf32>) -> tensor<64x32xf32>
  %g2 = linalg.contract indexing_maps = [#ki, #kj, #ij] ins(%r, %d : tensor<256x64xf32>, tensor<256x32xf32>) outs(%z2 : tensor<64x32xf32>) -> tensor<64x32xf32>
  %dr = linalg.contract indexing_maps = [#ik, #jk, #ij] ins(%d, %w2 : tensor<256x32xf32>, tensor<64x32xf32>) outs(%f64 : tensor<256x64xf32>) -> tensor<256x64xf32>
  %on = arith.cmpf ogt, %h, %none : tensor<256x64xf32>
  %dh = arith.select %on, %dr, %none : tensor<256x64xi1>, tensor<256x64xf32>
  %e1 = tensor.empty() : tensor<32x64xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<32x64xf32>) -> tensor<32x64xf32>
  %g1 = linalg.contract indexing_maps = [#ki, #kj, #ij] ins(%x, %dh : tensor<256x32xf32>, tensor<256x64xf32>) outs(%z1 : tensor<32x64xf32>) -> tensor<32x64xf32>
  %s1 = arith.mulf %m1, %decay1 : tensor<32x64xf32>
  %n1 = arith.addf %s1, %g1 : tensor<32x64xf32>
  %u1 = arith.mulf %n1, %rate1 : tensor<32x64xf32>
  %v1 = arith.subf %w1, %u1 : tensor<32x64xf32>
  %s2 = arith.mulf %m2, %decay2 : tensor<64x32xf32>
  %n2 = arith.addf %s2, %g2 : tensor<64x32xf32>
  %u2 = arith.mulf %n2, %rate2 : tensor<64x32xf32>
  %v2 = arith.subf %w2, %u2 : tensor<64x32xf32>
  return %v1, %v2, %n1, %n2 : tensor<32x64xf32>, tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x32xf32>
}
