// RUN: shard-opt %s --verify-diagnostics --pass-pipeline='builtin.module(tp-export-constraints)'

// expected-error @below {{is not a planned program whose text was kept; run tp-keep-original, tp-plan and tp-export-constraints}}
module {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
