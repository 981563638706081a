// A slice at an offset that is known only at run time: the cut dimension stays whole.
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh x=2,y=2

shard.grid @mesh(shape = 4x1) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<8x16xf32> {tp.sharding = [["x"], ["y"]]}, %at: tensor<i32>, %b: tensor<8x4xf32>)
    -> (tensor<8x4xf32> {tp.sharding = [["x"], []]}, tensor<8x16xf32> {tp.sharding = [["x"], ["y"]]}) {
  %c0 = arith.constant 0 : i32
  %c12 = arith.constant 12 : i32
  %raw = tensor.extract %at[] : tensor<i32>
  %low = arith.maxsi %raw, %c0 : i32
  %high = arith.minsi %low, %c12 : i32
  %i = arith.index_cast %high : i32 to index
  %cut = tensor.extract_slice %a[0, %i] [8, 4] [1, 1] : tensor<8x16xf32> to tensor<8x4xf32>
  %put = tensor.insert_slice %b into %a[0, %i] [8, 4] [1, 1] : tensor<8x4xf32> into tensor<8x16xf32>
  return %cut, %put : tensor<8x4xf32>, tensor<8x16xf32>
}
