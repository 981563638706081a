// A slice that keeps the first dimension of one element and drops a later one, at offsets that are constants: canonicalize of LLVM 22 makes an invalid
// op of it, so that no form of the program would run. It is taken apart before.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-decompose)' | FileCheck %s
// RUN: shard-run %s --mesh x=2
// RUN: shard-run %s --mesh x=3 --strategy follow

// CHECK-LABEL: func.func @main(
// CHECK: %[[ALL:.*]] = tensor.extract_slice %arg0[%{{.*}}, %{{.*}}, 0] [1, 5, 1] [1, 1, 1] {tp.factors = {x = 0 : i64}} : tensor<4x9x1xf64> to tensor<1x5x1xf64>
// CHECK: tensor.extract_slice %[[ALL]][0, 0, 0] [1, 5, 1] [1, 1, 1] {tp.sharding = {{.*}}} : tensor<1x5x1xf64> to tensor<1x5xf64>
// What upstream would drop is dropped at once.
// CHECK: tensor.extract_slice %arg0[%{{.*}}, %{{.*}}, 0] [1, 5, 1] [1, 1, 1] : tensor<4x9x1xf64> to tensor<5x1xf64>
// CHECK: tensor.extract_slice %arg0[1, 0, 0] [1, 5, 1] [1, 1, 1] : tensor<4x9x1xf64> to tensor<1x5xf64>

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
func.func @main(%a: tensor<4x9x1xf64> {tp.sharding = [["x"], [], []]}) -> (tensor<1x5xf64>, tensor<5x1xf64>, tensor<1x5xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %other = tensor.extract_slice %a[%c1, %c0, 0] [1, 5, 1] [1, 1, 1] {tp.factors = {x = 0}, tp.sharding = [[], []]} : tensor<4x9x1xf64> to tensor<1x5xf64>
  %first = tensor.extract_slice %a[%c1, %c0, 0] [1, 5, 1] [1, 1, 1] : tensor<4x9x1xf64> to tensor<5x1xf64>
  %known = tensor.extract_slice %a[1, 0, 0] [1, 5, 1] [1, 1, 1] : tensor<4x9x1xf64> to tensor<1x5xf64>
  return %other, %first, %known : tensor<1x5xf64>, tensor<5x1xf64>, tensor<1x5xf64>
}
