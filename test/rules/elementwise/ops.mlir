// arith and math on whole tensors.
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh x=2,y=2

shard.grid @mesh(shape = 4x1) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<8x16xf32> {tp.sharding = [["x"], ["y"]]}, %b: tensor<8x16xf32> {tp.sharding = [["y"], ["x"]]}, %i: tensor<8x16xi32> {tp.sharding = [[], ["x"]]})
    -> (tensor<8x16xf32> {tp.sharding = [["x"], ["y"]]}, tensor<8x16xi32> {tp.sharding = [["x"], []]}) {
  %s = arith.addf %a, %b : tensor<8x16xf32>
  %m = arith.mulf %s, %a : tensor<8x16xf32>
  %e = math.tanh %m : tensor<8x16xf32>
  %c = arith.cmpf ogt, %e, %b : tensor<8x16xf32>
  %r = arith.select %c, %e, %a : tensor<8x16xi1>, tensor<8x16xf32>
  %k = arith.constant dense<3> : tensor<8x16xi32>
  %j = arith.addi %i, %k : tensor<8x16xi32>
  %f = arith.sitofp %j : tensor<8x16xi32> to tensor<8x16xf32>
  %t = arith.addf %r, %f : tensor<8x16xf32>
  return %t, %j : tensor<8x16xf32>, tensor<8x16xi32>
}
