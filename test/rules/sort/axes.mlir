// A row that several axes split: the parts follow each other in the order of the axes on the dimension. Negative keys and padding, which must not win; fewer elements in a part than are kept.
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 2x3 --strategy follow
// RUN: shard-run %s --mesh 3x2 --strategy follow
// RUN: shard-run %s --mesh 2x4 --launch processes

shard.grid @mesh(shape = 2x2) {tp.axes = ["a", "b"]}
func.func @main(%x: tensor<3x10xi32> {tp.sharding = [[], ["b", "a"]]}, %p: tensor<3x10xf32> {tp.sharding = [[], ["b", "a"]]}) -> (tensor<3x4xi32>, tensor<3x4xf32>) {
  %three = arith.constant dense<3> : tensor<3x10xi32>
  %ten = arith.constant dense<10> : tensor<3x10xi32>
  %low = arith.andi %x, %three : tensor<3x10xi32>
  %k = arith.subi %low, %ten : tensor<3x10xi32>
  %0:2 = call @tp.sort(%k, %p) {tp.sort = {dim = 1, less = @larger}, tp.factors = {a = 1, b = 1}} : (tensor<3x10xi32>, tensor<3x10xf32>) -> (tensor<3x4xi32>, tensor<3x4xf32>)
  return %0#0, %0#1 : tensor<3x4xi32>, tensor<3x4xf32>
}
func.func private @tp.sort(tensor<3x10xi32>, tensor<3x10xf32>) -> (tensor<3x4xi32>, tensor<3x4xf32>)
func.func private @larger(%a: i32, %b: i32, %i: f32, %j: f32) -> i1 attributes {tp.comparator} {
  %0 = arith.cmpi sgt, %a, %b : i32
  return %0 : i1
}
