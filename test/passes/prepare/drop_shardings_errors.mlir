// RUN: shard-opt %s --verify-diagnostics --pass-pipeline='builtin.module(tp-drop-shardings)'

// expected-error @below {{the module is already partitioned (tp.phase = "local"); its shapes follow from its layouts}}
module attributes {tp.phase = "local"} {
  func.func @main(%x: tensor<4xf32> {tp.sharding = [["x"]], tp.global = tensor<8xf32>}) {
    return
  }
}
