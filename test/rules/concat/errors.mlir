// Slices that are marked as read in place, but cannot be.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-propagate)'

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @one_of_two(%a: tensor<12xf32>) -> tensor<12xf32> {
  // expected-error @below {{'tensor.extract_slice': tp.in_place requires a slice without annotations whose only user, in the same block, is a concat of the end and the beginning of one tensor, or a pad that shifts a tensor by half of it or less; all slices of the user must have the attribute; remove it}}
  %e = tensor.extract_slice %a[8] [4] [1] {tp.in_place} : tensor<12xf32> to tensor<4xf32>
  %s = tensor.extract_slice %a[0] [8] [1] {tp.sharding = [["x"]]} : tensor<12xf32> to tensor<8xf32>
  %r = tensor.concat dim(0) %e, %s : (tensor<4xf32>, tensor<8xf32>) -> tensor<12xf32>
  return %r : tensor<12xf32>
}

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @two_users(%a: tensor<12xf32>) -> (tensor<12xf32>, tensor<4xf32>) {
  // expected-error @below {{'tensor.extract_slice': tp.in_place requires a slice without annotations whose only user}}
  %e = tensor.extract_slice %a[8] [4] [1] {tp.in_place} : tensor<12xf32> to tensor<4xf32>
  %s = tensor.extract_slice %a[0] [8] [1] {tp.in_place} : tensor<12xf32> to tensor<8xf32>
  %r = tensor.concat dim(0) %e, %s : (tensor<4xf32>, tensor<8xf32>) -> tensor<12xf32>
  return %r, %e : tensor<12xf32>, tensor<4xf32>
}

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @no_shift(%a: tensor<12xf32>, %v: f32) -> tensor<12xf32> {
  // expected-error @below {{'tensor.extract_slice': tp.in_place requires a slice without annotations whose only user}}
  %s = tensor.extract_slice %a[2] [4] [1] {tp.in_place} : tensor<12xf32> to tensor<4xf32>
  %r = tensor.pad %s low[8] high[0] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } : tensor<4xf32> to tensor<12xf32>
  return %r : tensor<12xf32>
}
