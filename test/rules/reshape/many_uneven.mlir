// Many dimensions that axes do not divide, joined and taken apart: whole on every device, or in uneven parts of the major ones.
// RUN: shard-run %s --mesh 3
// RUN: shard-run %s --mesh 5 --strategy follow
// RUN: shard-run %s --mesh 2x3
// RUN: shard-run %s --mesh 7

func.func @main(%x: tensor<3x5x2x3x2x2xf32>, %y: tensor<360x4xf32>) -> (tensor<360x4xf32>, tensor<3x5x2x3x2x2x4xf32>) {
  %joined = tensor.collapse_shape %x [[0, 1, 2, 3, 4, 5]] : tensor<3x5x2x3x2x2xf32> into tensor<360xf32>
  %empty = tensor.empty() : tensor<360x4xf32>
  %wide = linalg.broadcast ins(%joined : tensor<360xf32>) outs(%empty : tensor<360x4xf32>) dimensions = [1]
  %sum = arith.addf %wide, %y : tensor<360x4xf32>
  %apart = tensor.expand_shape %sum [[0, 1, 2, 3, 4, 5], [6]] output_shape [3, 5, 2, 3, 2, 2, 4] : tensor<360x4xf32> into tensor<3x5x2x3x2x2x4xf32>
  %exp = math.exp %apart : tensor<3x5x2x3x2x2x4xf32>
  return %sum, %exp : tensor<360x4xf32>, tensor<3x5x2x3x2x2x4xf32>
}
