// A convolution split along its rows and along the channels that it sums over, both unevenly: rows are fetched, then padding channels zeroed.
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 3x2 --strategy follow
// RUN: shard-run %s --mesh 2x4

shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<2x13x5xf32> {tp.sharding = [[], ["x"], ["y"]]}, %k: tensor<3x5x4xf32> {tp.sharding = [[], ["y"], []]}) -> (tensor<2x11x4xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x11x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x11x4xf32>) -> tensor<2x11x4xf32>
  %0 = linalg.conv_1d_nwc_wcf {tp.factors = {x = 1, y = 4}, dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a, %k : tensor<2x13x5xf32>, tensor<3x5x4xf32>) outs(%f : tensor<2x11x4xf32>) -> tensor<2x11x4xf32>
  return %0 : tensor<2x11x4xf32>
}
