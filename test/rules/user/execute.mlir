// An op with a rule of its own that can be lowered: N ranks compute what one computes. bufferization.materialize_in_destination is in no
// family; the rule says that it copies any part.
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh x=2,y=2
// RUN: shard-run %s --mesh x=2,y=2 --strategy follow --launch processes

shard.grid @mesh(shape = 4x1) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<8x16xf32> {tp.sharding = [["x"], []]}, %b: tensor<16x8xf32> {tp.sharding = [["x"], ["y"]]})
    -> (tensor<8x16xf32> {tp.sharding = [["x"], ["y"]]}, tensor<8x8xf32> {tp.sharding = [["y"], []]}) {
  %to = tensor.empty() : tensor<8x16xf32>
  %c = bufferization.materialize_in_destination %a in %to {tp.rule = "([i,j],[i,j])->([i,j])"} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %d = math.tanh %c : tensor<8x16xf32>
  %to_whole = tensor.empty() : tensor<16x8xf32>
  %whole = bufferization.materialize_in_destination %b in %to_whole {tp.rule = "([_,j],[_,j])->([_,j])"} : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.matmul ins(%d, %whole : tensor<8x16xf32>, tensor<16x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d, %p : tensor<8x16xf32>, tensor<8x8xf32>
}
