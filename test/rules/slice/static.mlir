// Slices keep the dimensions they take whole sharded; a cut dimension is gathered first.
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh x=2,y=2

shard.grid @mesh(shape = 4x1) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<8x16xf32> {tp.sharding = [["x"], ["y"]]}, %b: tensor<8x4xf32> {tp.sharding = [["y"], []]})
    -> (tensor<8x4xf32> {tp.sharding = [["x"], []]}, tensor<16xf32> {tp.sharding = [["x"]]}, tensor<8x16xf32> {tp.sharding = [["x"], []]}, tensor<4x8xf32>) {
  %middle = tensor.extract_slice %a[0, 6] [8, 4] [1, 1] : tensor<8x16xf32> to tensor<8x4xf32>
  %row = tensor.extract_slice %a[3, 0] [1, 16] [1, 1] : tensor<8x16xf32> to tensor<16xf32>
  %put = tensor.insert_slice %b into %a[0, 10] [8, 4] [1, 1] : tensor<8x4xf32> into tensor<8x16xf32>
  %strided = tensor.extract_slice %a[1, 0] [4, 8] [2, 2] : tensor<8x16xf32> to tensor<4x8xf32>
  return %middle, %row, %put, %strided : tensor<8x4xf32>, tensor<16xf32>, tensor<8x16xf32>, tensor<4x8xf32>
}
