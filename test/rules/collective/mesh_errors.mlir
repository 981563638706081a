// The shapes were written for two devices, the program is sharded for four.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-propagate{mesh=dp=2,tp=4})'

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{'shard.all_gather': dimension 1 has size 4 in the operand and 8 in the result, which does not fit a group of 4 devices on this mesh}}
  %r = shard.all_gather %x on @mesh grid_axes = [1] gather_axis = 1 : tensor<4x4xf32> -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @shrinks(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{'shard.all_slice': dimension 1 has size 8 in the operand and 4 in the result, which does not fit a group of 4 devices on this mesh}}
  %s = shard.all_slice %x on @mesh grid_axes = [1] slice_axis = 1 : tensor<4x8xf32> -> tensor<4x4xf32>
  %g = shard.all_gather %s on @mesh grid_axes = [1] gather_axis = 1 : tensor<4x4xf32> -> tensor<4x8xf32>
  return %g : tensor<4x8xf32>
}
