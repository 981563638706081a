// A slice that has strides and drops a dimension, beside others of one element: this ended the compiler.
// RUN: shard-run %s --mesh x=2
// RUN: shard-run %s --mesh x=2 --strategy follow
// RUN: shard-run %s --mesh x=3

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @main(%a: tensor<12x2x2x16xf32> {tp.sharding = [[], ["x"], [], []]}, %b: tensor<5x2x13xf32>, %c: tensor<7x1x4xf32>,
                %d: tensor<1x4xf32>, %at: tensor<i32>)
    -> (tensor<5x2x13xf32>, tensor<12x2x2x16xf32>, tensor<1x4xf32>, tensor<7x1x4xf32>, tensor<5x2x13xf32>) {
  %0 = tensor.extract_slice %a[3, 0, 0, 1] [5, 2, 1, 13] [2, 1, 1, 1] : tensor<12x2x2x16xf32> to tensor<5x2x13xf32>
  %1 = tensor.insert_slice %b into %a[3, 0, 0, 1] [5, 2, 1, 13] [2, 1, 1, 1] : tensor<5x2x13xf32> into tensor<12x2x2x16xf32>
  // The stride stands where one element is taken.
  %2 = tensor.extract_slice %c[3, 0, 0] [1, 1, 4] [2, 1, 1] : tensor<7x1x4xf32> to tensor<1x4xf32>
  %3 = tensor.insert_slice %d into %c[3, 0, 0] [1, 1, 4] [3, 1, 1] : tensor<1x4xf32> into tensor<7x1x4xf32>
  // At an offset that is known at run time.
  %i32 = tensor.extract %at[] : tensor<i32>
  %one = arith.constant 1 : i32
  %bounded = arith.andi %i32, %one : i32
  %i = arith.index_cast %bounded : i32 to index
  %4 = tensor.extract_slice %a[%i, 0, %i, 1] [5, 2, 1, 13] [2, 1, 1, 1] : tensor<12x2x2x16xf32> to tensor<5x2x13xf32>
  return %0, %1, %2, %3, %4 : tensor<5x2x13xf32>, tensor<12x2x2x16xf32>, tensor<1x4xf32>, tensor<7x1x4xf32>, tensor<5x2x13xf32>
}
