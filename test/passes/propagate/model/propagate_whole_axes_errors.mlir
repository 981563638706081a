// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-propagate)'

// expected-error @below {{tp.whole_axes has to be a list of axes, as in ["x"]}}
module attributes {tp.whole_axes = "x"} {
  shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
  func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}

// -----

// expected-error @below {{tp.whole_axes names "z", which is no axis of mesh @mesh; name one of its axes, such as "x"}}
module attributes {tp.whole_axes = ["z"]} {
  shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
  func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}
