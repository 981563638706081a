// tensor.gather: rows of the source may be split, with slices that keep and that drop what is addressed, indices of several types.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 3x1 --strategy follow
// RUN: shard-run %s --mesh 5x1

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(%x: tensor<5x6x3xf32> {tp.sharding = [["x"], [], []]}, %i: tensor<4x7x1xindex> {tp.sharding = [["y"], [], []]}, %j: tensor<3x2xi32>, %one: tensor<1xi64>)
  -> (tensor<4x7x6x3xf32> {tp.sharding = [["y"], [], [], ["x"]]}, tensor<4x7x1x6x3xf32>, tensor<3x6xf32> {tp.sharding = [["x"], []]}, tensor<3x1x6x1xf32>, tensor<5x6xf32>) {
  %a = tensor.gather %x[%i] gather_dims([0]) : (tensor<5x6x3xf32>, tensor<4x7x1xindex>) -> tensor<4x7x6x3xf32>
  %b = tensor.gather %x[%i] gather_dims([0]) unique : (tensor<5x6x3xf32>, tensor<4x7x1xindex>) -> tensor<4x7x1x6x3xf32>
  %two = arith.constant dense<2> : tensor<3x2xi32>
  %jj = arith.minsi %j, %two : tensor<3x2xi32>
  %c = tensor.gather %x[%jj] gather_dims([0, 2]) : (tensor<5x6x3xf32>, tensor<3x2xi32>) -> tensor<3x6xf32>
  %d = tensor.gather %x[%jj] gather_dims([0, 2]) : (tensor<5x6x3xf32>, tensor<3x2xi32>) -> tensor<3x1x6x1xf32>
  %ll = arith.constant dense<2> : tensor<1xi64>
  %o = arith.minsi %one, %ll : tensor<1xi64>
  %e = tensor.gather %x[%o] gather_dims([2]) : (tensor<5x6x3xf32>, tensor<1xi64>) -> tensor<5x6xf32>
  return %a, %b, %c, %d, %e : tensor<4x7x6x3xf32>, tensor<4x7x1x6x3xf32>, tensor<3x6xf32>, tensor<3x1x6x1xf32>, tensor<5x6xf32>
}
