// Sums, products and contractions of complex numbers over dimensions that are split, with inits that are and are not the identity; rows of a table.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 5x1 --strategy follow

#in = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(%x: tensor<5x7xcomplex<f32>> {tp.sharding = [[], ["x"]]}, %w: tensor<7x3xcomplex<f32>> {tp.sharding = [["x"], ["y"]]},
    %i: tensor<5xi32>)
    -> (tensor<5xcomplex<f32>> {tp.sharding = [["x"]]}, tensor<5xcomplex<f32>> {tp.sharding = [[]]}, tensor<5x3xcomplex<f32>> {tp.sharding = [["x"], []]},
        tensor<5x3xcomplex<f32>>, tensor<5x3xcomplex<f32>>) {
  %zero = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %one = complex.constant [1.0 : f32, 0.0 : f32] : complex<f32>
  %some = complex.constant [1.5 : f32, -2.0 : f32] : complex<f32>
  %e = tensor.empty() : tensor<5xcomplex<f32>>
  %f0 = linalg.fill ins(%zero : complex<f32>) outs(%e : tensor<5xcomplex<f32>>) -> tensor<5xcomplex<f32>>
  %f1 = linalg.fill ins(%some : complex<f32>) outs(%e : tensor<5xcomplex<f32>>) -> tensor<5xcomplex<f32>>
  %s = linalg.generic {indexing_maps = [#in, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<5x7xcomplex<f32>>) outs(%f0 : tensor<5xcomplex<f32>>) {
  ^bb0(%v: complex<f32>, %acc: complex<f32>):
    %t = complex.add %acc, %v : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5xcomplex<f32>>
  %p = linalg.generic {indexing_maps = [#in, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<5x7xcomplex<f32>>) outs(%f1 : tensor<5xcomplex<f32>>) {
  ^bb0(%v: complex<f32>, %acc: complex<f32>):
    %t = complex.mul %acc, %v : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<5xcomplex<f32>>
  %em = tensor.empty() : tensor<5x3xcomplex<f32>>
  %fm = linalg.fill ins(%some : complex<f32>) outs(%em : tensor<5x3xcomplex<f32>>) -> tensor<5x3xcomplex<f32>>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<5x7xcomplex<f32>>, tensor<7x3xcomplex<f32>>) outs(%fm : tensor<5x3xcomplex<f32>>) {
  ^bb0(%v: complex<f32>, %u: complex<f32>, %acc: complex<f32>):
    %t = complex.mul %v, %u : complex<f32>
    %q = complex.add %acc, %t : complex<f32>
    linalg.yield %q : complex<f32>
  } -> tensor<5x3xcomplex<f32>>
  %mm = linalg.matmul ins(%x, %w : tensor<5x7xcomplex<f32>>, tensor<7x3xcomplex<f32>>) outs(%fm : tensor<5x3xcomplex<f32>>) -> tensor<5x3xcomplex<f32>>
  %g = linalg.generic {indexing_maps = [#row, #in], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<5xi32>) outs(%em : tensor<5x3xcomplex<f32>>) {
  ^bb0(%v: i32, %acc: complex<f32>):
    %r = arith.index_cast %v : i32 to index
    %j = linalg.index 1 : index
    %t = tensor.extract %w[%r, %j] : tensor<7x3xcomplex<f32>>
    linalg.yield %t : complex<f32>
  } -> tensor<5x3xcomplex<f32>>
  return %s, %p, %m, %mm, %g : tensor<5xcomplex<f32>>, tensor<5xcomplex<f32>>, tensor<5x3xcomplex<f32>>, tensor<5x3xcomplex<f32>>, tensor<5x3xcomplex<f32>>
}
