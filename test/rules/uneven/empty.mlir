// Fewer rows than devices: some shards are all padding, those of 3 rows on 4 devices and of 1 row on any. The product has empty shards along
// its inner dimension.
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 3 --strategy follow
// RUN: shard-run %s --mesh 4
// RUN: shard-run %s --mesh 2x2 --strategy follow
// RUN: shard-run %s --mesh 3x2 --strategy follow
// RUN: shard-run %s --mesh 2x4 --strategy follow
// RUN: shard-run %s --mesh 4 --strategy follow
// RUN: shard-run %s --mesh 2x4

#id = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a: tensor<3x5xf32> {tp.sharding = [["tp"], ["dp"]]}, %b: tensor<1x6xf32> {tp.sharding = [["tp"], ["dp"]]}, %c: tensor<5x3xf32> {tp.sharding = [[], ["tp"]]}) -> (tensor<f32>, tensor<5x5xf32>, tensor<1x6xf32> {tp.sharding = [["tp"], ["dp"]]}, tensor<1x6xf32>, tensor<3xi32> {tp.sharding = [["dp", "tp"]]}) {
  %z = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %0 = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<3x5xf32>) outs(%f : tensor<f32>) attrs = {tp.factors = {tp = 0, dp = 1}} {
  ^bb0(%x: f32, %acc: f32):
    %v = arith.maximumf %acc, %x : f32
    linalg.yield %v : f32
  } -> tensor<f32>
  %e1 = tensor.empty() : tensor<5x5xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<5x5xf32>) -> tensor<5x5xf32>
  %1 = linalg.matmul {tp.factors = {tp = 2, dp = 1}} ins(%c, %a : tensor<5x3xf32>, tensor<3x5xf32>) outs(%f1 : tensor<5x5xf32>) -> tensor<5x5xf32>
  %2 = arith.addf %b, %b : tensor<1x6xf32>
  %3 = math.exp %2 : tensor<1x6xf32>
  %4 = arith.constant dense<[4, 5, 6]> : tensor<3xi32>
  return %0, %1, %2, %3, %4 : tensor<f32>, tensor<5x5xf32>, tensor<1x6xf32>, tensor<1x6xf32>, tensor<3xi32>
}
