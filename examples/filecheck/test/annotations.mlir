// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-normalize)' | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-normalize{mesh=dp=2,tp=8})' | FileCheck %s --check-prefix=BIG

// CHECK: shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// BIG: shard.grid @mesh(shape = 2x8) {tp.axes = ["dp", "tp"]}
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}

// CHECK: func.func @mlp(%{{.*}}: tensor<64x512xf32> {tp.sharding = {{\[\[}}"dp"], []]}
// CHECK-SAME: tensor<512x2048xf32> {tp.role = "param", tp.sharding = {{\[\[}}], ["tp"]]})
func.func @mlp(%x: tensor<64x512xf32> {tp.sharding = {mesh = @mesh, dims = [["dp"], []]}},
               %w: tensor<512x2048xf32> {tp.sharding = [[], ["tp"]], tp.role = "param"}) {
  return
}
