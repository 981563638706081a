// RUN: shard-oracle --steps 200000 --edits 4 %s | FileCheck %s
// CHECK: equal, and none beyond what is offered costs less         1

// Pads that windows read in place, in every plan that is tried: of one image a convolution and a pooling, each behind its own pad, and every
// second element of what an elementwise op made. What is padded moves through memory three times, also behind an elementwise op.
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%image: tensor<1x16x8x4xf32> {tp.sharding = [[], ["x"], [], []]}, %kernel: tensor<3x3x4x4xf32>)
    -> (tensor<1x16x8x4xf32>, tensor<1x8x8x4xf32>, tensor<1x9x8x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %image low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x16x8x4xf32> to tensor<1x18x10x4xf32>
  %e0 = tensor.empty() : tensor<1x16x8x4xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x16x8x4xf32>) -> tensor<1x16x8x4xf32>
  %conv = linalg.conv_2d_nhwc_hwcf ins(%padded, %kernel : tensor<1x18x10x4xf32>, tensor<3x3x4x4xf32>)
    outs(%f0 : tensor<1x16x8x4xf32>) -> tensor<1x16x8x4xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %e1 = tensor.empty() : tensor<1x8x8x4xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  %pool = linalg.pooling_nhwc_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>}
    ins(%padded, %window : tensor<1x18x10x4xf32>, tensor<3x3xf32>) outs(%f1 : tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  %e2 = tensor.empty() : tensor<1x16x8x4xf32>
  %tanh = linalg.tanh ins(%image : tensor<1x16x8x4xf32>) outs(%e2 : tensor<1x16x8x4xf32>) -> tensor<1x16x8x4xf32>
  %longer = tensor.pad %tanh low[0, 2, 0, 0] high[0, 0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x16x8x4xf32> to tensor<1x18x8x4xf32>
  %e3 = tensor.empty() : tensor<1x9x8x4xf32>
  %half = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b * 2, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
                          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%longer : tensor<1x18x8x4xf32>) outs(%e3 : tensor<1x9x8x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %x : f32
    linalg.yield %y : f32
  } -> tensor<1x9x8x4xf32>
  return %conv, %pool, %half : tensor<1x16x8x4xf32>, tensor<1x8x8x4xf32>, tensor<1x9x8x4xf32>
}
