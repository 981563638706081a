// tp.updates: what it may say.
// RUN: not shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate)' 2>&1 | FileCheck %s

// CHECK: error: {{.*}}result 0: tp.updates must be the number of the argument whose new value the result is, 0 to 0
shard.grid @mesh(shape = 2) {tp.axes = ["dp"]}
func.func @beyond(%w: tensor<4xf32>) -> (tensor<4xf32> {tp.updates = 1}) {
  %v = math.exp %w : tensor<4xf32>
  return %v : tensor<4xf32>
}

// -----

// CHECK: error: {{.*}}result 0: tp.updates must be the number of the argument whose new value the result is, 0 to 0
shard.grid @mesh(shape = 2) {tp.axes = ["dp"]}
func.func @text(%w: tensor<4xf32>) -> (tensor<4xf32> {tp.updates = "w"}) {
  %v = math.exp %w : tensor<4xf32>
  return %v : tensor<4xf32>
}

// -----

// CHECK: error: {{.*}}result 0 is tensor<4xf32> and cannot be the new value of argument 1 (tp.updates), which is tensor<8xf32>
shard.grid @mesh(shape = 2) {tp.axes = ["dp"]}
func.func @type(%w: tensor<4xf32>, %u: tensor<8xf32>) -> (tensor<4xf32> {tp.updates = 1}) {
  %v = math.exp %w : tensor<4xf32>
  return %v : tensor<4xf32>
}

// -----

// CHECK: error: {{.*}}results 0 and 1 are both the new value of argument 0 (tp.updates); drop one of them
shard.grid @mesh(shape = 2) {tp.axes = ["dp"]}
func.func @twice(%w: tensor<4xf32>) -> (tensor<4xf32> {tp.updates = 0}, tensor<4xf32> {tp.updates = 0}) {
  %v = math.exp %w : tensor<4xf32>
  return %v, %v : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK: error: {{.*}}result 0 is the new value of argument 0 (tp.updates), but their layouts cannot be the same ({{\[\["dp"\]\], \[\[\]\]}}); annotate the argument only, or both alike
shard.grid @mesh(shape = 2) {tp.axes = ["dp"]}
func.func @layouts(%w: tensor<4xf32> {tp.sharding = [[]]}) -> (tensor<4xf32> {tp.sharding = [["dp"]], tp.updates = 0}) {
  %v = math.exp %w : tensor<4xf32>
  return %v : tensor<4xf32>
}
