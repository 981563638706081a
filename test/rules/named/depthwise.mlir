// Depthwise convolutions by name.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 3x1 --strategy follow
// RUN: shard-run %s --mesh 2x2 --strategy follow

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(
    %a0_0: tensor<3x7x4xf32> {tp.sharding = [["x"], ["y"], []]}, %a0_1: tensor<3x4xf32>, %o0: tensor<3x5x4xf32>,
    %a1_0: tensor<3x4x7xf32>, %a1_1: tensor<4x3xf32> {tp.sharding = [[], ["x", "y"]]}, %o1: tensor<3x4x5xf32>,
    %a2_0: tensor<3x7x4xf32> {tp.sharding = [[], ["x", "y"], []]}, %a2_1: tensor<3x4x2xf32>, %o2: tensor<3x5x4x2xf32>,
    %a3_0: tensor<3x7x6x4xf32>, %a3_1: tensor<3x2x4xf32> {tp.sharding = [[], ["y"], ["x"]]}, %o3: tensor<3x5x5x4xf32>,
    %a4_0: tensor<3x4x7x6xf32> {tp.sharding = [[], [], ["y"], ["x"]]}, %a4_1: tensor<4x3x2xf32>, %o4: tensor<3x4x5x5xf32>,
    %a5_0: tensor<3x7x6x4xf32>, %a5_1: tensor<3x2x4x2xf32> {tp.sharding = [["x"], ["y"], [], []]}, %o5: tensor<3x5x5x4x2xf32>,
    %a6_0: tensor<3x7x6x5x4xf32> {tp.sharding = [["x"], ["y"], [], [], []]}, %a6_1: tensor<3x2x2x4xf32>, %o6: tensor<3x5x5x4x4xf32>,
    %a7_0: tensor<3x4x7x6x5xf32>, %a7_1: tensor<4x3x2x2xf32> {tp.sharding = [[], [], ["x", "y"], []]}, %o7: tensor<3x4x5x5x4xf32>,
    %a8_0: tensor<3x7x6x5x4xf32> {tp.sharding = [[], [], ["x", "y"], [], []]}, %a8_1: tensor<3x2x2x4x2xf32>,
    %o8: tensor<3x5x5x4x4x2xf32>)
    -> (tensor<3x5x4xf32>, tensor<3x4x5xf32> {tp.sharding = [[], ["x", "y"], []]},
        tensor<3x5x4x2xf32> {tp.sharding = [["x"], ["y"], [], []]}, tensor<3x5x5x4xf32>,
        tensor<3x4x5x5xf32> {tp.sharding = [[], [], ["x", "y"], []]}, tensor<3x5x5x4x2xf32> {tp.sharding = [["x"], ["y"], [], [], []]},
        tensor<3x5x5x4x4xf32>, tensor<3x4x5x5x4xf32> {tp.sharding = [[], [], ["x", "y"], [], []]},
        tensor<3x5x5x4x4x2xf32> {tp.sharding = [["x"], ["y"], [], [], [], []]}) {
  %r0 = linalg.depthwise_conv_1d_nwc_wc {strides = dense<[1]> : tensor<1xi64>, dilations = dense<[1]> : tensor<1xi64>} ins(%a0_0, %a0_1 : tensor<3x7x4xf32>, tensor<3x4xf32>) outs(%o0 : tensor<3x5x4xf32>) -> tensor<3x5x4xf32>
  %r1 = linalg.depthwise_conv_1d_ncw_cw {strides = dense<[1]> : tensor<1xi64>, dilations = dense<[1]> : tensor<1xi64>} ins(%a1_0, %a1_1 : tensor<3x4x7xf32>, tensor<4x3xf32>) outs(%o1 : tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  %r2 = linalg.depthwise_conv_1d_nwc_wcm {strides = dense<[1]> : tensor<1xi64>, dilations = dense<[1]> : tensor<1xi64>} ins(%a2_0, %a2_1 : tensor<3x7x4xf32>, tensor<3x4x2xf32>) outs(%o2 : tensor<3x5x4x2xf32>) -> tensor<3x5x4x2xf32>
  %r3 = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>} ins(%a3_0, %a3_1 : tensor<3x7x6x4xf32>, tensor<3x2x4xf32>) outs(%o3 : tensor<3x5x5x4xf32>) -> tensor<3x5x5x4xf32>
  %r4 = linalg.depthwise_conv_2d_nchw_chw {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>} ins(%a4_0, %a4_1 : tensor<3x4x7x6xf32>, tensor<4x3x2xf32>) outs(%o4 : tensor<3x4x5x5xf32>) -> tensor<3x4x5x5xf32>
  %r5 = linalg.depthwise_conv_2d_nhwc_hwcm {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>} ins(%a5_0, %a5_1 : tensor<3x7x6x4xf32>, tensor<3x2x4x2xf32>) outs(%o5 : tensor<3x5x5x4x2xf32>) -> tensor<3x5x5x4x2xf32>
  %r6 = linalg.depthwise_conv_3d_ndhwc_dhwc {strides = dense<[1, 1, 1]> : tensor<3xi64>, dilations = dense<[1, 1, 1]> : tensor<3xi64>} ins(%a6_0, %a6_1 : tensor<3x7x6x5x4xf32>, tensor<3x2x2x4xf32>) outs(%o6 : tensor<3x5x5x4x4xf32>) -> tensor<3x5x5x4x4xf32>
  %r7 = linalg.depthwise_conv_3d_ncdhw_cdhw {strides = dense<[1, 1, 1]> : tensor<3xi64>, dilations = dense<[1, 1, 1]> : tensor<3xi64>} ins(%a7_0, %a7_1 : tensor<3x4x7x6x5xf32>, tensor<4x3x2x2xf32>) outs(%o7 : tensor<3x4x5x5x4xf32>) -> tensor<3x4x5x5x4xf32>
  %r8 = linalg.depthwise_conv_3d_ndhwc_dhwcm {strides = dense<[1, 1, 1]> : tensor<3xi64>, dilations = dense<[1, 1, 1]> : tensor<3xi64>} ins(%a8_0, %a8_1 : tensor<3x7x6x5x4xf32>, tensor<3x2x2x4x2xf32>) outs(%o8 : tensor<3x5x5x4x4x2xf32>) -> tensor<3x5x5x4x4x2xf32>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8
      : tensor<3x5x4xf32>, tensor<3x4x5xf32>, tensor<3x5x4x2xf32>, tensor<3x5x5x4xf32>, tensor<3x4x5x5xf32>, tensor<3x5x5x4x2xf32>,
        tensor<3x5x5x4x4xf32>, tensor<3x4x5x5x4xf32>, tensor<3x5x5x4x4x2xf32>
}
