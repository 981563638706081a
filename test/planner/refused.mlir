// What is not planned says why.
// RUN: not shard-oracle --verbose %s | FileCheck %s
// CHECK: refused.mlir: refused: {{.*}}names axis "rows"
// CHECK: {{^}}  refused {{ *}}1
shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @main(%v0: tensor<4x4xf32> {tp.sharding = [["rows"], []]}) -> tensor<4x4xf32> {
  return %v0 : tensor<4x4xf32>
}
