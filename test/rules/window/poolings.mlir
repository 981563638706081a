// Poolings: windows that overlap, that touch, that leave gaps, and that reach over several devices.
// RUN: shard-run %s --mesh x=2
// RUN: shard-run %s --mesh x=3 --strategy follow
// RUN: shard-run %s --mesh y=4
// RUN: shard-run %s --mesh 2x3 --strategy follow

shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<2x12x12x3xf32> {tp.sharding = [[], ["x"], ["y"], []]}, %b: tensor<1x2x14x12xi32> {tp.sharding = [[], [], ["x"], ["y"]]},
                %c: tensor<2x13x3xf32> {tp.sharding = [[], ["y"], []]})
    -> (tensor<2x6x6x3xf32>, tensor<2x10x10x3xf32>, tensor<2x4x3x3xf32>, tensor<1x2x7x4xi32>, tensor<2x5x3xf32>, tensor<1x7x6x2xi32>) {
  %z = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %high = arith.constant 0x7F800000 : f32
  %least = arith.constant -2147483648 : i32
  %zi = arith.constant 0 : i32
  %w2 = tensor.empty() : tensor<2x2xf32>
  %w3 = tensor.empty() : tensor<3x3xf32>
  %w1 = tensor.empty() : tensor<9xf32>
  %wi = tensor.empty() : tensor<2x3xi32>
  %w1i = tensor.empty() : tensor<2x2xi32>
  %e1 = tensor.empty() : tensor<2x6x6x3xf32>
  %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<2x6x6x3xf32>) -> tensor<2x6x6x3xf32>
  %1 = linalg.pooling_nhwc_max {tp.sharding = [[[], ["x"], ["y"], []]], dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%a, %w2 : tensor<2x12x12x3xf32>, tensor<2x2xf32>) outs(%f1 : tensor<2x6x6x3xf32>) -> tensor<2x6x6x3xf32>
  %e2 = tensor.empty() : tensor<2x10x10x3xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<2x10x10x3xf32>) -> tensor<2x10x10x3xf32>
  %2 = linalg.pooling_nhwc_sum {tp.sharding = [[[], ["x"], ["y"], []]], dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%a, %w3 : tensor<2x12x12x3xf32>, tensor<3x3xf32>) outs(%f2 : tensor<2x10x10x3xf32>) -> tensor<2x10x10x3xf32>
  %e3 = tensor.empty() : tensor<2x4x3x3xf32>
  %f3 = linalg.fill ins(%high : f32) outs(%e3 : tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %3 = linalg.pooling_nhwc_min {tp.sharding = [[[], ["x"], ["y"], []]], dilations = dense<1> : tensor<2xi64>, strides = dense<[3, 4]> : tensor<2xi64>}
      ins(%a, %w2 : tensor<2x12x12x3xf32>, tensor<2x2xf32>) outs(%f3 : tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %e4 = tensor.empty() : tensor<1x2x7x4xi32>
  %f4 = linalg.fill ins(%least : i32) outs(%e4 : tensor<1x2x7x4xi32>) -> tensor<1x2x7x4xi32>
  %4 = linalg.pooling_nchw_max {tp.sharding = [[[], [], ["x"], ["y"]]], dilations = dense<1> : tensor<2xi64>, strides = dense<[2, 3]> : tensor<2xi64>}
      ins(%b, %wi : tensor<1x2x14x12xi32>, tensor<2x3xi32>) outs(%f4 : tensor<1x2x7x4xi32>) -> tensor<1x2x7x4xi32>
  %e5 = tensor.empty() : tensor<2x5x3xf32>
  %f5 = linalg.fill ins(%z : f32) outs(%e5 : tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
  %5 = linalg.pooling_nwc_sum {tp.sharding = [[[], ["y"], []]], dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>}
      ins(%c, %w1 : tensor<2x13x3xf32>, tensor<9xf32>) outs(%f5 : tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
  %e = tensor.empty() : tensor<1x14x12x2xi32>
  %nhwc = linalg.transpose ins(%b : tensor<1x2x14x12xi32>) outs(%e : tensor<1x14x12x2xi32>) permutation = [0, 2, 3, 1]
  %e6 = tensor.empty() : tensor<1x7x6x2xi32>
  %f6 = linalg.fill ins(%zi : i32) outs(%e6 : tensor<1x7x6x2xi32>) -> tensor<1x7x6x2xi32>
  %6 = linalg.pooling_nhwc_max_unsigned {tp.sharding = [[[], ["x"], ["y"], []]], dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%nhwc, %w1i : tensor<1x14x12x2xi32>, tensor<2x2xi32>) outs(%f6 : tensor<1x7x6x2xi32>) -> tensor<1x7x6x2xi32>
  return %1, %2, %3, %4, %5, %6 : tensor<2x6x6x3xf32>, tensor<2x10x10x3xf32>, tensor<2x4x3x3xf32>, tensor<1x2x7x4xi32>, tensor<2x5x3xf32>, tensor<1x7x6x2xi32>
}
