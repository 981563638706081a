// Gradients of a convolution as exporters write them: for the input a padded convolution with the kernel turned around, for the kernel a
// convolution with the gradient as a large kernel (the sum over its rows is split), once named and once generic, and a strided one with the
// gradient spread out.
// RUN: shard-run %s --mesh x=2
// RUN: shard-run %s --mesh x=2,y=2 --strategy follow
// RUN: shard-run %s --mesh x=3 --strategy follow
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=x=4})' | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: linalg.conv_2d_nhwc_hwcf {{.*}} ins(%{{.*}}, %{{.*}} : tensor<3x5x14x2xf32>, tensor<3x12x2x4xf32>)
// CHECK: shard.reduce_scatter %{{.*}} : tensor<3x3x3x4xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x5x14x3xf32>, tensor<2x3x12x4xf32>)
// CHECK: shard.reduce_scatter %{{.*}} : tensor<3x3x3x4xf32>
shard.grid @mesh(shape = 4x1) {tp.axes = ["x", "y"]}
func.func @main(%x: tensor<2x14x14x3xf32> {tp.sharding = [["y"], ["x"], [], []]}, %k: tensor<3x3x3x4xf32>,
                %g: tensor<2x12x12x4xf32> {tp.sharding = [["y"], ["x"], [], []]}, %g2: tensor<2x6x12x4xf32> {tp.sharding = [["y"], ["x"], [], []]})
    -> (tensor<2x14x14x3xf32>, tensor<3x3x3x4xf32>, tensor<3x3x3x4xf32>, tensor<2x13x14x3xf32>) {
  %z = arith.constant 0.0 : f32
  // The kernel, turned around along both of its window dimensions and with its channels exchanged.
  %ek = tensor.empty() : tensor<3x3x4x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (2 - d0, 2 - d1, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%k : tensor<3x3x3x4xf32>) outs(%ek : tensor<3x3x4x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<3x3x4x3xf32>
  // The gradient of the input.
  %p = tensor.pad %g low[0, 2, 2, 0] high[0, 2, 2, 0] {
  ^bb0(%i: index, %j: index, %l: index, %m: index):
    tensor.yield %z : f32
  } : tensor<2x12x12x4xf32> to tensor<2x16x16x4xf32>
  %ex = tensor.empty() : tensor<2x14x14x3xf32>
  %fx = linalg.fill ins(%z : f32) outs(%ex : tensor<2x14x14x3xf32>) -> tensor<2x14x14x3xf32>
  %dx = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%p, %r : tensor<2x16x16x4xf32>, tensor<3x3x4x3xf32>) outs(%fx : tensor<2x14x14x3xf32>) -> tensor<2x14x14x3xf32>
  // The gradient of the kernel: channels are the batch, the batch is summed over.
  %et = tensor.empty() : tensor<3x14x14x2xf32>
  %xt = linalg.transpose ins(%x : tensor<2x14x14x3xf32>) outs(%et : tensor<3x14x14x2xf32>) permutation = [3, 1, 2, 0]
  %eg = tensor.empty() : tensor<12x12x2x4xf32>
  %gt = linalg.transpose ins(%g : tensor<2x12x12x4xf32>) outs(%eg : tensor<12x12x2x4xf32>) permutation = [1, 2, 0, 3]
  %ed = tensor.empty() : tensor<3x3x3x4xf32>
  %fd = linalg.fill ins(%z : f32) outs(%ed : tensor<3x3x3x4xf32>) -> tensor<3x3x3x4xf32>
  %dk = linalg.conv_2d_nhwc_hwcf {tp.factors = {x = 4}, dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%xt, %gt : tensor<3x14x14x2xf32>, tensor<12x12x2x4xf32>) outs(%fd : tensor<3x3x3x4xf32>) -> tensor<3x3x3x4xf32>
  %dg = linalg.generic {tp.factors = {x = 5}, indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5 + d0, d6 + d1, d2)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3)>,
                                         affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>],
                        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %g : tensor<2x14x14x3xf32>, tensor<2x12x12x4xf32>) outs(%fd : tensor<3x3x3x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.mulf %a, %b : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<3x3x3x4xf32>
  // The gradient of the input of a convolution with stride 2: the rows of its result stand apart, with zeros between them.
  %e2 = tensor.empty() : tensor<2x15x16x4xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<2x15x16x4xf32>) -> tensor<2x15x16x4xf32>
  %s2 = tensor.insert_slice %g2 into %f2[0, 2, 2, 0] [2, 6, 12, 4] [1, 2, 1, 1] : tensor<2x6x12x4xf32> into tensor<2x15x16x4xf32>
  %ex2 = tensor.empty() : tensor<2x13x14x3xf32>
  %fx2 = linalg.fill ins(%z : f32) outs(%ex2 : tensor<2x13x14x3xf32>) -> tensor<2x13x14x3xf32>
  %dx2 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%s2, %r : tensor<2x15x16x4xf32>, tensor<3x3x4x3xf32>) outs(%fx2 : tensor<2x13x14x3xf32>) -> tensor<2x13x14x3xf32>
  return %dx, %dk, %dg, %dx2 : tensor<2x14x14x3xf32>, tensor<3x3x3x4xf32>, tensor<3x3x3x4xf32>, tensor<2x13x14x3xf32>
}
