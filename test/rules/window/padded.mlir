// Windows over padded images: each device fetches its halo of the image once and pads at the edges alone. Padding of one side, wider than a
// shard, of other numbers than zero, along what is not split; strides, dilations, sizes that axes do not divide, shards that are empty; one pad with
// several users; gradients, with windows that run backwards or are summed over.
// RUN: shard-run %s --mesh x=2
// RUN: shard-run %s --mesh x=3 --strategy follow
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh y=5 --strategy follow
// RUN: shard-run %s --mesh 2x2 --strategy follow
// RUN: shard-run %s --mesh 3x2 --launch processes

shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}

#image = affine_map<(b, h, w, f, r, s, c) -> (b, h + r, w + s, c)>
#backwards = affine_map<(b, h, w, f, r, s, c) -> (b, h - r + 2, w - s + 2, c)>
#kernel = affine_map<(b, h, w, f, r, s, c) -> (r, s, c, f)>
#out = affine_map<(b, h, w, f, r, s, c) -> (b, h, w, f)>
#read = affine_map<(r, s, c, f, b, h, w) -> (b, h + r, w + s, c)>
#gradient = affine_map<(r, s, c, f, b, h, w) -> (b, h, w, f)>
#weight = affine_map<(r, s, c, f, b, h, w) -> (r, s, c, f)>

func.func @main(%a: tensor<2x12x9x3xf32> {tp.sharding = [[], ["x"], ["y"], []]}, %k: tensor<3x3x3x4xf32>, %g: tensor<2x12x9x4xf32> {tp.sharding = [[], ["x"], ["y"], []]},
                %b: tensor<5x2xi32> {tp.sharding = [["x"], []]}, %kb: tensor<4x2x3xi32>, %c: tensor<2x11x3xf32> {tp.sharding = [[], ["x", "y"], []]})
    -> (tensor<2x12x9x4xf32>, tensor<2x6x3x4xf32>, tensor<2x12x11x3xf32>, tensor<2x12x9x3xf32>, tensor<3x3x3x4xf32>, tensor<1x10x3xi32>, tensor<2x7x3xf32>, tensor<2x9x3xf32>) {
  %z = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %seven = arith.constant 7 : i32
  %zi = arith.constant 0 : i32
  %low = arith.constant 0xFF800000 : f32
  // The same size: one pad for a convolution and for the gradient of its kernel.
  %p = tensor.pad %a low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %l: index, %m: index):
    tensor.yield %z : f32
  } : tensor<2x12x9x3xf32> to tensor<2x14x11x3xf32>
  %e0 = tensor.empty() : tensor<2x12x9x4xf32>
  %f0 = linalg.fill ins(%z : f32) outs(%e0 : tensor<2x12x9x4xf32>) -> tensor<2x12x9x4xf32>
  %0 = linalg.generic {tp.sharding = [[[], ["x"], ["y"], []]], indexing_maps = [#image, #kernel, #out],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p, %k : tensor<2x14x11x3xf32>, tensor<3x3x3x4xf32>) outs(%f0 : tensor<2x12x9x4xf32>) {
  ^bb0(%x: f32, %w: f32, %o: f32):
    %q = arith.mulf %x, %w : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<2x12x9x4xf32>
  // Stride and dilation, asymmetric, and twos instead of zeros.
  %p1 = tensor.pad %a low[0, 0, 2, 0] high[0, 1, 0, 0] {
  ^bb0(%i: index, %j: index, %l: index, %m: index):
    tensor.yield %two : f32
  } : tensor<2x12x9x3xf32> to tensor<2x13x11x3xf32>
  %e1 = tensor.empty() : tensor<2x6x3x4xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<2x6x3x4xf32>) -> tensor<2x6x3x4xf32>
  %1 = linalg.conv_2d_nhwc_hwcf {tp.sharding = [[[], ["x"], ["y"], []]], dilations = dense<[1, 2]> : tensor<2xi64>, strides = dense<[2, 3]> : tensor<2xi64>}
      ins(%p1, %k : tensor<2x13x11x3xf32>, tensor<3x3x3x4xf32>) outs(%f1 : tensor<2x6x3x4xf32>) -> tensor<2x6x3x4xf32>
  // A pooling, of the lowest number where there is nothing; rows are padded wider than some shards.
  %p2 = tensor.pad %a low[0, 7, 1, 0] high[0, 0, 2, 0] {
  ^bb0(%i: index, %j: index, %l: index, %m: index):
    tensor.yield %low : f32
  } : tensor<2x12x9x3xf32> to tensor<2x19x12x3xf32>
  %e2 = tensor.empty() : tensor<2x12x11x3xf32>
  %w2 = tensor.empty() : tensor<8x2xf32>
  %f2 = linalg.fill ins(%low : f32) outs(%e2 : tensor<2x12x11x3xf32>) -> tensor<2x12x11x3xf32>
  %2 = linalg.pooling_nhwc_max {tp.sharding = [[[], ["x"], ["y"], []]], dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%p2, %w2 : tensor<2x19x12x3xf32>, tensor<8x2xf32>) outs(%f2 : tensor<2x12x11x3xf32>) -> tensor<2x12x11x3xf32>
  // The gradient of the input: the window runs backwards.
  %p3 = tensor.pad %g low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %l: index, %m: index):
    tensor.yield %z : f32
  } : tensor<2x12x9x4xf32> to tensor<2x14x11x4xf32>
  %ek = tensor.empty() : tensor<3x3x4x3xf32>
  %kt = linalg.transpose ins(%k : tensor<3x3x3x4xf32>) outs(%ek : tensor<3x3x4x3xf32>) permutation = [0, 1, 3, 2]
  %e3 = tensor.empty() : tensor<2x12x9x3xf32>
  %f3 = linalg.fill ins(%z : f32) outs(%e3 : tensor<2x12x9x3xf32>) -> tensor<2x12x9x3xf32>
  %3 = linalg.generic {tp.sharding = [[[], ["x"], ["y"], []]], indexing_maps = [#backwards, #kernel, #out],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p3, %kt : tensor<2x14x11x4xf32>, tensor<3x3x4x3xf32>) outs(%f3 : tensor<2x12x9x3xf32>) {
  ^bb0(%x: f32, %w: f32, %o: f32):
    %q = arith.mulf %x, %w : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<2x12x9x3xf32>
  // The gradient of the kernel: the sum over the rows is split.
  %e4 = tensor.empty() : tensor<3x3x3x4xf32>
  %f4 = linalg.fill ins(%z : f32) outs(%e4 : tensor<3x3x3x4xf32>) -> tensor<3x3x3x4xf32>
  %4 = linalg.generic {indexing_maps = [#read, #gradient, #weight],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p, %g : tensor<2x14x11x3xf32>, tensor<2x12x9x4xf32>) outs(%f4 : tensor<3x3x3x4xf32>) {
  ^bb0(%x: f32, %d: f32, %o: f32):
    %q = arith.mulf %x, %d : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<3x3x3x4xf32>
  // More padding than image, channels padded too: the last devices have nothing of the 5 rows, and windows that see padding alone.
  %b1 = tensor.expand_shape %b [[0, 1], [2]] output_shape [1, 5, 2] : tensor<5x2xi32> into tensor<1x5x2xi32>
  %p5 = tensor.pad %b1 low[0, 3, 0] high[0, 5, 0] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %seven : i32
  } : tensor<1x5x2xi32> to tensor<1x13x2xi32>
  %e5 = tensor.empty() : tensor<1x10x3xi32>
  %f5 = linalg.fill ins(%zi : i32) outs(%e5 : tensor<1x10x3xi32>) -> tensor<1x10x3xi32>
  %5 = linalg.conv_1d_nwc_wcf {tp.sharding = [[[], ["x"], []]], dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>}
      ins(%p5, %kb : tensor<1x13x2xi32>, tensor<4x2x3xi32>) outs(%f5 : tensor<1x10x3xi32>) -> tensor<1x10x3xi32>
  // Two axes, uneven; a batch that is padded is no window. The sum reaches over padding.
  %p6 = tensor.pad %c low[0, 2, 0] high[0, 2, 0] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %two : f32
  } : tensor<2x11x3xf32> to tensor<2x15x3xf32>
  %w6 = tensor.empty() : tensor<3xf32>
  %e6 = tensor.empty() : tensor<2x7x3xf32>
  %f6 = linalg.fill ins(%z : f32) outs(%e6 : tensor<2x7x3xf32>) -> tensor<2x7x3xf32>
  %6 = linalg.pooling_nwc_sum {tp.sharding = [[[], ["x", "y"], []]], dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>}
      ins(%p6, %w6 : tensor<2x15x3xf32>, tensor<3xf32>) outs(%f6 : tensor<2x7x3xf32>) -> tensor<2x7x3xf32>
  %w7 = tensor.empty() : tensor<4xf32>
  %e7 = tensor.empty() : tensor<2x9x3xf32>
  %f7 = linalg.fill ins(%low : f32) outs(%e7 : tensor<2x9x3xf32>) -> tensor<2x9x3xf32>
  %7 = linalg.pooling_nwc_max {tp.sharding = [[[], ["y"], ["x"]]], dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>}
      ins(%p6, %w7 : tensor<2x15x3xf32>, tensor<4xf32>) outs(%f7 : tensor<2x9x3xf32>) -> tensor<2x9x3xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2x12x9x4xf32>, tensor<2x6x3x4xf32>, tensor<2x12x11x3xf32>, tensor<2x12x9x3xf32>, tensor<3x3x3x4xf32>, tensor<1x10x3xi32>, tensor<2x7x3xf32>, tensor<2x9x3xf32>
}
