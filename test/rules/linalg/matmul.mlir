// A matmul sharded on every factor: rows, columns, the contracted dimension, and two axes at once; against one rank.
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh x=2,y=2
// RUN: shard-run %s --mesh x=3

shard.grid @mesh(shape = 4x1) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<12x24xf32> {tp.sharding = [["x"], []]}, %b: tensor<24x36xf32>, %c: tensor<24x12xf32> {tp.sharding = [[], ["x"]]},
                %d: tensor<36x12xf32> {tp.sharding = [["x"], ["y"]]})
    -> (tensor<12x36xf32> {tp.sharding = [["x"], []]}, tensor<12x12xf32> {tp.sharding = [[], ["x"]]}, tensor<12x12xf32> {tp.sharding = [["y"], ["x"]]}) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.5 : f32
  %e1 = tensor.empty() : tensor<12x36xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<12x36xf32>) -> tensor<12x36xf32>
  %rows = linalg.matmul ins(%a, %b : tensor<12x24xf32>, tensor<24x36xf32>) outs(%f1 : tensor<12x36xf32>) -> tensor<12x36xf32>
  %e2 = tensor.empty() : tensor<12x12xf32>
  // The init is not the identity: it has to enter once, not once per shard.
  %f2 = linalg.fill ins(%one : f32) outs(%e2 : tensor<12x12xf32>) -> tensor<12x12xf32>
  %columns = linalg.matmul ins(%a, %c : tensor<12x24xf32>, tensor<24x12xf32>) outs(%f2 : tensor<12x12xf32>) -> tensor<12x12xf32>
  %contracted = linalg.matmul ins(%rows, %d : tensor<12x36xf32>, tensor<36x12xf32>) outs(%f2 : tensor<12x12xf32>) -> tensor<12x12xf32>
  return %rows, %columns, %contracted : tensor<12x36xf32>, tensor<12x12xf32>, tensor<12x12xf32>
}
