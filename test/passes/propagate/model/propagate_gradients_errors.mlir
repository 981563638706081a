// tp.gradient: what it may say.
// RUN: not shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate)' 2>&1 | FileCheck %s

// CHECK: error: {{.*}}result 0: tp.gradient must be the number of the argument whose gradient the result is, 0 to 0
shard.grid @mesh(shape = 2) {tp.axes = ["dp"]}
func.func @beyond(%w: tensor<4xf32>) -> (tensor<4xf32> {tp.gradient = 1}) {
  %v = math.exp %w : tensor<4xf32>
  return %v : tensor<4xf32>
}

// -----

// CHECK: error: {{.*}}argument 1 (%g): tp.gradient must be the number of the result whose gradient the argument is, 0 to 0
shard.grid @mesh(shape = 2) {tp.axes = ["dp"]}
func.func @text(%w: tensor<4xf32>, %g: tensor<4xf32> {tp.gradient = "v"}) -> tensor<4xf32> {
  %v = math.exp %w : tensor<4xf32>
  return %v : tensor<4xf32>
}

// -----

// CHECK: error: {{.*}}argument 1 (%g) is tensor<8xf32> and cannot be the gradient at result 0 (tp.gradient), which is tensor<4xf32>
shard.grid @mesh(shape = 2) {tp.axes = ["dp"]}
func.func @type(%w: tensor<4xf32>, %g: tensor<8xf32> {tp.gradient = 0}) -> tensor<4xf32> {
  %v = math.exp %w : tensor<4xf32>
  return %v : tensor<4xf32>
}

// -----

// CHECK: error: {{.*}}results 0 and 1 are both the gradient of argument 0 (tp.gradient); drop one of them
shard.grid @mesh(shape = 2) {tp.axes = ["dp"]}
func.func @twice(%w: tensor<4xf32>) -> (tensor<4xf32> {tp.gradient = 0}, tensor<4xf32> {tp.gradient = 0}) {
  %v = math.exp %w : tensor<4xf32>
  return %v, %v : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK: error: {{.*}}argument 1 (%g) is the gradient at result 0 (tp.gradient), but their layouts cannot be the same ({{\[\[\]\], \[\["dp"\]\]}}); annotate the result only, or both alike
shard.grid @mesh(shape = 2) {tp.axes = ["dp"]}
func.func @layouts(%w: tensor<4xf32>, %g: tensor<4xf32> {tp.gradient = 0, tp.sharding = [[]]}) -> (tensor<4xf32> {tp.sharding = [["dp"]]}) {
  %v = math.exp %w : tensor<4xf32>
  return %v : tensor<4xf32>
}
