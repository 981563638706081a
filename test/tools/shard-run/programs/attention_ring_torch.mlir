// Keys and values in a ring, in the form that torch exports: heads in one dimension for the contractions and in two between, keys that are transposed, a mask
// that is given.
// RUN: shard-run %s --mesh tp=2 | FileCheck %s --check-prefix=TWO
// RUN: shard-run %s --mesh tp=3 | FileCheck %s --check-prefix=THREE
// RUN: shard-run %s --mesh tp=4 | FileCheck %s --check-prefix=FOUR
// TWO: permute tp 2{{ }}
// TWO: verified
// THREE: permute tp 4{{ }}
// THREE: verified
// FOUR: permute tp 6{{ }}
// FOUR: verified

shard.grid @mesh(shape = 1) {tp.axes = ["tp"]}
func.func @main(%q: tensor<2x3x260x16xf32>, %k: tensor<2x3x612x16xf32>, %v: tensor<2x3x612x8xf32>, %bias: tensor<260x612xf32>) -> tensor<2x3x260x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %sc = arith.constant 0.17 : f32
  %ekt = tensor.empty() : tensor<2x3x16x612xf32>
  %kt = linalg.transpose ins(%k : tensor<2x3x612x16xf32>) outs(%ekt : tensor<2x3x16x612xf32>) permutation = [0, 1, 3, 2]
  %q3 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x3x260x16xf32> into tensor<6x260x16xf32>
  %k3 = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<2x3x16x612xf32> into tensor<6x16x612xf32>
  %v3 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x3x612x8xf32> into tensor<6x612x8xf32>
  %es3 = tensor.empty() : tensor<6x260x612xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es3 : tensor<6x260x612xf32>) -> tensor<6x260x612xf32>
  %s3 = linalg.batch_matmul {tp.factors = {tp = "ring 1"}} ins(%q3, %k3 : tensor<6x260x16xf32>, tensor<6x16x612xf32>) outs(%s0 : tensor<6x260x612xf32>) -> tensor<6x260x612xf32>
  %s = tensor.expand_shape %s3 [[0, 1], [2], [3]] output_shape [2, 3, 260, 612] : tensor<6x260x612xf32> into tensor<2x3x260x612xf32>
  %es = tensor.empty() : tensor<2x3x260x612xf32>
  %m1 = linalg.generic {indexing_maps=[affine_map<(b,h,i,j)->(b,h,i,j)>, affine_map<(b,h,i,j)->(i,j)>, affine_map<(b,h,i,j)->(b,h,i,j)>], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%s, %bias : tensor<2x3x260x612xf32>, tensor<260x612xf32>) outs(%es : tensor<2x3x260x612xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
      %a = arith.mulf %x, %sc : f32
      %b = arith.addf %a, %y : f32
      linalg.yield %b : f32
} -> tensor<2x3x260x612xf32>
  %m2 = arith.addf %m1, %m1 : tensor<2x3x260x612xf32>
  %em = tensor.empty() : tensor<2x3x260xf32>
  %m0 = linalg.fill ins(%inf : f32) outs(%em : tensor<2x3x260xf32>) -> tensor<2x3x260xf32>
  %mx = linalg.generic {indexing_maps=[affine_map<(b,h,i,j)->(b,h,i,j)>, affine_map<(b,h,i,j)->(b,h,i)>], iterator_types=["parallel","parallel","parallel","reduction"]} ins(%m2 : tensor<2x3x260x612xf32>) outs(%m0 : tensor<2x3x260xf32>) {
  ^bb0(%x: f32, %y: f32):
      %a = arith.maximumf %x, %y : f32
      linalg.yield %a : f32
} -> tensor<2x3x260xf32>
  %mxe = tensor.expand_shape %mx [[0], [1], [2, 3]] output_shape [2, 3, 260, 1] : tensor<2x3x260xf32> into tensor<2x3x260x1xf32>
  %d = linalg.generic {indexing_maps=[affine_map<(b,h,i,j)->(b,h,i,j)>, affine_map<(b,h,i,j)->(b,h,i,0)>, affine_map<(b,h,i,j)->(b,h,i,j)>], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%m2, %mxe : tensor<2x3x260x612xf32>, tensor<2x3x260x1xf32>) outs(%es : tensor<2x3x260x612xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
      %a = arith.subf %x, %y : f32
      linalg.yield %a : f32
} -> tensor<2x3x260x612xf32>
  %e = linalg.generic {indexing_maps=[affine_map<(b,h,i,j)->(b,h,i,j)>, affine_map<(b,h,i,j)->(b,h,i,j)>], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%d : tensor<2x3x260x612xf32>) outs(%es : tensor<2x3x260x612xf32>) {
  ^bb0(%x: f32, %z: f32):
      %a = math.exp %x : f32
      linalg.yield %a : f32
} -> tensor<2x3x260x612xf32>
  %el = tensor.empty() : tensor<2x3x260x1xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%el : tensor<2x3x260x1xf32>) -> tensor<2x3x260x1xf32>
  %l = linalg.generic {indexing_maps=[affine_map<(b,h,i,j)->(b,h,i,j)>, affine_map<(b,h,i,j)->(b,h,i,0)>], iterator_types=["parallel","parallel","parallel","reduction"]} ins(%e : tensor<2x3x260x612xf32>) outs(%l0 : tensor<2x3x260x1xf32>) {
  ^bb0(%x: f32, %y: f32):
      %a = arith.addf %x, %y : f32
      linalg.yield %a : f32
} -> tensor<2x3x260x1xf32>
  %p = linalg.generic {indexing_maps=[affine_map<(b,h,i,j)->(b,h,i,j)>, affine_map<(b,h,i,j)->(b,h,i,0)>, affine_map<(b,h,i,j)->(b,h,i,j)>], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%e, %l : tensor<2x3x260x612xf32>, tensor<2x3x260x1xf32>) outs(%es : tensor<2x3x260x612xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
      %a = arith.divf %x, %y : f32
      linalg.yield %a : f32
} -> tensor<2x3x260x612xf32>
  %p3 = tensor.collapse_shape %p [[0, 1], [2], [3]] : tensor<2x3x260x612xf32> into tensor<6x260x612xf32>
  %eo = tensor.empty() : tensor<6x260x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<6x260x8xf32>) -> tensor<6x260x8xf32>
  %o3 = linalg.batch_matmul {tp.factors = {tp = "ring 1"}} ins(%p3, %v3 : tensor<6x260x612xf32>, tensor<6x612x8xf32>) outs(%o0 : tensor<6x260x8xf32>) -> tensor<6x260x8xf32>
  %o = tensor.expand_shape %o3 [[0, 1], [2], [3]] output_shape [2, 3, 260, 8] : tensor<6x260x8xf32> into tensor<2x3x260x8xf32>
  return %o : tensor<2x3x260x8xf32>
}
