// RUN: shard-opt %s --verify-diagnostics --pass-pipeline='builtin.module(tp-propagate)'
shard.grid @mesh(shape = 2) {tp.axes = ["ep"]}
// expected-error @+1 {{argument 0 (%x) is partial "rows" over "ep", a layout of values inside of a function alone: which rows a device has depends on other values; remove the annotation}}
func.func @main(%x: tensor<16x8xf32> {tp.sharding = {dims = [[], []], partial = {ep = "rows"}}}) -> tensor<16x8xf32> {
  return %x : tensor<16x8xf32>
}
