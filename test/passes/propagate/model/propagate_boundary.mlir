// boundary=whole: parts of axes split no arguments and results, though 6 experts on 4 devices are best computed in two groups
// (propagate_sub_axes_experts.mlir). A layout that an annotation names stays.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{boundary=any})' | FileCheck %s --check-prefix=ANY
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{boundary=whole})' | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/%x: tensor<6x5x64xf32>/& {tp.sharding = [["ep:(1)2"], [], []]}/' %s > %t.mlir
// RUN: shard-opt %t.mlir --pass-pipeline='builtin.module(tp-propagate{boundary=whole})' | FileCheck %s --check-prefix=NAMED

// ANY: func.func @main(%arg0: tensor<6x5x64xf32> {tp.sharding = {{.*}}ep:(
// WHOLE: func.func @main(
// WHOLE-NOT: ep:(
// WHOLE-SAME: attributes {tp.plan
// NAMED: func.func @main(%arg0: tensor<6x5x64xf32> {tp.sharding = {{\[\[}}"ep:(1)2"], [], []]}
// NAMED-NOT: ep:(
// NAMED-SAME: attributes {tp.plan
shard.grid @mesh(shape = 4) {tp.axes = ["ep"]}
func.func @main(%x: tensor<6x5x64xf32>, %w: tensor<6x64x96xf32>, %w2: tensor<6x96x64xf32>) -> tensor<6x5x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x5x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x5x96xf32>) -> tensor<6x5x96xf32>
  %y = linalg.batch_matmul ins(%x, %w : tensor<6x5x64xf32>, tensor<6x64x96xf32>) outs(%f : tensor<6x5x96xf32>) -> tensor<6x5x96xf32>
  %g = math.tanh %y : tensor<6x5x96xf32>
  %e2 = tensor.empty() : tensor<6x5x64xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<6x5x64xf32>) -> tensor<6x5x64xf32>
  %z = linalg.batch_matmul ins(%g, %w2 : tensor<6x5x96xf32>, tensor<6x96x64xf32>) outs(%f2 : tensor<6x5x64xf32>) -> tensor<6x5x64xf32>
  return %z : tensor<6x5x64xf32>
}
