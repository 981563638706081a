// Dimensions that several axes split unevenly, one after the other: shards do not follow each other at one distance, and some are empty. Pieces
// of them go where the number of the shard says.
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 2x4 --strategy follow
// RUN: shard-run %s --mesh 3x2 --strategy follow

shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<10x3xi32> {tp.sharding = [["x", "y"], []]}, %b: tensor<21xf32> {tp.sharding = [["x", "y"]]}, %k: tensor<3xf32>)
    -> (tensor<10x3xi32> {tp.sharding = [["x", "y"], []]}, tensor<19xf32> {tp.sharding = [["x", "y"]]}, tensor<5xf32> {tp.sharding = [["x", "y"]]}, tensor<13xf32>, tensor<6xf32>) {
  %z = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<10x3xi32>
  %1 = linalg.generic {tp.sharding = [[["x", "y"], []]], indexing_maps = [affine_map<(d0, d1) -> (9 - d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<10x3xi32>) outs(%e1 : tensor<10x3xi32>) {
  ^bb0(%x: i32, %o: i32):
    linalg.yield %x : i32
  } -> tensor<10x3xi32>
  %e2 = tensor.empty() : tensor<19xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<19xf32>) -> tensor<19xf32>
  %2 = linalg.generic {tp.sharding = [[["x", "y"]]], indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%b, %k : tensor<21xf32>, tensor<3xf32>) outs(%f2 : tensor<19xf32>) {
  ^bb0(%x: f32, %w: f32, %o: f32):
    %p = arith.mulf %x, %w : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<19xf32>
  %e3 = tensor.empty() : tensor<5xf32>
  %3 = linalg.generic {tp.sharding = [[["x", "y"]]], indexing_maps = [affine_map<(d0) -> (d0 * 3 + 5)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%b : tensor<21xf32>) outs(%e3 : tensor<5xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<5xf32>
  %4 = tensor.extract_slice %b[7] [13] [1] {tp.sharding = [[["x", "y"]]]} : tensor<21xf32> to tensor<13xf32>
  // A window so wide that a gather of the dimension is no more work.
  %w = tensor.empty() : tensor<16xf32>
  %e5 = tensor.empty() : tensor<6xf32>
  %f5 = linalg.fill ins(%z : f32) outs(%e5 : tensor<6xf32>) -> tensor<6xf32>
  %5 = linalg.generic {tp.sharding = [[["x", "y"]]], indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%b, %w : tensor<21xf32>, tensor<16xf32>) outs(%f5 : tensor<6xf32>) {
  ^bb0(%x: f32, %u: f32, %o: f32):
    %m = arith.maximumf %x, %o : f32
    linalg.yield %m : f32
  } -> tensor<6xf32>
  return %1, %2, %3, %4, %5 : tensor<10x3xi32>, tensor<19xf32>, tensor<5xf32>, tensor<13xf32>, tensor<6xf32>
}
