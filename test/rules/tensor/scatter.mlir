// tensor.scatter into a tensor that is split along what is addressed and along the rest.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 3x1 --strategy follow
// RUN: shard-run %s --mesh 5x1

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(%x: tensor<5x6x3xf32> {tp.sharding = [["x"], [], ["y"]]}, %u: tensor<2x2x6x3xf32> {tp.sharding = [[], [], ["x"], []]}, %v: tensor<2x1x6x1xf32>, %w: tensor<6x3xf32>, %p: tensor<3xf32>, %t: tensor<5xf32> {tp.sharding = [["x"]]}, %q: tensor<f32>)
  -> (tensor<5x6x3xf32> {tp.sharding = [["x"], [], ["y"]]}, tensor<5x6x3xf32> {tp.sharding = [[], ["x"], []]}, tensor<5x6x3xf32>, tensor<5xf32> {tp.sharding = [["x"]]}, tensor<5xf32>) {
  %i = arith.constant dense<[[[4], [0]], [[2], [3]]]> : tensor<2x2x1xindex>
  %j = arith.constant dense<[[4, 0], [1, 2]]> : tensor<2x2xi32>
  %k = arith.constant dense<[3]> : tensor<1xi64>
  %l = arith.constant dense<[[3], [0], [4]]> : tensor<3x1xi64>
  %a = tensor.scatter %u into %x[%i] scatter_dims([0]) unique : (tensor<2x2x6x3xf32>, tensor<5x6x3xf32>, tensor<2x2x1xindex>) -> tensor<5x6x3xf32>
  %b = tensor.scatter %v into %x[%j] scatter_dims([0, 2]) unique : (tensor<2x1x6x1xf32>, tensor<5x6x3xf32>, tensor<2x2xi32>) -> tensor<5x6x3xf32>
  %c = tensor.scatter %w into %x[%k] scatter_dims([0]) unique : (tensor<6x3xf32>, tensor<5x6x3xf32>, tensor<1xi64>) -> tensor<5x6x3xf32>
  %d = tensor.scatter %p into %t[%l] scatter_dims([0]) unique : (tensor<3xf32>, tensor<5xf32>, tensor<3x1xi64>) -> tensor<5xf32>
  %e = tensor.scatter %q into %t[%k] scatter_dims([0]) unique : (tensor<f32>, tensor<5xf32>, tensor<1xi64>) -> tensor<5xf32>
  return %a, %b, %c, %d, %e : tensor<5x6x3xf32>, tensor<5x6x3xf32>, tensor<5x6x3xf32>, tensor<5xf32>, tensor<5xf32>
}
