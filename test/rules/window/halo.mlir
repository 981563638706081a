// What a split window costs: permutes of the rows that devices need of each other, and no gather; nothing where windows only touch, or where
// the batch is split.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-spmd{mesh=x=4 strategy=follow})' | FileCheck %s
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-spmd{mesh=x=4})' | FileCheck %s

// Each device has 17 rows of 66 and reads 18 for its 16: one of the next device for the first, two of the one before for the last.
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
// CHECK-LABEL: func.func @rows
// CHECK-NOT: all_gather
// CHECK: call @tp.permute.2x3x66x16xf32
// CHECK-SAME{LITERAL}: [[0, 1], [1, 2], [2, 3]]
// CHECK: call @tp.permute.2x1x66x16xf32
// CHECK-SAME{LITERAL}: [[1, 0]]
// CHECK: arith.constant dense<[3, 2, 1, 0]>
// CHECK-NOT: {{all_gather|call}}
// CHECK: linalg.conv_2d_nhwc_hwcf {{.*}} ins({{.*}} : tensor<2x18x66x16xf32>, tensor<3x3x16x16xf32>)
// CHECK-NEXT: return
func.func @rows(%a: tensor<2x66x66x16xf32> {tp.sharding = [[], ["x"], [], []]}, %k: tensor<3x3x16x16xf32>) -> (tensor<2x64x64x16xf32> {tp.sharding = [[], ["x"], [], []]}) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x64x64x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x64x64x16xf32>) -> tensor<2x64x64x16xf32>
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%a, %k : tensor<2x66x66x16xf32>, tensor<3x3x16x16xf32>) outs(%f : tensor<2x64x64x16xf32>) -> tensor<2x64x64x16xf32>
  return %0 : tensor<2x64x64x16xf32>
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
// CHECK-LABEL: func.func @overlapping_pool
// CHECK-NOT: all_gather
// CHECK: call @tp.permute.2x1x64x16xf32
// CHECK-SAME{LITERAL}: [[1, 0], [2, 1], [3, 2]]
// CHECK-NOT: {{all_gather|call}}
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<2x17x64x16xf32>, tensor<3x3xf32>)
// CHECK: arith.maximumf
// CHECK-NOT: {{all_gather|call}}
// CHECK: return
func.func @overlapping_pool(%a: tensor<2x64x64x16xf32> {tp.sharding = [[], ["x"], [], []]}) -> (tensor<2x31x31x16xf32> {tp.sharding = [[], ["x"], [], []]}) {
  %low = arith.constant 0xFF800000 : f32
  %w = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : tensor<2x31x31x16xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<2x31x31x16xf32>) -> tensor<2x31x31x16xf32>
  %0 = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%a, %w : tensor<2x64x64x16xf32>, tensor<3x3xf32>) outs(%f : tensor<2x31x31x16xf32>) -> tensor<2x31x31x16xf32>
  return %0 : tensor<2x31x31x16xf32>
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
// CHECK-LABEL: func.func @touching_pool
// CHECK-NOT: {{shard\.|call}}
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<2x16x64x16xf32>, tensor<2x2xf32>)
// CHECK: arith.maximumf
// CHECK-NOT: {{shard\.|call}}
// CHECK: return
func.func @touching_pool(%a: tensor<2x64x64x16xf32> {tp.sharding = [[], ["x"], [], []]}) -> (tensor<2x32x32x16xf32> {tp.sharding = [[], ["x"], [], []]}) {
  %low = arith.constant 0xFF800000 : f32
  %w = tensor.empty() : tensor<2x2xf32>
  %e = tensor.empty() : tensor<2x32x32x16xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<2x32x32x16xf32>) -> tensor<2x32x32x16xf32>
  %0 = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%a, %w : tensor<2x64x64x16xf32>, tensor<2x2xf32>) outs(%f : tensor<2x32x32x16xf32>) -> tensor<2x32x32x16xf32>
  return %0 : tensor<2x32x32x16xf32>
}

// -----

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
// CHECK-LABEL: func.func @batch
// CHECK-NOT: {{shard\.|call}}
// CHECK: linalg.conv_2d_nhwc_hwcf {{.*}} ins({{.*}} : tensor<2x66x66x16xf32>, tensor<3x3x16x16xf32>)
// CHECK-NEXT: return
func.func @batch(%a: tensor<8x66x66x16xf32> {tp.sharding = [["x"], [], [], []]}, %k: tensor<3x3x16x16xf32> {tp.sharding = [[], [], [], []]}) -> tensor<8x64x64x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x64x64x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x64x64x16xf32>) -> tensor<8x64x64x16xf32>
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%a, %k : tensor<8x66x66x16xf32>, tensor<3x3x16x16xf32>) outs(%f : tensor<8x64x64x16xf32>) -> tensor<8x64x64x16xf32>
  return %0 : tensor<8x64x64x16xf32>
}

// -----

// The rows change places: each device gets the buffer of another one, at once.
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
// CHECK-LABEL: func.func @reversed
// CHECK: call @tp.permute.16x1024xf32
// CHECK-SAME{LITERAL}: [[3, 0], [2, 1], [1, 2], [0, 3]]
// CHECK-NOT: {{all_gather|call}}
// CHECK: return
func.func @reversed(%a: tensor<64x1024xf32> {tp.sharding = [["x"], []]}) -> (tensor<64x1024xf32> {tp.sharding = [["x"], []]}) {
  %e = tensor.empty() : tensor<64x1024xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (63 - d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x1024xf32>) outs(%e : tensor<64x1024xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<64x1024xf32>
  return %0 : tensor<64x1024xf32>
}

// -----

// A kernel of one point: the window is the row itself, and nothing moves.
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
// CHECK-LABEL: func.func @one_point
// CHECK-NOT: {{all_gather|all_slice|call}}
// CHECK: linalg.conv_2d_nhwc_hwcf {{.*}} ins({{.*}} : tensor<2x16x64x16xf32>, tensor<1x1x16x16xf32>)
// CHECK-NOT: {{all_gather|all_slice|call}}
// CHECK: return
func.func @one_point(%a: tensor<2x64x64x16xf32> {tp.sharding = [[], ["x"], [], []]}, %k: tensor<1x1x16x16xf32>) -> (tensor<2x64x64x16xf32> {tp.sharding = [[], ["x"], [], []]}) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x64x64x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x64x64x16xf32>) -> tensor<2x64x64x16xf32>
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%a, %k : tensor<2x64x64x16xf32>, tensor<1x1x16x16xf32>) outs(%f : tensor<2x64x64x16xf32>) -> tensor<2x64x64x16xf32>
  return %0 : tensor<2x64x64x16xf32>
}
