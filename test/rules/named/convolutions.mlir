// Convolutions by name, with strides, dilations and groups.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 3x1 --strategy follow
// RUN: shard-run %s --mesh 2x2 --strategy follow

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(
    %a0_0: tensor<7xf32> {tp.sharding = [["x"]]}, %a0_1: tensor<3xf32>, %o0: tensor<5xf32>, %a1_0: tensor<7x6xf32>,
    %a1_1: tensor<3x2xf32> {tp.sharding = [[], ["x", "y"]]}, %o1: tensor<5x5xf32>,
    %a2_0: tensor<7x6x5xf32> {tp.sharding = [[], ["x", "y"], []]}, %a2_1: tensor<3x2x2xf32>, %o2: tensor<5x5x4xf32>,
    %a3_0: tensor<3x7x4xf32>, %a3_1: tensor<3x4x6xf32> {tp.sharding = [[], ["y"], ["x"]]}, %o3: tensor<3x5x6xf32>,
    %a4_0: tensor<3x4x7xf32> {tp.sharding = [[], ["y"], ["x"]]}, %a4_1: tensor<6x4x3xf32>, %o4: tensor<3x6x5xf32>,
    %a5_0: tensor<3x7x6x4xf32>, %a5_1: tensor<3x2x4x6xf32> {tp.sharding = [["x"], ["y"], [], []]}, %o5: tensor<3x5x5x6xf32>,
    %a6_0: tensor<3x7x6x4xf32> {tp.sharding = [["x"], ["y"], [], []]}, %a6_1: tensor<6x3x2x4xf32>, %o6: tensor<3x5x5x6xf32>,
    %a7_0: tensor<3x4x7x6xf32>, %a7_1: tensor<6x4x3x2xf32> {tp.sharding = [[], [], ["x", "y"], []]}, %o7: tensor<3x6x5x5xf32>,
    %a8_0: tensor<3x2x4x7x6xf32> {tp.sharding = [[], [], ["x", "y"], [], []]}, %a8_1: tensor<6x2x4x3x2xf32>,
    %o8: tensor<3x2x6x5x5xf32>, %a9_0: tensor<3x2x4x7x6xf32>,
    %a9_1: tensor<2x6x4x3x2xf32> {tp.sharding = [[], [], [], ["y"], ["x"]]}, %o9: tensor<3x2x6x5x5xf32>,
    %a10_0: tensor<3x7x6x2x4xf32> {tp.sharding = [[], [], [], ["y"], ["x"]]}, %a10_1: tensor<2x6x3x2x4xf32>,
    %o10: tensor<3x5x5x2x6xf32>, %a11_0: tensor<3x7x6x5x4xf32>,
    %a11_1: tensor<3x2x2x4x6xf32> {tp.sharding = [["x"], ["y"], [], [], []]}, %o11: tensor<3x5x5x4x6xf32>,
    %a12_0: tensor<3x4x7x6x5xf32> {tp.sharding = [["x"], ["y"], [], [], []]}, %a12_1: tensor<6x4x3x2x2xf32>,
    %o12: tensor<3x6x5x5x4xf32>, %a13_0: tensor<3x7x6x4xf32>, %a13_1: tensor<3x2x4x6xf32> {tp.sharding = [[], [], ["x", "y"], []]},
    %o13: tensor<3x3x4x6xf32>)
    -> (tensor<5xf32>, tensor<5x5xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x5x4xf32> {tp.sharding = [["x"], ["y"], []]},
        tensor<3x5x6xf32>, tensor<3x6x5xf32> {tp.sharding = [[], ["x", "y"], []]},
        tensor<3x5x5x6xf32> {tp.sharding = [["x"], ["y"], [], []]}, tensor<3x5x5x6xf32>,
        tensor<3x6x5x5xf32> {tp.sharding = [[], [], ["x", "y"], []]}, tensor<3x2x6x5x5xf32> {tp.sharding = [["x"], ["y"], [], [], []]},
        tensor<3x2x6x5x5xf32>, tensor<3x5x5x2x6xf32> {tp.sharding = [[], [], ["x", "y"], [], []]},
        tensor<3x5x5x4x6xf32> {tp.sharding = [["x"], ["y"], [], [], []]}, tensor<3x6x5x5x4xf32>,
        tensor<3x3x4x6xf32> {tp.sharding = [[], [], ["x", "y"], []]}) {
  %r0 = linalg.conv_1d  ins(%a0_0, %a0_1 : tensor<7xf32>, tensor<3xf32>) outs(%o0 : tensor<5xf32>) -> tensor<5xf32>
  %r1 = linalg.conv_2d  ins(%a1_0, %a1_1 : tensor<7x6xf32>, tensor<3x2xf32>) outs(%o1 : tensor<5x5xf32>) -> tensor<5x5xf32>
  %r2 = linalg.conv_3d  ins(%a2_0, %a2_1 : tensor<7x6x5xf32>, tensor<3x2x2xf32>) outs(%o2 : tensor<5x5x4xf32>) -> tensor<5x5x4xf32>
  %r3 = linalg.conv_1d_nwc_wcf {strides = dense<[1]> : tensor<1xi64>, dilations = dense<[1]> : tensor<1xi64>} ins(%a3_0, %a3_1 : tensor<3x7x4xf32>, tensor<3x4x6xf32>) outs(%o3 : tensor<3x5x6xf32>) -> tensor<3x5x6xf32>
  %r4 = linalg.conv_1d_ncw_fcw {strides = dense<[1]> : tensor<1xi64>, dilations = dense<[1]> : tensor<1xi64>} ins(%a4_0, %a4_1 : tensor<3x4x7xf32>, tensor<6x4x3xf32>) outs(%o4 : tensor<3x6x5xf32>) -> tensor<3x6x5xf32>
  %r5 = linalg.conv_2d_nhwc_hwcf {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>} ins(%a5_0, %a5_1 : tensor<3x7x6x4xf32>, tensor<3x2x4x6xf32>) outs(%o5 : tensor<3x5x5x6xf32>) -> tensor<3x5x5x6xf32>
  %r6 = linalg.conv_2d_nhwc_fhwc {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>} ins(%a6_0, %a6_1 : tensor<3x7x6x4xf32>, tensor<6x3x2x4xf32>) outs(%o6 : tensor<3x5x5x6xf32>) -> tensor<3x5x5x6xf32>
  %r7 = linalg.conv_2d_nchw_fchw {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>} ins(%a7_0, %a7_1 : tensor<3x4x7x6xf32>, tensor<6x4x3x2xf32>) outs(%o7 : tensor<3x6x5x5xf32>) -> tensor<3x6x5x5xf32>
  %r8 = linalg.conv_2d_ngchw_fgchw {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>} ins(%a8_0, %a8_1 : tensor<3x2x4x7x6xf32>, tensor<6x2x4x3x2xf32>) outs(%o8 : tensor<3x2x6x5x5xf32>) -> tensor<3x2x6x5x5xf32>
  %r9 = linalg.conv_2d_ngchw_gfchw {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>} ins(%a9_0, %a9_1 : tensor<3x2x4x7x6xf32>, tensor<2x6x4x3x2xf32>) outs(%o9 : tensor<3x2x6x5x5xf32>) -> tensor<3x2x6x5x5xf32>
  %r10 = linalg.conv_2d_nhwgc_gfhwc {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>} ins(%a10_0, %a10_1 : tensor<3x7x6x2x4xf32>, tensor<2x6x3x2x4xf32>) outs(%o10 : tensor<3x5x5x2x6xf32>) -> tensor<3x5x5x2x6xf32>
  %r11 = linalg.conv_3d_ndhwc_dhwcf {strides = dense<[1, 1, 1]> : tensor<3xi64>, dilations = dense<[1, 1, 1]> : tensor<3xi64>} ins(%a11_0, %a11_1 : tensor<3x7x6x5x4xf32>, tensor<3x2x2x4x6xf32>) outs(%o11 : tensor<3x5x5x4x6xf32>) -> tensor<3x5x5x4x6xf32>
  %r12 = linalg.conv_3d_ncdhw_fcdhw {strides = dense<[1, 1, 1]> : tensor<3xi64>, dilations = dense<[1, 1, 1]> : tensor<3xi64>} ins(%a12_0, %a12_1 : tensor<3x4x7x6x5xf32>, tensor<6x4x3x2x2xf32>) outs(%o12 : tensor<3x6x5x5x4xf32>) -> tensor<3x6x5x5x4xf32>
  %r13 = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<[1, 2]> : tensor<2xi64>} ins(%a13_0, %a13_1 : tensor<3x7x6x4xf32>, tensor<3x2x4x6xf32>) outs(%o13 : tensor<3x3x4x6xf32>) -> tensor<3x3x4x6xf32>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13
      : tensor<5xf32>, tensor<5x5xf32>, tensor<5x5x4xf32>, tensor<3x5x6xf32>, tensor<3x6x5xf32>, tensor<3x5x5x6xf32>,
        tensor<3x5x5x6xf32>, tensor<3x6x5x5xf32>, tensor<3x2x6x5x5xf32>, tensor<3x2x6x5x5xf32>, tensor<3x5x5x2x6xf32>,
        tensor<3x5x5x4x6xf32>, tensor<3x6x5x5x4xf32>, tensor<3x3x4x6xf32>
}
