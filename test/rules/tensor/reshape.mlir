// tensor.reshape joins and splits dimensions, to and from one element, with the annotation on its result.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 3x1 --strategy follow
// RUN: shard-run %s --mesh 5x1

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(%x: tensor<4x6xf32> {tp.sharding = [["x"], ["y"]]}, %s: tensor<1xf32>, %q: tensor<2x3x4xf32> {tp.sharding = [[], [], ["x"]]})
  -> (tensor<8x3xf32> {tp.sharding = [["x"], []]}, tensor<24xf32> {tp.sharding = [["x"]]}, tensor<4x2x3xf32> {tp.sharding = [["x"], [], []]}, tensor<f32>, tensor<1x1xf32>, tensor<4x6xf32>, tensor<1x6x4x1xf32> {tp.sharding = [[], ["x"], [], []]}, tensor<2x3x2x2x1xf32>) {
  %s0 = arith.constant dense<[8, 3]> : tensor<2xi32>
  %s1 = arith.constant dense<[24]> : tensor<1xi32>
  %s2 = arith.constant dense<[4, 2, 3]> : tensor<3xi32>
  %s3 = arith.constant dense<> : tensor<0xi32>
  %s4 = arith.constant dense<1> : tensor<2xindex>
  %s5 = arith.constant dense<[4, 6]> : tensor<2xindex>
  %s6 = arith.constant dense<[1, 6, 4, 1]> : tensor<4xindex>
  %s7 = arith.constant dense<[2, 3, 2, 2, 1]> : tensor<5xindex>
  %a = tensor.reshape %x(%s0) : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<8x3xf32>
  %b = tensor.reshape %x(%s1) : (tensor<4x6xf32>, tensor<1xi32>) -> tensor<24xf32>
  %c = tensor.reshape %x(%s2) {tp.sharding = [["x"], [], []]} : (tensor<4x6xf32>, tensor<3xi32>) -> tensor<4x2x3xf32>
  %d = tensor.reshape %s(%s3) : (tensor<1xf32>, tensor<0xi32>) -> tensor<f32>
  %e = tensor.reshape %d(%s4) : (tensor<f32>, tensor<2xindex>) -> tensor<1x1xf32>
  %f = tensor.reshape %x(%s5) {tp.sharding = [[], ["x"]]} : (tensor<4x6xf32>, tensor<2xindex>) -> tensor<4x6xf32>
  %g = tensor.reshape %q(%s6) : (tensor<2x3x4xf32>, tensor<4xindex>) -> tensor<1x6x4x1xf32>
  %h = tensor.reshape %q(%s7) : (tensor<2x3x4xf32>, tensor<5xindex>) -> tensor<2x3x2x2x1xf32>
  return %a, %b, %c, %d, %e, %f, %g, %h : tensor<8x3xf32>, tensor<24xf32>, tensor<4x2x3xf32>, tensor<f32>, tensor<1x1xf32>, tensor<4x6xf32>, tensor<1x6x4x1xf32>, tensor<2x3x2x2x1xf32>
}
