// RUN: shard-opt %s --verify-diagnostics --pass-pipeline='builtin.module(tp-lift-constants)'

// expected-error @below {{the module is already partitioned (tp.phase = "local"); start from the program that tp-partition or tp-spmd has not seen}}
module attributes {tp.phase = "local"} {
  func.func @main() {
    return
  }
}
