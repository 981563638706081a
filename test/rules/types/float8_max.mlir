// RUN: shard-run %s --reference=evaluator | FileCheck %s
// RUN: sed 's/f8E4M3FN/f8E5M2/g' %s > %t.mlir
// RUN: shard-run %t.mlir --reference=evaluator | FileCheck %s
// CHECK: verified

// Maxima and minima of f8 over a split dimension.
shard.grid @mesh(shape = 4) {tp.axes = ["a"]}
func.func @main(%x: tensor<8x12xf8E4M3FN> {tp.sharding = [[], ["a"]]}) -> (tensor<8xf8E4M3FN> {tp.sharding = [["a"]]}, tensor<8xf8E4M3FN> {tp.sharding = [["a"]]}) {
  %low = arith.constant -448.0 : f8E4M3FN
  %high = arith.constant 448.0 : f8E4M3FN
  %e = tensor.empty() : tensor<8xf8E4M3FN>
  %f = linalg.fill ins(%low : f8E4M3FN) outs(%e : tensor<8xf8E4M3FN>) -> tensor<8xf8E4M3FN>
  %max = linalg.reduce {arith.maximumf} ins(%x : tensor<8x12xf8E4M3FN>) outs(%f : tensor<8xf8E4M3FN>) dimensions = [1]
  %g = linalg.fill ins(%high : f8E4M3FN) outs(%e : tensor<8xf8E4M3FN>) -> tensor<8xf8E4M3FN>
  %min = linalg.reduce {arith.minimumf} ins(%x : tensor<8x12xf8E4M3FN>) outs(%g : tensor<8xf8E4M3FN>) dimensions = [1]
  return %max, %min : tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>
}
