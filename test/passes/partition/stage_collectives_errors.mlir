// RUN: shard-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tp-stage-collectives)'
// expected-error @+1 {{the module is not partitioned (no tp.phase = "local"); run tp-partition first}}
module {
}
