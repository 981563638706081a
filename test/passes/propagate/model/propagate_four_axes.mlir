// A mesh of four axes: 16 devices. With the orders in which annotations have the axes a matmul has more strategies than a decision may have;
// those of least work are taken, the others counted.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate)' 2>&1 | FileCheck %s
// RUN: shard-run %s

// CHECK: remark: 'func.func': planned with {{[0-9]+}} strategies; {{[0-9]+}} more were left out, because decisions are limited to 1024 each: cost and bound only cover the strategies that were kept
// CHECK: tp.plan = {bound_ps = [[COST:[0-9]+]] : i64, cost_ps = [[COST]]
shard.grid @mesh(shape = 2x2x2x2) {tp.axes = ["a", "b", "c", "d"]}
func.func @small(%x: tensor<32x48xf32> {tp.sharding = [["a", "b"], ["c", "d"]]}, %v: tensor<48x64xf32> {tp.sharding = [["c"], ["d"]]},
                 %w: tensor<64x48xf32> {tp.sharding = [["d"], ["c"]]}) -> (tensor<32x48xf32> {tp.sharding = [["d", "a"], ["b"]]}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x64xf32>) -> tensor<32x64xf32>
  %h = linalg.matmul ins(%x, %v : tensor<32x48xf32>, tensor<48x64xf32>) outs(%f : tensor<32x64xf32>) -> tensor<32x64xf32>
  %t = math.tanh %h : tensor<32x64xf32>
  %e2 = tensor.empty() : tensor<32x48xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<32x48xf32>) -> tensor<32x48xf32>
  %y = linalg.matmul ins(%t, %w : tensor<32x64xf32>, tensor<64x48xf32>) outs(%f2 : tensor<32x48xf32>) -> tensor<32x48xf32>
  return %y : tensor<32x48xf32>
}

