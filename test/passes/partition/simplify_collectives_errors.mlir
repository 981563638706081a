// RUN: shard-opt %s --pass-pipeline="builtin.module(tp-simplify-collectives)" --verify-diagnostics

// expected-error @below {{is not a per-device program (no tp.phase = "local"); run tp-partition first}}
module {
  shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
