// Collectives see equal shards: what is cut is filled up before, what is gathered is cut behind.
// RUN: shard-run %s --mesh 2x4 --strategy follow
// RUN: shard-run %s --mesh 2x3 --strategy follow --launch processes
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{strategy=follow},tp-partition)' | FileCheck %s

// Five sums for four devices: buffers of two.
// CHECK: %[[S:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[0] [5] [1] : tensor<5xf32> into tensor<8xf32>
// CHECK: shard.reduce_scatter %[[S]] {{.*}} : tensor<8xf32> -> tensor<2xf32>
// What is lost on one dimension and won on the other, both with padding.
// CHECK: %[[W:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[0, 0] [3, 7] [1, 1] : tensor<3x7xf32> into tensor<3x8xf32>
// CHECK: %[[A:.*]] = shard.all_to_all %[[W]] {{.*}} : tensor<3x8xf32> -> tensor<12x2xf32>
// CHECK: tensor.extract_slice %[[A]][0, 0] [11, 2] [1, 1] : tensor<12x2xf32> to tensor<11x2xf32>
// CHECK: %[[G:.*]] = shard.all_gather {{.*}} : tensor<4x7xf32> -> tensor<16x7xf32>
// CHECK: tensor.extract_slice %[[G]][0, 0] [13, 7] [1, 1] : tensor<16x7xf32> to tensor<13x7xf32>
#id = affine_map<(d0, d1) -> (d0, d1)>
#cols = affine_map<(d0, d1) -> (d1)>
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a: tensor<11x7xf32> {tp.sharding = [["tp"], []]}, %b: tensor<10x5xf32> {tp.sharding = [["tp"], []]}, %c: tensor<13x7xf32> {tp.sharding = [["tp"], []]})
    -> (tensor<11x7xf32> {tp.sharding = [[], ["tp"]]}, tensor<5xf32> {tp.sharding = [["tp"]]}, tensor<13x7xf32> {tp.sharding = [[], []]}) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %0 = linalg.generic {indexing_maps = [#id, #cols], iterator_types = ["reduction", "parallel"]} ins(%b : tensor<10x5xf32>) outs(%f : tensor<5xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %v = arith.addf %acc, %x : f32
    linalg.yield %v : f32
  } -> tensor<5xf32>
  %1 = arith.negf %c : tensor<13x7xf32>
  return %a, %0, %1 : tensor<11x7xf32>, tensor<5xf32>, tensor<13x7xf32>
}
