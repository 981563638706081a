// Layout changes between uneven layouts, and dimensions that transposes, slices, concatenations, padding and reshapes leave alone.
// RUN: shard-run %s --mesh 2
// RUN: shard-run %s --mesh 3 --strategy follow
// RUN: shard-run %s --mesh 4
// RUN: shard-run %s --mesh 2x2 --strategy follow
// RUN: shard-run %s --mesh 3x2 --strategy follow
// RUN: shard-run %s --mesh 2x4 --strategy follow
// RUN: shard-run %s --mesh 2x4
// RUN: shard-run %s --mesh 3x2 --launch processes

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @main(%a: tensor<10x7xf32> {tp.sharding = [["dp", "tp"], []]}, %b: tensor<10x7x4xf32> {tp.sharding = [["tp"], ["dp"], []]})
    -> (tensor<10x7xf32> {tp.sharding = [["tp", "dp"], []]}, tensor<10x7xf32> {tp.sharding = [["tp"], ["dp"]]}, tensor<10x7xf32> {tp.sharding = [[], ["dp", "tp"]]},
        tensor<7x10xf32> {tp.sharding = [[], ["dp", "tp"]]}, tensor<10x3xf32> {tp.sharding = [["dp", "tp"], []]}, tensor<10x14xf32> {tp.sharding = [["dp", "tp"], []]},
        tensor<10x9xf32> {tp.sharding = [["dp", "tp"], []]}, tensor<10x28xf32> {tp.sharding = [["tp"], []]}, tensor<10x7x2x2xf32> {tp.sharding = [["tp"], ["dp"], [], []]},
        tensor<10x7xf32> {tp.sharding = [["dp", "tp"], []]}, tensor<280xf32>) {
  %s = tensor.extract_slice %a[0, 2] [10, 3] [1, 2] : tensor<10x7xf32> to tensor<10x3xf32>
  %c = tensor.concat dim(1) %a, %a : (tensor<10x7xf32>, tensor<10x7xf32>) -> tensor<10x14xf32>
  %zero = arith.constant 0.5 : f32
  %p = tensor.pad %a low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<10x7xf32> to tensor<10x9xf32>
  %e = tensor.empty() : tensor<7x10xf32>
  %t = linalg.transpose ins(%a : tensor<10x7xf32>) outs(%e : tensor<7x10xf32>) permutation = [1, 0]
  %m = tensor.collapse_shape %b [[0], [1, 2]] : tensor<10x7x4xf32> into tensor<10x28xf32>
  %x = tensor.expand_shape %b [[0], [1], [2, 3]] output_shape [10, 7, 2, 2] : tensor<10x7x4xf32> into tensor<10x7x2x2xf32>
  %i = tensor.insert_slice %s into %a[0, 1] [10, 3] [1, 1] : tensor<10x3xf32> into tensor<10x7xf32>
  %flat = tensor.collapse_shape %b [[0, 1, 2]] : tensor<10x7x4xf32> into tensor<280xf32>
  return %a, %a, %a, %t, %s, %c, %p, %m, %x, %i, %flat : tensor<10x7xf32>, tensor<10x7xf32>, tensor<10x7xf32>, tensor<7x10xf32>, tensor<10x3xf32>, tensor<10x14xf32>, tensor<10x9xf32>, tensor<10x28xf32>, tensor<10x7x2x2xf32>, tensor<10x7xf32>, tensor<280xf32>
}
