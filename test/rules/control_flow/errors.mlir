// Structure that cannot be sharded.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-spmd)'

shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @region(%x: tensor<5x6xf32> {tp.sharding = [["tp"], []]}) -> tensor<5x6xf32> {
  // expected-error @below {{'scf.execute_region': no sharding rule for this op; inline its body before sharding (--canonicalize)}}
  %y = scf.execute_region -> tensor<5x6xf32> {
    scf.yield %x : tensor<5x6xf32>
  }
  return %y : tensor<5x6xf32>
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
// expected-error @below {{has several blocks; sharding needs structured control flow (scf) or a straight line}}
func.func @blocks(%x: tensor<5x6xf32> {tp.sharding = [["tp"], []]}, %b: i1) -> tensor<5x6xf32> {
  cf.cond_br %b, ^bb1, ^bb2
^bb1:
  %q = arith.mulf %x, %x : tensor<5x6xf32>
  return %q : tensor<5x6xf32>
^bb2:
  return %x : tensor<5x6xf32>
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func private @ping(%x: tensor<5x6xf32>) -> tensor<5x6xf32> {
  %y = func.call @pong(%x) : (tensor<5x6xf32>) -> tensor<5x6xf32>
  return %y : tensor<5x6xf32>
}
func.func private @pong(%x: tensor<5x6xf32>) -> tensor<5x6xf32> {
  // expected-error @below {{@ping calls itself; a recursive program cannot be sharded, use a loop instead}}
  %y = func.call @ping(%x) : (tensor<5x6xf32>) -> tensor<5x6xf32>
  return %y : tensor<5x6xf32>
}
func.func @main(%x: tensor<5x6xf32> {tp.sharding = [["tp"], []]}) -> tensor<5x6xf32> {
  %y = func.call @ping(%x) : (tensor<5x6xf32>) -> tensor<5x6xf32>
  return %y : tensor<5x6xf32>
}
