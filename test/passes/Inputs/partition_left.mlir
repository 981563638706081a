// The input of partition_left.test.
#rows = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
func.func @first(%x: tensor<8x16xf32> {tp.sharding = [[], ["tp"]]}) -> (tensor<8xf32> {tp.sharding = [[]]}) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty() : tensor<8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x16xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %scaled = arith.mulf %a, %one : f32
    %next = arith.addf %scaled, %acc : f32
    linalg.yield %next : f32
  } -> tensor<8xf32>
  return %sum : tensor<8xf32>
}
func.func @second(%x: tensor<8x16xf32> {tp.sharding = [["tp"], []]}) -> (tensor<8x16xf32> {tp.sharding = [[], []]}) {
  %empty = tensor.empty() : tensor<8x16xf32>
  %exp = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x16xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%a: f32, %out: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<8x16xf32>
  return %exp : tensor<8x16xf32>
}
