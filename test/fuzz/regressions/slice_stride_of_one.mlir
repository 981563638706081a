// A stride along a dimension of which one element is taken, in a slice that drops dimensions: this ended the compiler.
// RUN: shard-run %s --mesh x=2
// RUN: shard-run %s --mesh x=2 --strategy follow

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @main(%a: tensor<7x1x4xf32> {tp.sharding = [[], [], ["x"]]}, %b: tensor<1x4xf32>)
    -> (tensor<1x4xf32>, tensor<7x1x4xf32> {tp.sharding = [[], [], ["x"]]}) {
  %cut = tensor.extract_slice %a[3, 0, 0] [1, 1, 4] [2, 1, 1] : tensor<7x1x4xf32> to tensor<1x4xf32>
  %put = tensor.insert_slice %b into %a[3, 0, 0] [1, 1, 4] [3, 1, 1] : tensor<1x4xf32> into tensor<7x1x4xf32>
  return %cut, %put : tensor<1x4xf32>, tensor<7x1x4xf32>
}
