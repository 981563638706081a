// Numbers about shapes, a dimension that is known at run time, casts that change nothing.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 3x1 --strategy follow
// RUN: shard-run %s --mesh 5x1

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(%x: tensor<5x6xf32> {tp.sharding = [["x"], ["y"]]}, %which: tensor<index> {tp.sharding = []}) -> (tensor<3xindex>, tensor<5x6xf32> {tp.sharding = [["x"], []]}, tensor<5x6xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tensor.dim %x, %c1 : tensor<5x6xf32>
  %r = tensor.rank %x : tensor<5x6xf32>
  %w0 = tensor.extract %which[] : tensor<index>
  %w = arith.minui %w0, %c1 : index
  %b = tensor.dim %x, %w : tensor<5x6xf32>
  %t = tensor.from_elements %a, %r, %b : tensor<3xindex>
  %same = tensor.cast %x : tensor<5x6xf32> to tensor<5x6xf32>
  %bits = tensor.bitcast %same : tensor<5x6xf32> to tensor<5x6xi32>
  return %t, %same, %bits : tensor<3xindex>, tensor<5x6xf32>, tensor<5x6xi32>
}
