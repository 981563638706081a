// Quantized convolutions by name: their sums are no contractions.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 3x1 --strategy follow
// RUN: shard-run %s --mesh 2x2 --strategy follow

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(
    %a0_0: tensor<3x7x6x4xi8> {tp.sharding = [["x"], ["y"], [], []]}, %a0_1: tensor<3x2x4x6xi8>, %o0: tensor<3x5x5x6xi32>,
    %a1_0: tensor<3x7x6x4xi8>, %a1_1: tensor<6x3x2x4xi8> {tp.sharding = [[], [], ["x", "y"], []]}, %o1: tensor<3x5x5x6xi32>,
    %a2_0: tensor<3x4x7x6xi8> {tp.sharding = [[], [], ["x", "y"], []]}, %a2_1: tensor<6x4x3x2xi8>, %o2: tensor<3x6x5x5xi32>,
    %a3_0: tensor<3x7x6x2x4xi8>, %a3_1: tensor<2x6x3x2x4xi8> {tp.sharding = [[], [], [], ["y"], ["x"]]}, %o3: tensor<3x5x5x2x6xi32>,
    %a4_0: tensor<3x2x4x7x6xi8> {tp.sharding = [[], [], [], ["y"], ["x"]]}, %a4_1: tensor<2x6x4x3x2xi8>, %o4: tensor<3x2x6x5x5xi32>,
    %a5_0: tensor<3x7x6x5x4xi8>, %a5_1: tensor<3x2x2x4x6xi8> {tp.sharding = [["x"], ["y"], [], [], []]}, %o5: tensor<3x5x5x4x6xi32>,
    %a6_0: tensor<3x7x6x4xi8> {tp.sharding = [["x"], ["y"], [], []]}, %a6_1: tensor<3x2x4xi8>, %o6: tensor<3x5x5x4xi32>,
    %a7_0: tensor<3x7x6x4xi8>, %a7_1: tensor<3x2x4x2xi8> {tp.sharding = [[], [], ["x", "y"], []]}, %o7: tensor<3x5x5x4x2xi32>)
    -> (tensor<3x5x5x6xi32>, tensor<3x5x5x6xi32> {tp.sharding = [[], [], ["x", "y"], []]},
        tensor<3x6x5x5xi32> {tp.sharding = [["x"], ["y"], [], []]}, tensor<3x5x5x2x6xi32>,
        tensor<3x2x6x5x5xi32> {tp.sharding = [[], [], ["x", "y"], [], []]},
        tensor<3x5x5x4x6xi32> {tp.sharding = [["x"], ["y"], [], [], []]}, tensor<3x5x5x4xi32>,
        tensor<3x5x5x4x2xi32> {tp.sharding = [[], [], ["x", "y"], [], []]}) {
  %c0_2 = arith.constant 3 : i32
  %c0_3 = arith.constant 3 : i32
  %r0 = linalg.conv_2d_nhwc_hwcf_q {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>} ins(%a0_0, %a0_1, %c0_2, %c0_3 : tensor<3x7x6x4xi8>, tensor<3x2x4x6xi8>, i32, i32) outs(%o0 : tensor<3x5x5x6xi32>) -> tensor<3x5x5x6xi32>
  %c1_2 = arith.constant 3 : i32
  %c1_3 = arith.constant 3 : i32
  %r1 = linalg.conv_2d_nhwc_fhwc_q {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>} ins(%a1_0, %a1_1, %c1_2, %c1_3 : tensor<3x7x6x4xi8>, tensor<6x3x2x4xi8>, i32, i32) outs(%o1 : tensor<3x5x5x6xi32>) -> tensor<3x5x5x6xi32>
  %c2_2 = arith.constant 3 : i32
  %c2_3 = arith.constant 3 : i32
  %r2 = linalg.conv_2d_nchw_fchw_q {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>} ins(%a2_0, %a2_1, %c2_2, %c2_3 : tensor<3x4x7x6xi8>, tensor<6x4x3x2xi8>, i32, i32) outs(%o2 : tensor<3x6x5x5xi32>) -> tensor<3x6x5x5xi32>
  %c3_2 = arith.constant 3 : i32
  %c3_3 = arith.constant 3 : i32
  %r3 = linalg.conv_2d_nhwgc_gfhwc_q {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>} ins(%a3_0, %a3_1, %c3_2, %c3_3 : tensor<3x7x6x2x4xi8>, tensor<2x6x3x2x4xi8>, i32, i32) outs(%o3 : tensor<3x5x5x2x6xi32>) -> tensor<3x5x5x2x6xi32>
  %c4_2 = arith.constant 3 : i32
  %c4_3 = arith.constant 3 : i32
  %r4 = linalg.conv_2d_ngchw_gfchw_q {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>} ins(%a4_0, %a4_1, %c4_2, %c4_3 : tensor<3x2x4x7x6xi8>, tensor<2x6x4x3x2xi8>, i32, i32) outs(%o4 : tensor<3x2x6x5x5xi32>) -> tensor<3x2x6x5x5xi32>
  %c5_2 = arith.constant 3 : i32
  %c5_3 = arith.constant 3 : i32
  %r5 = linalg.conv_3d_ndhwc_dhwcf_q {strides = dense<[1, 1, 1]> : tensor<3xi64>, dilations = dense<[1, 1, 1]> : tensor<3xi64>} ins(%a5_0, %a5_1, %c5_2, %c5_3 : tensor<3x7x6x5x4xi8>, tensor<3x2x2x4x6xi8>, i32, i32) outs(%o5 : tensor<3x5x5x4x6xi32>) -> tensor<3x5x5x4x6xi32>
  %c6_2 = arith.constant 3 : i32
  %c6_3 = arith.constant 3 : i32
  %r6 = linalg.depthwise_conv_2d_nhwc_hwc_q {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>} ins(%a6_0, %a6_1, %c6_2, %c6_3 : tensor<3x7x6x4xi8>, tensor<3x2x4xi8>, i32, i32) outs(%o6 : tensor<3x5x5x4xi32>) -> tensor<3x5x5x4xi32>
  %c7_2 = arith.constant 3 : i32
  %c7_3 = arith.constant 3 : i32
  %r7 = linalg.depthwise_conv_2d_nhwc_hwcm_q {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>} ins(%a7_0, %a7_1, %c7_2, %c7_3 : tensor<3x7x6x4xi8>, tensor<3x2x4x2xi8>, i32, i32) outs(%o7 : tensor<3x5x5x4x2xi32>) -> tensor<3x5x5x4x2xi32>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7
      : tensor<3x5x5x6xi32>, tensor<3x5x5x6xi32>, tensor<3x6x5x5xi32>, tensor<3x5x5x2x6xi32>, tensor<3x2x6x5x5xi32>,
        tensor<3x5x5x4x6xi32>, tensor<3x5x5x4xi32>, tensor<3x5x5x4x2xi32>
}
