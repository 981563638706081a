// Scalars out of tensors and into them.
// RUN: shard-run %s --mesh x=4

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @main(%a: tensor<8xf32> {tp.sharding = [["x"]]}, %b: tensor<2xf32>) -> (tensor<8xf32> {tp.sharding = [["x"]]}, tensor<2xf32>) {
  %c3 = arith.constant 3 : index
  %c1 = arith.constant 1 : index
  %x = tensor.extract %a[%c3] : tensor<8xf32>
  %s = tensor.splat %x : tensor<8xf32>
  %r = arith.addf %a, %s : tensor<8xf32>
  %p = tensor.from_elements %x, %x : tensor<2xf32>
  %q = arith.mulf %p, %b : tensor<2xf32>
  %t = tensor.insert %x into %q[%c1] : tensor<2xf32>
  return %r, %t : tensor<8xf32>, tensor<2xf32>
}
