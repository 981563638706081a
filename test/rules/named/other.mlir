// Fills, random numbers, transpositions, broadcasts, softmax, map, reduce, and bodies that use their indices.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 3x1 --strategy follow
// RUN: shard-run %s --mesh 2x2 --strategy follow

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(
    %o0: tensor<5x6xf32>, %o1: tensor<5x6xf32>, %a2_0: tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, %o2: tensor<6x5xf32>,
    %a3_0: tensor<6xf32> {tp.sharding = [["x"]]}, %o3: tensor<5x6xf32>, %a4_0: tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]},
    %o4: tensor<5x6xf32>, %a5_0: tensor<5x6xf32>, %a5_1: tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, %o5: tensor<5x6xf32>,
    %a6_0: tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, %o6: tensor<5xf32>, %a7_0: tensor<5x6xf32> {tp.sharding = [["y"], ["x"]]},
    %o7: tensor<5x6xf32>)
    -> (tensor<5x6xf32>, tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<6x5xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<5x6xf32>, tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}, tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, tensor<5xf32>,
        tensor<5x6xf32> {tp.sharding = [[], ["x", "y"]]}) {
  %c0_0 = arith.constant 1.5 : f32
  %r0 = linalg.fill  ins(%c0_0 : f32) outs(%o0 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %c1_0 = arith.constant 1.5 : f64
  %c1_1 = arith.constant 1.5 : f64
  %c1_2 = arith.constant 3 : i32
  %r1 = linalg.fill_rng_2d  ins(%c1_0, %c1_1, %c1_2 : f64, f64, i32) outs(%o1 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r2 = linalg.transpose ins(%a2_0 : tensor<5x6xf32>) outs(%o2 : tensor<6x5xf32>) permutation = [1, 0]
  %r3 = linalg.broadcast ins(%a3_0 : tensor<6xf32>) outs(%o3 : tensor<5x6xf32>) dimensions = [0]
  %r4 = linalg.softmax dimension(1) ins(%a4_0 : tensor<5x6xf32>) outs(%o4 : tensor<5x6xf32>) -> tensor<5x6xf32>
  %r5 = linalg.map { arith.addf } ins(%a5_0, %a5_1 : tensor<5x6xf32>, tensor<5x6xf32>) outs(%o5 : tensor<5x6xf32>)
  %r6 = linalg.reduce { arith.addf } ins(%a6_0 : tensor<5x6xf32>) outs(%o6 : tensor<5xf32>) dimensions = [1]
  %r7 = linalg.generic {indexing_maps = [affine_map<(d0,d1)->(d0,d1)>, affine_map<(d0,d1)->(d0,d1)>], iterator_types = ["parallel","parallel"]} ins(%a7_0 : tensor<5x6xf32>) outs(%o7 : tensor<5x6xf32>) {
^bb0(%x: f32, %acc: f32):
  %i = linalg.index 0 : index
  %j = linalg.index 1 : index
  %k = arith.muli %i, %j : index
  %l = arith.index_cast %k : index to i32
  %m = arith.sitofp %l : i32 to f32
  %v = arith.addf %m, %x : f32
  linalg.yield %v : f32
} -> tensor<5x6xf32>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7
      : tensor<5x6xf32>, tensor<5x6xf32>, tensor<6x5xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5xf32>,
        tensor<5x6xf32>
}
