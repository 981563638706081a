// A tensor of scalars has no whole copy that travels: each device slices its part.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=2x1 strategy=follow})' | FileCheck %s
// RUN: shard-run %s --mesh 2x1
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 1x3 --strategy follow

shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
// CHECK-LABEL: func.func @main
// CHECK-NOT: {{all_gather|all_reduce}}
// CHECK: return
func.func @main(%s: f32, %n: index) -> (tensor<3xf32> {tp.sharding = [["x"]]}, tensor<2x3xindex> {tp.sharding = [["x"], ["y"]]}, tensor<f32>) {
  %c = arith.constant 3.0 : f32
  %one = arith.constant 1 : index
  %m = arith.addi %n, %one : index
  %a = tensor.from_elements %s, %c, %s : tensor<3xf32>
  %b = tensor.from_elements %n, %m, %n, %m, %one, %n : tensor<2x3xindex>
  %z = tensor.from_elements %s : tensor<f32>
  %d = arith.mulf %a, %a : tensor<3xf32>
  return %d, %b, %z : tensor<3xf32>, tensor<2x3xindex>, tensor<f32>
}
