// RUN: shard-oracle %s | FileCheck %s
// CHECK: equal, and none beyond what is offered costs less         1

// One op takes a value as two layouts: reduced once, and the other layout comes out of that. The plan's cost counts it so.
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<256x256xf32> {tp.sharding = {dims = [[], []], partial = {x = "sum"}}})
    -> (tensor<256x256xf32> {tp.sharding = [["x"], []]}) {
  %e = tensor.empty() : tensor<256x256xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %c = linalg.matmul ins(%a, %a : tensor<256x256xf32>, tensor<256x256xf32>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %c : tensor<256x256xf32>
}
