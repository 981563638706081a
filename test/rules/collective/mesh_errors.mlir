// The shapes were written for two devices, the program is sharded for four.
// RUN: shard-opt %s --verify-diagnostics --pass-pipeline='builtin.module(tp-propagate{mesh=dp=2,tp=4})'

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{'shard.all_gather': dimension 1 has size 4 in the operand and 8 in the result, which does not fit a group of 4 devices on this mesh}}
  %r = shard.all_gather %x on @mesh grid_axes = [1] gather_axis = 1 : tensor<4x4xf32> -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
