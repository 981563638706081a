// One layer of Megatron-LM: the first weight is split by columns, the second by rows. Each device
// computes a part of every sum of the second matmul, and one all_reduce over "tp" adds them. The
// tokens are split over "dp"; nothing else is communicated.
//
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=dp=2,tp=4 topology=h100})' | FileCheck %s

// CHECK-LABEL: func.func @mlp
// CHECK-SAME:    tensor<32x256xf32> {tp.global = tensor<64x256xf32>
// CHECK-SAME:    tensor<256x256xf32> {tp.global = tensor<256x1024xf32>
// CHECK-SAME:    tensor<256x256xf32> {tp.global = tensor<1024x256xf32>
// CHECK-NOT:   shard.
// CHECK:       linalg.matmul
// CHECK-NOT:   shard.
// CHECK:       %[[PART:.*]] = linalg.matmul
// CHECK:       %[[SUM:.*]] = shard.all_reduce %[[PART]] on @mesh grid_axes = [1] : tensor<32x256xf32> -> tensor<32x256xf32>
// CHECK-NOT:   shard.
// CHECK:       return %[[SUM]]
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @mlp(%x: tensor<64x256xf32> {tp.sharding = [["dp"], []]},
               %up: tensor<256x1024xf32> {tp.sharding = [[], ["tp"]]},
               %down: tensor<1024x256xf32> {tp.sharding = [["tp"], []]})
    -> (tensor<64x256xf32> {tp.sharding = [["dp"], []]}) {
  %zero = arith.constant 0.0 : f32
  %wide = arith.constant dense<0.0> : tensor<64x1024xf32>
  %narrow = arith.constant dense<0.0> : tensor<64x256xf32>
  %a = linalg.matmul ins(%x, %up : tensor<64x256xf32>, tensor<256x1024xf32>)
                     outs(%wide : tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x1024xf32>) outs(%wide : tensor<64x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %positive = arith.maximumf %in, %zero : f32
    linalg.yield %positive : f32
  } -> tensor<64x1024xf32>
  %y = linalg.matmul ins(%h, %down : tensor<64x1024xf32>, tensor<1024x256xf32>)
                     outs(%narrow : tensor<64x256xf32>) -> tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
