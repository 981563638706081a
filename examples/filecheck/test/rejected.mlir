// RUN: shard-opt %s --verify-diagnostics --pass-pipeline='builtin.module(tp-normalize)'

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// expected-error @below {{names axis "pp", which mesh @mesh(dp=2, tp=4) does not have}}
func.func private @mlp(tensor<64x512xf32> {tp.sharding = [["pp"], []]})
