// Calls are specialised: tp-spmd inlines private functions, so that each call has the layouts that suit it.
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh x=2,y=2

shard.grid @mesh(shape = 4x1) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<8x8xf32> {tp.sharding = [["x"], []]}, %b: tensor<8x8xf32> {tp.sharding = [[], ["x"]]})
    -> (tensor<8x8xf32> {tp.sharding = [["x"], []]}, tensor<8x8xf32> {tp.sharding = [[], ["x"]]}) {
  %r = call @square(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = call @square(%b) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r, %s : tensor<8x8xf32>, tensor<8x8xf32>
}
func.func private @square(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = arith.mulf %x, %x : tensor<8x8xf32>
  %z = math.tanh %y : tensor<8x8xf32>
  return %z : tensor<8x8xf32>
}
