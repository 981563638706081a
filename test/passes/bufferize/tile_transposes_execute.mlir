// Transposes in tiles give what the evaluator computes: with other operands, of other sizes and types, and of more
// dimensions.
// RUN: shard-run %s --mesh 1 --reference=evaluator
// RUN: shard-run %s --mesh 2 --reference=evaluator
// RUN: shard-run %s --mesh 2x2 --reference=evaluator
func.func @main(%x: tensor<256x128xf32>, %b: tensor<256xf32>, %y: tensor<128x256xf32>, %p: tensor<200x270xbf16>,
                %u: tensor<3x96x4x160xi32>)
    -> (tensor<128x256xf32>, tensor<270x200xbf16>, tensor<4x160x3x96xi32>) {
  %e0 = tensor.empty() : tensor<128x256xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>,
                                        affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b, %y : tensor<256x128xf32>, tensor<256xf32>, tensor<128x256xf32>) outs(%e0 : tensor<128x256xf32>) {
  ^bb0(%a: f32, %c: f32, %d: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    %t = arith.mulf %s, %d : f32
    linalg.yield %t : f32
  } -> tensor<128x256xf32>
  %e1 = tensor.empty() : tensor<270x200xbf16>
  %1 = linalg.transpose ins(%p : tensor<200x270xbf16>) outs(%e1 : tensor<270x200xbf16>) permutation = [1, 0]
  %e2 = tensor.empty() : tensor<4x160x3x96xi32>
  %2 = linalg.transpose ins(%u : tensor<3x96x4x160xi32>) outs(%e2 : tensor<4x160x3x96xi32>) permutation = [2, 3, 0, 1]
  return %0, %1, %2 : tensor<128x256xf32>, tensor<270x200xbf16>, tensor<4x160x3x96xi32>
}
