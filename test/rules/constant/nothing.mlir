// Dimensions of size 0: nothing is computed, nothing is sent, and sums over them are their inits.
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: env TPRT_CUDA_LIBRARY=%libraries/tprt_fake_cuda.so shard-run %s --mesh 2x2 --target=cuda
// RUN: shard-run %s --mesh 3x1 --strategy follow

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(%x: tensor<0x4xf32> {tp.sharding = [["x"], ["y"]]}, %w: tensor<3x0xf32> {tp.sharding = [[], ["x"]]})
    -> (tensor<0x4xf32> {tp.sharding = [["x"], []]}, tensor<4xf32> {tp.sharding = [["x"]]}, tensor<0xi32>, tensor<3x4xf32> {tp.sharding = [["x"], []]}, tensor<0xf32>) {
  %c = arith.constant 1.5 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = arith.addf %x, %x : tensor<0x4xf32>
  %r = linalg.reduce { arith.addf } ins(%s : tensor<0x4xf32>) outs(%f : tensor<4xf32>) dimensions = [0]
  %k = arith.constant dense<> : tensor<0xi32>
  %em = tensor.empty() : tensor<3x4xf32>
  %fm = linalg.fill ins(%c : f32) outs(%em : tensor<3x4xf32>) -> tensor<3x4xf32>
  %m = linalg.matmul ins(%w, %x : tensor<3x0xf32>, tensor<0x4xf32>) outs(%fm : tensor<3x4xf32>) -> tensor<3x4xf32>
  %l = tensor.collapse_shape %w [[0, 1]] : tensor<3x0xf32> into tensor<0xf32>
  return %s, %r, %k, %m, %l : tensor<0x4xf32>, tensor<4xf32>, tensor<0xi32>, tensor<3x4xf32>, tensor<0xf32>
}
