// RUN: shard-opt %s --verify-diagnostics --pass-pipeline='builtin.module(tp-restore-constants)'

// expected-error @below {{the module is not partitioned (no tp.phase = "local"); run tp-partition first}}
module {
  func.func @main() {
    return
  }
}
