// RUN: shard-oracle %s | FileCheck %s
// CHECK: equal, and none beyond what is offered costs less         1
// CHECK: written plans that cost less than counted {{ *}}0

// The concatenation takes a value twice in one layout, and a constraint takes it in another. Both
// operands of the concatenation come from one reshard, which the plan counts once.
shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<12x8x12xf32> {tp.sharding = [[], ["x"], []]})
    -> (tensor<12x16x12xf32> {tp.sharding = [["x"], [], ["y"]]}, tensor<12x8x12xf32> {tp.sharding = [[], ["y"], ["x"]]}) {
  %c = tensor.concat dim(1) %a, %a : (tensor<12x8x12xf32>, tensor<12x8x12xf32>) -> tensor<12x16x12xf32>
  %e = tensor.empty() : tensor<12x8x12xf32>
  %n = linalg.exp ins(%a : tensor<12x8x12xf32>) outs(%e : tensor<12x8x12xf32>) -> tensor<12x8x12xf32>
  return %c, %n : tensor<12x16x12xf32>, tensor<12x8x12xf32>
}
