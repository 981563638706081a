// Named convolutions, split along what their windows move over: halos of neighbors, strides, dilations, groups, zero points.
// RUN: shard-run %s --mesh x=2
// RUN: shard-run %s --mesh x=3 --strategy follow
// RUN: shard-run %s --mesh y=4
// RUN: shard-run %s --mesh 2x2 --strategy follow
// RUN: shard-run %s --mesh 3x2 --launch processes

shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @main(%a1: tensor<2x14x3xf32> {tp.sharding = [[], ["x"], []]}, %k1: tensor<3x3x5xf32>,
                %a2: tensor<2x3x15xf32> {tp.sharding = [[], [], ["y"]]}, %k2: tensor<5x3x4xf32>,
                %a3: tensor<1x13x12x3xf32> {tp.sharding = [[], ["x"], ["y"], []]}, %k3: tensor<3x2x3x4xf32>,
                %a4: tensor<1x3x12x13xf32> {tp.sharding = [[], [], ["x"], ["y"]]}, %k4: tensor<4x3x3x3xf32>,
                %a5: tensor<1x6x7x5x2xf32> {tp.sharding = [[], ["x"], ["y"], [], []]}, %k5: tensor<2x3x2x2x3xf32>)
    -> (tensor<2x12x5xf32>, tensor<2x5x6xf32>, tensor<1x5x9x4xf32>, tensor<1x4x5x7xf32>, tensor<1x5x5x4x3xf32>) {
  %z = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<2x12x5xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<2x12x5xf32>) -> tensor<2x12x5xf32>
  %1 = linalg.conv_1d_nwc_wcf {tp.sharding = [[[], ["x"], []]], dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>}
      ins(%a1, %k1 : tensor<2x14x3xf32>, tensor<3x3x5xf32>) outs(%f1 : tensor<2x12x5xf32>) -> tensor<2x12x5xf32>
  %e2 = tensor.empty() : tensor<2x5x6xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %2 = linalg.conv_1d_ncw_fcw {tp.sharding = [[[], [], ["y"]]], dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>}
      ins(%a2, %k2 : tensor<2x3x15xf32>, tensor<5x3x4xf32>) outs(%f2 : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  %e3 = tensor.empty() : tensor<1x5x9x4xf32>
  %f3 = linalg.fill ins(%z : f32) outs(%e3 : tensor<1x5x9x4xf32>) -> tensor<1x5x9x4xf32>
  %3 = linalg.conv_2d_nhwc_hwcf {tp.sharding = [[[], ["x"], ["y"], []]], dilations = dense<[2, 3]> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>}
      ins(%a3, %k3 : tensor<1x13x12x3xf32>, tensor<3x2x3x4xf32>) outs(%f3 : tensor<1x5x9x4xf32>) -> tensor<1x5x9x4xf32>
  %e4 = tensor.empty() : tensor<1x4x5x7xf32>
  %f4 = linalg.fill ins(%z : f32) outs(%e4 : tensor<1x4x5x7xf32>) -> tensor<1x4x5x7xf32>
  %4 = linalg.conv_2d_nchw_fchw {tp.sharding = [[[], [], ["x"], ["y"]]], dilations = dense<[1, 3]> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>}
      ins(%a4, %k4 : tensor<1x3x12x13xf32>, tensor<4x3x3x3xf32>) outs(%f4 : tensor<1x4x5x7xf32>) -> tensor<1x4x5x7xf32>
  %e5 = tensor.empty() : tensor<1x5x5x4x3xf32>
  %f5 = linalg.fill ins(%z : f32) outs(%e5 : tensor<1x5x5x4x3xf32>) -> tensor<1x5x5x4x3xf32>
  %5 = linalg.conv_3d_ndhwc_dhwcf {tp.sharding = [[[], ["x"], ["y"], [], []]], dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>}
      ins(%a5, %k5 : tensor<1x6x7x5x2xf32>, tensor<2x3x2x2x3xf32>) outs(%f5 : tensor<1x5x5x4x3xf32>) -> tensor<1x5x5x4x3xf32>
  return %1, %2, %3, %4, %5 : tensor<2x12x5xf32>, tensor<2x5x6xf32>, tensor<1x5x9x4xf32>, tensor<1x4x5x7xf32>, tensor<1x5x5x4x3xf32>
}
