// Bodies that are no associative combiner, and captured tensors: their loops stay whole and the result is right.
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh x=2,y=2

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>
shard.grid @mesh(shape = 4x1) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<8x16xf32> {tp.sharding = [["y"], ["x"]]}, %t: tensor<16x4xf32> {tp.sharding = [["x"], []]})
    -> (tensor<8xf32> {tp.sharding = [["y"]]}, tensor<8xf32>, tensor<8xf32>, tensor<8xi32>, tensor<16xf32> {tp.sharding = [["x"]]}) {
  %half = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i32
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  // Order matters: acc = acc / 2 + x.
  %horner = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<8x16xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %h = arith.mulf %acc, %half : f32
    %v = arith.addf %h, %x : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  // acc = x - acc is no combiner either.
  %alternate = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<8x16xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %v = arith.subf %x, %acc : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  // Two results that depend on each other: the maximum and where it is.
  %g = linalg.fill ins(%low : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %ei = tensor.empty() : tensor<8xi32>
  %fi = linalg.fill ins(%none : i32) outs(%ei : tensor<8xi32>) -> tensor<8xi32>
  %max:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<8x16xf32>) outs(%g, %fi : tensor<8xf32>, tensor<8xi32>) {
  ^bb0(%x: f32, %best: f32, %at: i32):
    %j = linalg.index 1 : index
    %i = arith.index_cast %j : index to i32
    %more = arith.cmpf ogt, %x, %best : f32
    %v = arith.select %more, %x, %best : f32
    %w = arith.select %more, %i, %at : i32
    linalg.yield %v, %w : f32, i32
  } -> (tensor<8xf32>, tensor<8xi32>)
  // A captured table, read in reverse.
  %c15 = arith.constant 15 : index
  %c1 = arith.constant 1 : index
  %e16 = tensor.empty() : tensor<16xf32>
  %reversed = linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%e16 : tensor<16xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %k = arith.subi %c15, %i : index
    %v = tensor.extract %t[%k, %c1] : tensor<16x4xf32>
    linalg.yield %v : f32
  } -> tensor<16xf32>
  return %horner, %alternate, %max#0, %max#1, %reversed : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xi32>, tensor<16xf32>
}
