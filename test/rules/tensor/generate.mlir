// tensor.generate: a generic over its indices, with captured tensors and without.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 3x1 --strategy follow
// RUN: shard-run %s --mesh 5x1

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(%x: tensor<5x6xf32> {tp.sharding = [["x"], []]}, %w: tensor<6xf32>) -> (tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<3x5xindex> {tp.sharding = [[], ["x"]]}, tensor<f32>) {
  %c = arith.constant 2.0 : f32
  %g = tensor.generate {
  ^bb0(%i: index, %j: index):
    %v = tensor.extract %x[%i, %j] : tensor<5x6xf32>
    %u = tensor.extract %w[%j] : tensor<6xf32>
    %ii = arith.index_cast %i : index to i32
    %f = arith.sitofp %ii : i32 to f32
    %s = arith.addf %v, %u : f32
    %p = arith.mulf %s, %c : f32
    %q = arith.addf %p, %f : f32
    tensor.yield %q : f32
  } {tp.sharding = [["x"], []]} : tensor<5x6xf32>
  %h = tensor.generate {
  ^bb0(%i: index, %j: index):
    %k = arith.muli %i, %j : index
    tensor.yield %k : index
  } : tensor<3x5xindex>
  %z = tensor.generate {
    tensor.yield %c : f32
  } : tensor<f32>
  return %g, %h, %z : tensor<5x6xf32>, tensor<3x5xindex>, tensor<f32>
}
