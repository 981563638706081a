// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-propagate)'

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @low(%a: tensor<12x4xf32>, %v: f32) -> tensor<12x1xf32> {
  // expected-error @below {{'tensor.pad': dimension 1 has negative padding, low[-3]; use tensor.extract_slice instead}}
  %r = tensor.pad %a low[0, -3] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<12x4xf32> to tensor<12x1xf32>
  return %r : tensor<12x1xf32>
}

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @high(%a: tensor<12xf32>, %v: f32) -> tensor<11xf32> {
  // expected-error @below {{'tensor.pad': dimension 0 has negative padding, high[-2]; use tensor.extract_slice instead}}
  %r = tensor.pad %a low[1] high[-2] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } : tensor<12xf32> to tensor<11xf32>
  return %r : tensor<11xf32>
}

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @index(%a: tensor<8xf32>, %y: tensor<10xf32>) -> tensor<10xf32> {
  // expected-error @below {{'tensor.pad': computes the padding value from the index; pad with one value, or use linalg.generic}}
  %r = tensor.pad %a low[1] high[1] {
  ^bb0(%i: index):
    %v = tensor.extract %y[%i] : tensor<10xf32>
    tensor.yield %v : f32
  } : tensor<8xf32> to tensor<10xf32>
  return %r : tensor<10xf32>
}

// -----

// Padding with another number than zero is no linear op.
shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @affine(%a: tensor<8xf32>) -> tensor<10xf32> {
  %one = arith.constant 1.0 : f32
  // expected-error @below {{which is no factor of this op; give one of 0 (}}
  %r = tensor.pad %a low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %one : f32
  } {tp.factors = {x = "linear 0"}} : tensor<8xf32> to tensor<10xf32>
  return %r : tensor<10xf32>
}

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @no_window(%a: tensor<12xf32>, %v: f32) -> tensor<14xf32> {
  // expected-error @below {{'tensor.pad': tp.in_place requires a pad of static width with one padding value and no annotations, whose only user, in the same block, is a structured op that reads a padded dimension through a window, or a slice that cuts one and takes at least half of the tensor; remove the attribute}}
  %p = tensor.pad %a low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } {tp.in_place} : tensor<12xf32> to tensor<14xf32>
  %r = math.exp %p : tensor<14xf32>
  return %r : tensor<14xf32>
}

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @two_users(%a: tensor<12xf32>, %k: tensor<3xf32>, %o: tensor<12xf32>, %v: f32) -> (tensor<12xf32>, tensor<14xf32>) {
  // expected-error @below {{'tensor.pad': tp.in_place requires a pad of static width with one padding value and no annotations, whose only user, in the same block, is a structured op that reads a padded dimension through a window, or a slice that cuts one and takes at least half of the tensor; remove the attribute}}
  %p = tensor.pad %a low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } {tp.in_place} : tensor<12xf32> to tensor<14xf32>
  %r = linalg.conv_1d ins(%p, %k : tensor<14xf32>, tensor<3xf32>) outs(%o : tensor<12xf32>) -> tensor<12xf32>
  return %r, %p : tensor<12xf32>, tensor<14xf32>
}

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @unknown_width(%a: tensor<12xf32>, %k: tensor<3xf32>, %o: tensor<12xf32>, %v: f32, %n: index) -> tensor<12xf32> {
  // expected-error @below {{'tensor.pad': tp.in_place requires a pad of static width with one padding value and no annotations, whose only user, in the same block, is a structured op that reads a padded dimension through a window, or a slice that cuts one and takes at least half of the tensor; remove the attribute}}
  %p = tensor.pad %a low[%n] high[1] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } {tp.in_place} : tensor<12xf32> to tensor<14xf32>
  %r = linalg.conv_1d ins(%p, %k : tensor<14xf32>, tensor<3xf32>) outs(%o : tensor<12xf32>) -> tensor<12xf32>
  return %r : tensor<12xf32>
}

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @annotated(%a: tensor<12xf32>, %k: tensor<3xf32>, %o: tensor<12xf32>, %v: f32) -> tensor<12xf32> {
  // expected-error @below {{'tensor.pad': tp.in_place requires a pad of static width with one padding value and no annotations, whose only user, in the same block, is a structured op that reads a padded dimension through a window, or a slice that cuts one and takes at least half of the tensor; remove the attribute}}
  %p = tensor.pad %a low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } {tp.in_place, tp.sharding = [["x"]]} : tensor<12xf32> to tensor<14xf32>
  %r = linalg.conv_1d ins(%p, %k : tensor<14xf32>, tensor<3xf32>) outs(%o : tensor<12xf32>) -> tensor<12xf32>
  return %r : tensor<12xf32>
}

// -----

// A pad that a window could read in place is none as long as it has a rule of its user: the rule is refused as on any pad, not forgotten.
shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @rule_of_user(%a: tensor<2x16x3xf32> {tp.sharding = [[], ["x"], []]}, %z: f32, %w: tensor<3xf32>) -> tensor<2x16x3xf32> {
  // expected-error@+1 {{'tensor.pad': has a built-in rule of family "pad", so it needs no other; remove its tp.rule}}
  %p = tensor.pad %a low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %z : f32
  } {tp.rule = "([n,w,c])->([n,v,c]) fixed={w,v}"} : tensor<2x16x3xf32> to tensor<2x18x3xf32>
  %e = tensor.empty() : tensor<2x16x3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x16x3xf32>) -> tensor<2x16x3xf32>
  %0 = linalg.pooling_nwc_max {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>}
      ins(%p, %w : tensor<2x18x3xf32>, tensor<3xf32>) outs(%f : tensor<2x16x3xf32>) -> tensor<2x16x3xf32>
  return %0 : tensor<2x16x3xf32>
}
