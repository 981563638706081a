// A product of many elements is not linear in them: the partial sum of the matmul has to be combined before it, however cheap it would be to
// combine the small result instead.
// RUN: shard-run %s
// RUN: shard-run %s --strategy follow

shard.grid @mesh(shape = 1x4) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<24x8xi64> {tp.sharding = [[], ["y"]]}, %b: tensor<8x8xi64>, %c: tensor<24xi64>)
    -> (tensor<24xi64> {tp.sharding = [["y:(2)2", "y:(1)2", "x"]]}) {
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<24x8xi64>
  %f = linalg.fill ins(%zero : i64) outs(%e : tensor<24x8xi64>) -> tensor<24x8xi64>
  %p = linalg.matmul ins(%a, %b : tensor<24x8xi64>, tensor<8x8xi64>) outs(%f : tensor<24x8xi64>) -> tensor<24x8xi64>
  %product = linalg.reduce { arith.muli } ins(%p : tensor<24x8xi64>) outs(%c : tensor<24xi64>) dimensions = [1]
  return %product : tensor<24xi64>
}
