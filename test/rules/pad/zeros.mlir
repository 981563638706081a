// Padding: dimensions without padding stay sharded, padded ones are gathered.
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh x=2,y=2

shard.grid @mesh(shape = 4x1) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<8x4xf32> {tp.sharding = [["x"], ["y"]]}) -> (tensor<8x7xf32> {tp.sharding = [["x"], []]}) {
  %v = arith.constant 1.5 : f32
  %p = tensor.pad %a low[0, 1] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<8x4xf32> to tensor<8x7xf32>
  return %p : tensor<8x7xf32>
}
