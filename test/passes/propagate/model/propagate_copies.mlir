// A layout is made of the copy from which it costs least: of the gathered one a slice, which moves nothing.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate,tp-partition)' | FileCheck %s

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
// CHECK-LABEL: func.func @main
// CHECK: %[[G:.*]] = shard.all_gather
// CHECK-NEXT: %[[S:.*]] = shard.all_slice %[[G]] on @mesh grid_axes = [0] slice_axis = 1
// CHECK-NEXT: return %[[G]], %[[S]]
func.func @main(%a: tensor<64x64xf32> {tp.sharding = [["x"], []]}) -> (tensor<64x64xf32> {tp.sharding = [[], []]}, tensor<64x64xf32> {tp.sharding = [[], ["x"]]}) {
  %t = math.tanh %a {tp.sharding = [["x"], []]} : tensor<64x64xf32>
  return %t, %t : tensor<64x64xf32>, tensor<64x64xf32>
}
