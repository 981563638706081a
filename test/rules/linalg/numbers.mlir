// A sum of products in which one operand, or both, is a number rather than a tensor.
// RUN: shard-run %s --mesh 2 | FileCheck %s
// RUN: shard-run %s --mesh 3 --strategy follow | FileCheck %s
// CHECK: verified

#ij = affine_map<(d0, d1) -> (d0, d1)>
#i = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0, d1) -> ()>
shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @main(%a: tensor<5x7xf32> {tp.sharding = [[], ["x"]]}, %n: tensor<f32>) -> (tensor<5xf32>, tensor<5xf32> {tp.sharding = [["x"]]}, tensor<5xf32>) {
  %s = tensor.extract %n[] : tensor<f32>
  %z = arith.constant dense<1.0> : tensor<5xf32>
  %l = tensor.empty() : tensor<5x7xf32>
  %right = linalg.generic {indexing_maps = [#ij, #one, #i], iterator_types = ["parallel", "reduction"]} ins(%a, %s : tensor<5x7xf32>, f32) outs(%z : tensor<5xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.mulf %x, %y : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<5xf32>
  %left = linalg.generic {indexing_maps = [#one, #ij, #i], iterator_types = ["parallel", "reduction"]} ins(%s, %a : f32, tensor<5x7xf32>) outs(%z : tensor<5xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.mulf %x, %y : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<5xf32>
  %both = linalg.generic {indexing_maps = [#one, #one, #ij, #i], iterator_types = ["parallel", "reduction"]} ins(%s, %s, %l : f32, f32, tensor<5x7xf32>) outs(%z : tensor<5xf32>) {
  ^bb0(%x: f32, %y: f32, %unread: f32, %o: f32):
    %m = arith.mulf %x, %y : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<5xf32>
  return %right, %left, %both : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}
