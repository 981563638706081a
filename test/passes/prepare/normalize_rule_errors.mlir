// Rules that users state on ops are read with the annotations.
// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-normalize)'

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @rule(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{its rule "([i])=>([i])": column 6: expected '->', found '='}}
  %r = "my.op"(%x) {tp.rule = "([i])=>([i])"} : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @rule_fit(%x: tensor<8xf32>) -> tensor<8x2xf32> {
  // expected-error @below {{result 0 has 2 dimensions, but its list in the rule has 1}}
  %r = "my.op"(%x) {tp.rule = "([i])->([i])"} : (tensor<8xf32>) -> tensor<8x2xf32>
  return %r : tensor<8x2xf32>
}

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @rule_ones(%x: tensor<8x3x1xf32>) -> tensor<8xf32> {
  // expected-error @below {{operand 0: the rule says 1 for dimension 1, whose size is 3; write '_' for a dimension that stays whole}}
  %r = "my.op"(%x) {tp.rule = "([i,1,1])->([i])"} : (tensor<8x3x1xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// expected-error @below {{'func.func': has a body, which replaces its calls, and also tp.rule; remove one of them}}
func.func private @body(%x: tensor<8xf32>) -> tensor<8xf32> attributes {tp.rule = "([i])->([i])"} {
  return %x : tensor<8xf32>
}
