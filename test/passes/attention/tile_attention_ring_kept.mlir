// What was planned to travel in a ring, but is used by something else than attention: it stays gathered.
// RUN: shard-opt %s --verify-diagnostics --pass-pipeline='builtin.module(tp-tile-attention)' | FileCheck %s
// CHECK: %[[K:.*]] = shard.all_gather
// CHECK: linalg.matmul ins(%{{.*}}, %[[K]] :
module attributes {tp.phase = "local"} {
  shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
  func.func @main(%a: tensor<8x16xf32>, %b: tensor<4x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
    // expected-warning @+1 {{was planned for ring attention (tp.ring) but stays a gather: no attention was found that uses it as keys or values; this needs more memory than planned}}
    %w = shard.all_gather %b on @mesh grid_axes = [0] gather_axis = 0 {tp.ring} : tensor<4x8xf32> -> tensor<16x8xf32>
    %o = linalg.matmul ins(%a, %w : tensor<8x16xf32>, tensor<16x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
    return %o : tensor<8x8xf32>
  }
}
