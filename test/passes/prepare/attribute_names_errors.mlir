// Attributes that no pass reads are refused, because a misspelled one would be ignored silently.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-normalize)'
// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-propagate)'

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
// expected-error @below {{'func.func': argument 1 (%b): unknown attribute tp.shardings; rename it to tp.sharding, or remove it}}
func.func @argument(%a: tensor<4xf32>, %b: tensor<4xf32> {tp.shardings = [["x"]]}) { return }

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
// expected-error @below {{'func.func': result 0: unknown attribute tp.update; rename it to tp.updates, or remove it}}
func.func @result(%a: tensor<4xf32>) -> (tensor<4xf32> {tp.update = 0}) { return %a : tensor<4xf32> }

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @op(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'math.exp': unknown attribute tp.shardnig; rename it to tp.sharding, or remove it}}
  %0 = math.exp %a {tp.shardnig = [["x"]]} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{'shard.grid': unknown attribute tp.axis; rename it to tp.axes, or remove it}}
shard.grid @mesh(shape = 2) {tp.axis = ["x"]}
func.func @grid(%a: tensor<4xf32>) { return }

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
// expected-error @below {{'func.func': unknown attribute tp.something_else; remove it}}
func.func @unlike(%a: tensor<4xf32>) attributes {tp.something_else} { return }

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
// expected-error @below {{'func.func': argument 0 (%a): tp.updates is an attribute of a result, not of an argument}}
func.func @place(%a: tensor<4xf32> {tp.updates = 0}) { return }

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
// expected-error @below {{'func.func': argument 0 (%a): tp.role is "weight"; it must be "param" or "state"}}
func.func @role(%a: tensor<4xf32> {tp.role = "weight"}) { return }

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
// expected-error @below {{'func.func': argument 0 (%a): tp.role is not a string; it must be "param" or "state"}}
func.func @role_number(%a: tensor<4xf32> {tp.role = 3}) { return }

// -----

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
// expected-error @below {{'func.func': argument 0 (%a): tp.name must be a string}}
func.func @name(%a: tensor<4xf32> {tp.name = 7}) { return }
