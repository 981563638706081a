// What a report calls a value is accepted where one value is called so; else the message lists the values.
// RUN: shard-opt %s --pass-pipeline="builtin.module(tp-propagate{explain='matmul with x and w'})" -o /dev/null 2>&1 | FileCheck %s
// RUN: not shard-opt %s --pass-pipeline="builtin.module(tp-propagate{explain='exp after w'})" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALIKE
// RUN: not shard-opt %s --pass-pipeline="builtin.module(tp-propagate{explain='absf after w'})" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not shard-opt %s --pass-pipeline="builtin.module(tp-propagate{explain='matmul of x and w'})" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NEAR
// CHECK: explain_descriptions.mlir:[[#]]:8: remark: matmul with x and w (%2) has layout [{{.*}}]; the plan costs
// CHECK-NOT: remark
// ALIKE: error: explain: 'exp after w' describes 2 values: %3, %4; give the name of one
// MANY: 'absf after w' describes 9 values: %{{[0-9]+(, %[0-9]+)+}}, ...; give the name of one
// NEAR: there is no tensor named 'matmul of x and w'; similar names: matmul with x and w, {{.*}}; names are

shard.grid @mesh(shape = 4) {tp.axes = ["dp"]}
func.func @f(%x: tensor<64x32xf32> {tp.sharding = [["dp"], []]}, %w: tensor<32x48xf32> {tp.role = "param"}) -> tensor<64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %2 = linalg.matmul ins(%x, %w : tensor<64x32xf32>, tensor<32x48xf32>) outs(%i : tensor<64x48xf32>) -> tensor<64x48xf32>
  %3 = math.exp %2 : tensor<64x48xf32>
  %4 = math.exp %3 : tensor<64x48xf32>
  %5 = math.absf %4 : tensor<64x48xf32>
  %6 = math.absf %5 : tensor<64x48xf32>
  %7 = math.absf %6 : tensor<64x48xf32>
  %8 = math.absf %7 : tensor<64x48xf32>
  %9 = math.absf %8 : tensor<64x48xf32>
  %10 = math.absf %9 : tensor<64x48xf32>
  %11 = math.absf %10 : tensor<64x48xf32>
  %12 = math.absf %11 : tensor<64x48xf32>
  %13 = math.absf %12 : tensor<64x48xf32>
  return %13 : tensor<64x48xf32>
}
