// A plan is made of pins: planning it again, also for another machine, gives it again. An element that is read has no layout to pin.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate)' | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate,tp-propagate)' | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate,tp-propagate{topology=h100})' | FileCheck %s
// RUN: shard-run %s

shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
// CHECK-LABEL: func.func @main
// CHECK: tensor.extract %{{.*}}[%{{.*}}] : tensor<8xf32>
// CHECK: linalg.generic {{.*}}tp.sharding = {{\[\[}}"x"]]
func.func @main(%a: tensor<512xf32> {tp.sharding = [["x"]]}, %b: tensor<8xf32> {tp.sharding = [[]]}) -> (tensor<512xf32> {tp.sharding = [["x"]]}) {
  %c = arith.constant 3 : index
  %v = tensor.extract %b[%c] : tensor<8xf32>
  %e = tensor.empty() : tensor<512xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<512xf32>) outs(%e : tensor<512xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %v : f32
    linalg.yield %s : f32
  } -> tensor<512xf32>
  return %r : tensor<512xf32>
}
