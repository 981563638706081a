// 6 experts on 4 devices, 5 tokens each: two groups of 3 experts, and in each the hidden layer in two parts. The best plan on the whole axis
// gives two experts to three of the devices, none to the last.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate,tp-partition)' | FileCheck %s
// An unused argument that the axis shards unevenly keeps the axis whole: then the plan costs at
// least a tenth more.
// RUN: sed 's/@main(/&%u: tensor<5xi8> {tp.sharding = [["ep"]]}, /' %s > %t.whole
// RUN: shard-opt %t.whole --pass-pipeline='builtin.module(tp-propagate)' -o %t.whole.mlir
// RUN: FileCheck %s --check-prefix=WHOLE --input-file=%t.whole.mlir
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate)' -o %t.parts.mlir
// RUN: %python -B %S/../../Inputs/relations.py parts=%t.parts.mlir whole=%t.whole.mlir -- \
// RUN:   'parts.cost_ps == parts.bound_ps' 'whole.cost_ps == whole.bound_ps' '1.1 * parts.cost_ps < whole.cost_ps'
// WHOLE-NOT: @mesh.sub
// WHOLE: linalg.batch_matmul
// RUN: shard-run %s --mesh ep=4

// CHECK: shard.grid @mesh.sub(shape = 2x2) {tp.axes = ["ep:(1)2", "ep:(2)2"], tp.of = @mesh}
// CHECK: linalg.batch_matmul {{.*}} -> tensor<3x5x48xf32>
// CHECK: linalg.batch_matmul {{.*}} -> tensor<3x5x64xf32>
// CHECK: shard.reduce_scatter {{.*}} -> tensor<3x5x32xf32>
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
