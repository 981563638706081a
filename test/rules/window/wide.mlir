// A window over most of the dimension: each of 64 devices would read 52 to 64 others. One gather takes the place of the permutes, and the
// work is split.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd)' | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: shard.all_gather %arg0 {{.*}} : tensor<5xf32> -> tensor<320xf32>
// CHECK-NOT: tp.permute
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<256xf32>, tensor<256xf32>) outs(%{{.*}} : tensor<1xf32>)
shard.grid @mesh(shape = 64) {tp.axes = ["x"]}
func.func @main(%a: tensor<319xf32> {tp.sharding = [["x"]]}) -> (tensor<64xf32> {tp.sharding = [["x"]]}) {
  %z = arith.constant 0.0 : f32
  %w = tensor.empty() : tensor<256xf32>
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %0 = linalg.generic {tp.sharding = [[["x"]]], indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %w : tensor<319xf32>, tensor<256xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%x: f32, %u: f32, %o: f32):
    %m = arith.maximumf %x, %o : f32
    linalg.yield %m : f32
  } -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
