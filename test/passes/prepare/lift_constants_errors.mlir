// RUN: shard-opt %s --verify-diagnostics --pass-pipeline='builtin.module(tp-lift-constants)'

// expected-error @below {{the module is already partitioned (tp.phase = "local"); lift constants before tp-propagate}}
module attributes {tp.phase = "local"} {
  func.func @main() {
    return
  }
}
