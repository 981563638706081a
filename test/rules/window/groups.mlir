// Convolutions by channel and by group, and of quantized numbers, split along what their windows move over and along the groups.
// RUN: shard-run %s --mesh x=2
// RUN: shard-run %s --mesh x=4 --strategy follow
// RUN: shard-run %s --mesh 2x3
// RUN: shard-run %s --mesh 3x2 --strategy follow

shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @main(%a1: tensor<2x10x9x6xf32> {tp.sharding = [[], ["x"], [], ["y"]]}, %k1: tensor<3x2x6xf32>,
                %k2: tensor<3x2x6x2xf32>,
                %a3: tensor<1x6x2x9x8xf32> {tp.sharding = [[], ["y"], [], ["x"], []]}, %k3: tensor<3x6x2x3x3xf32>,
                %a4: tensor<1x9x9x3xi8> {tp.sharding = [[], ["x"], ["y"], []]}, %k4: tensor<3x3x3x4xi8>,
                %a5: tensor<2x12x3xf32> {tp.sharding = [[], ["x"], []]}, %k5: tensor<3x3xf32>)
    -> (tensor<2x8x8x6xf32>, tensor<2x8x8x6x2xf32>, tensor<1x6x3x7x6xf32>, tensor<1x7x7x4xi32>, tensor<2x5x3xf32>) {
  %z = arith.constant 0.0 : f32
  %zi = arith.constant 0 : i32
  %xz = arith.constant 3 : i32
  %kz = arith.constant -2 : i32
  %e1 = tensor.empty() : tensor<2x8x8x6xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<2x8x8x6xf32>) -> tensor<2x8x8x6xf32>
  %1 = linalg.depthwise_conv_2d_nhwc_hwc {tp.sharding = [[[], ["x"], [], ["y"]]], dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%a1, %k1 : tensor<2x10x9x6xf32>, tensor<3x2x6xf32>) outs(%f1 : tensor<2x8x8x6xf32>) -> tensor<2x8x8x6xf32>
  %e2 = tensor.empty() : tensor<2x8x8x6x2xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<2x8x8x6x2xf32>) -> tensor<2x8x8x6x2xf32>
  %2 = linalg.depthwise_conv_2d_nhwc_hwcm {tp.sharding = [[[], ["x"], [], ["y"], []]], dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%a1, %k2 : tensor<2x10x9x6xf32>, tensor<3x2x6x2xf32>) outs(%f2 : tensor<2x8x8x6x2xf32>) -> tensor<2x8x8x6x2xf32>
  %e3 = tensor.empty() : tensor<1x6x3x7x6xf32>
  %f3 = linalg.fill ins(%z : f32) outs(%e3 : tensor<1x6x3x7x6xf32>) -> tensor<1x6x3x7x6xf32>
  %3 = linalg.conv_2d_ngchw_fgchw {tp.sharding = [[[], ["y"], [], ["x"], []]], dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%a3, %k3 : tensor<1x6x2x9x8xf32>, tensor<3x6x2x3x3xf32>) outs(%f3 : tensor<1x6x3x7x6xf32>) -> tensor<1x6x3x7x6xf32>
  %e4 = tensor.empty() : tensor<1x7x7x4xi32>
  %f4 = linalg.fill ins(%zi : i32) outs(%e4 : tensor<1x7x7x4xi32>) -> tensor<1x7x7x4xi32>
  %4 = linalg.conv_2d_nhwc_hwcf_q {tp.sharding = [[[], ["x"], ["y"], []]], dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%a4, %k4, %xz, %kz : tensor<1x9x9x3xi8>, tensor<3x3x3x4xi8>, i32, i32) outs(%f4 : tensor<1x7x7x4xi32>) -> tensor<1x7x7x4xi32>
  %e5 = tensor.empty() : tensor<2x5x3xf32>
  %f5 = linalg.fill ins(%z : f32) outs(%e5 : tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
  %5 = linalg.depthwise_conv_1d_nwc_wc {tp.sharding = [[[], ["x"], []]], dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>}
      ins(%a5, %k5 : tensor<2x12x3xf32>, tensor<3x3xf32>) outs(%f5 : tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
  return %1, %2, %3, %4, %5 : tensor<2x8x8x6xf32>, tensor<2x8x8x6x2xf32>, tensor<1x6x3x7x6xf32>, tensor<1x7x7x4xi32>, tensor<2x5x3xf32>
}
