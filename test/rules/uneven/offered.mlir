// Fewer rows than devices are split where an annotation says so, and what it does not reach stays whole.
// RUN: shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-propagate,tp-partition)' | FileCheck %s

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
// CHECK-LABEL: func.func @main
// CHECK: math.tanh {{.*}} : tensor<1x8xf32>
// CHECK: "my.sort"{{.*}} : (tensor<3x4096xf32>) -> tensor<3x4096xf32>
func.func @main(%a: tensor<3x8xf32> {tp.sharding = [["x"], []]}, %b: tensor<3x4096xf32>) -> (tensor<3x8xf32> {tp.sharding = [["x"], []]}, tensor<3x4096xf32>) {
  %t = math.tanh %a : tensor<3x8xf32>
  %s = "my.sort"(%b) {tp.rule = "([r,s])->([r,s]) fixed={s} uneven={r}"} : (tensor<3x4096xf32>) -> tensor<3x4096xf32>
  return %t, %s : tensor<3x8xf32>, tensor<3x4096xf32>
}
