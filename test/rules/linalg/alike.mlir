// Ops that look alike share a rule; what differs in a constant or in the body does not.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-propagate)' -o /dev/null

shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}

func.func @fills(%a: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.fill {tp.sharding = {dims = [[]], partial = {tp = "sum"}}} ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  // expected-error @+1 {{no strategy of this op gives result 0 the layout}}
  %1 = linalg.fill {tp.sharding = {dims = [[]], partial = {tp = "sum"}}} ins(%one : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %2 = arith.addf %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["tp"]}

func.func @bodies(%a: tensor<4x8xf32>, %i: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = linalg.reduce ins(%a : tensor<4x8xf32>) outs(%i : tensor<4xf32>) dimensions = [1] {tp.sharding = {dims = [[]], partial = {tp = "sum"}}}
    (%in: f32, %out: f32) {
      %s = arith.addf %in, %out : f32
      linalg.yield %s : f32
    }
  // expected-error @+1 {{no strategy of this op gives result 0 the layout}}
  %1 = linalg.reduce ins(%a : tensor<4x8xf32>) outs(%i : tensor<4xf32>) dimensions = [1] {tp.sharding = {dims = [[]], partial = {tp = "sum"}}}
    (%in: f32, %out: f32) {
      %s = arith.maximumf %in, %out : f32
      linalg.yield %s : f32
    }
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
