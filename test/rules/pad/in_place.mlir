// Which pads windows read in place, what is fetched then, and through which of them sums pass.
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate{strategy=follow})' | FileCheck %s
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate{strategy=follow},tp-propagate{strategy=follow})' | FileCheck %s
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate{strategy=follow},tp-partition)' | FileCheck %s --check-prefix=LOCAL
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-propagate,tp-drop-shardings)' | FileCheck %s --check-prefix=DROPPED
// DROPPED-NOT: tp.in_place

// Two users that read windows have a pad each; the rows of the image are fetched once for both.
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
// CHECK-LABEL: func.func @two_windows
// CHECK: tensor.pad %arg0 low[0, 1, 0] high[0, 1, 0]
// CHECK: } {tp.in_place}
// CHECK-NEXT: linalg.pooling_nwc_max {{.*}}tp.sharding = {{\[\[}}], ["x"], []]
// CHECK: tensor.pad %arg0 low[0, 1, 0] high[0, 1, 0]
// CHECK: } {tp.in_place}
// CHECK-NEXT: linalg.pooling_nwc_min {{.*}}tp.sharding = {{\[\[}}], ["x"], []]
// LOCAL-LABEL: func.func @two_windows
// LOCAL: call @tp.permute.2x1x3xf32
// LOCAL: call @tp.permute.2x1x3xf32
// LOCAL: arith.cmpi ult
// LOCAL-NOT: tensor.pad
// LOCAL: linalg.pooling_nwc_max {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x6x3xf32>, tensor<3xf32>)
func.func @two_windows(%a: tensor<2x16x3xf32> {tp.sharding = [[], ["x"], []]}, %z: f32, %w: tensor<3xf32>)
    -> (tensor<2x16x3xf32> {tp.sharding = [[], ["x"], []]}, tensor<2x16x3xf32> {tp.sharding = [[], ["x"], []]}) {
  %p = tensor.pad %a low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %z : f32
  } : tensor<2x16x3xf32> to tensor<2x18x3xf32>
  %e = tensor.empty() : tensor<2x16x3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x16x3xf32>) -> tensor<2x16x3xf32>
  %0 = linalg.pooling_nwc_max {tp.sharding = [[[], ["x"], []]], dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>}
      ins(%p, %w : tensor<2x18x3xf32>, tensor<3xf32>) outs(%f : tensor<2x16x3xf32>) -> tensor<2x16x3xf32>
  %1 = linalg.pooling_nwc_min {tp.sharding = [[[], ["x"], []]], dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>}
      ins(%p, %w : tensor<2x18x3xf32>, tensor<3xf32>) outs(%f : tensor<2x16x3xf32>) -> tensor<2x16x3xf32>
  return %0, %1 : tensor<2x16x3xf32>, tensor<2x16x3xf32>
}

// -----

// What is not split is padded as ever, and no row moves.
shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
// LOCAL-LABEL: func.func @batch
// LOCAL-NOT: call
// LOCAL: tensor.pad %{{.*}} low[0, 1, 0] high[0, 1, 0]
// LOCAL: } : tensor<1x16x3xf32> to tensor<1x18x3xf32>
// LOCAL-NEXT: linalg.pooling_nwc_max
func.func @batch(%a: tensor<2x16x3xf32> {tp.sharding = [["x"], [], []]}, %z: f32, %w: tensor<3xf32>) -> (tensor<2x16x3xf32> {tp.sharding = [["x"], [], []]}) {
  %p = tensor.pad %a low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %z : f32
  } : tensor<2x16x3xf32> to tensor<2x18x3xf32>
  %e = tensor.empty() : tensor<2x16x3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x16x3xf32>) -> tensor<2x16x3xf32>
  %0 = linalg.pooling_nwc_max {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>}
      ins(%p, %w : tensor<2x18x3xf32>, tensor<3xf32>) outs(%f : tensor<2x16x3xf32>) -> tensor<2x16x3xf32>
  return %0 : tensor<2x16x3xf32>
}

// -----

// A sum passes through a pad of zeros and a convolution; a pad of ones would be added once for each part, so the sum is made in front of it.
shard.grid @mesh(shape = 2) {tp.axes = ["x"]}
// CHECK-LABEL: func.func @sums
// CHECK: linalg.matmul {tp.sharding = {dims = {{\[\[}}], []], partial = {x = "sum"}}}
// CHECK: %[[SUM:.*]] = shard.shard %{{.*}} to
// CHECK: %[[ZEROS:.*]] = tensor.pad %[[PART:.*]] low[1, 1] high[1, 1]
// CHECK: linalg.conv_2d {tp.sharding = {dims = {{\[\[}}], []], partial = {x = "sum"}}} ins(%[[ZEROS]]
// CHECK: %[[ONES:.*]] = tensor.pad %[[SUM]] low[1, 1] high[1, 1]
// CHECK: linalg.conv_2d {tp.sharding = {{\[\[}}], []]} ins(%[[ONES]]
func.func @sums(%a: tensor<8x16xf32> {tp.sharding = [[], ["x"]]}, %b: tensor<16x8xf32> {tp.sharding = [["x"], []]}, %k: tensor<3x3xf32> {tp.sharding = [[], []]})
    -> (tensor<8x8xf32> {tp.sharding = {dims = [[], []], partial = {x = "sum"}}}, tensor<8x8xf32> {tp.sharding = [[], []]}) {
  %z = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = linalg.matmul {tp.sharding = {dims = [[], []], partial = {x = "sum"}}} ins(%a, %b : tensor<8x16xf32>, tensor<16x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = tensor.pad %m low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<8x8xf32> to tensor<10x10xf32>
  %0 = linalg.conv_2d {tp.sharding = {dims = [[], []], partial = {x = "sum"}}} ins(%p, %k : tensor<10x10xf32>, tensor<3x3xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = tensor.pad %m low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %one : f32
  } : tensor<8x8xf32> to tensor<10x10xf32>
  %1 = linalg.conv_2d ins(%q, %k : tensor<10x10xf32>, tensor<3x3xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// A pad stays a value: with an annotation; for users that are no windows (the result, an elementwise op, a shift); of unknown width; in front of a
// loop.
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
// CHECK-LABEL: func.func @stays
// CHECK-NOT: tp.in_place
// CHECK: return
func.func @stays(%a: tensor<2x16x3xf32> {tp.sharding = [[], ["x"], []]}, %z: f32, %w: tensor<3xf32>, %n: index)
    -> (tensor<2x16x3xf32>, tensor<2x18x3xf32>, tensor<2x18x3xf32>, tensor<2x17x3xf32>, tensor<2x16x3xf32>, tensor<2x16x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = tensor.pad %a low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %z : f32
  } {tp.sharding = [[[], [], []]]} : tensor<2x16x3xf32> to tensor<2x18x3xf32>
  %e = tensor.empty() : tensor<2x16x3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x16x3xf32>) -> tensor<2x16x3xf32>
  %0 = linalg.pooling_nwc_max {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>}
      ins(%p, %w : tensor<2x18x3xf32>, tensor<3xf32>) outs(%f : tensor<2x16x3xf32>) -> tensor<2x16x3xf32>
  %q = tensor.pad %a low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %z : f32
  } : tensor<2x16x3xf32> to tensor<2x18x3xf32>
  %1 = math.exp %q : tensor<2x18x3xf32>
  %e3 = tensor.empty() : tensor<2x17x3xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(b, h, c) -> (b, h + 1, c)>, affine_map<(b, h, c) -> (b, h, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%q : tensor<2x18x3xf32>) outs(%e3 : tensor<2x17x3xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<2x17x3xf32>
  %d = tensor.pad %a low[0, %n, 0] high[0, 1, 0] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %z : f32
  } : tensor<2x16x3xf32> to tensor<2x18x3xf32>
  %4 = linalg.pooling_nwc_max {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>}
      ins(%d, %w : tensor<2x18x3xf32>, tensor<3xf32>) outs(%f : tensor<2x16x3xf32>) -> tensor<2x16x3xf32>
  %r = tensor.pad %a low[0, 2, 0] high[0, 0, 0] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %z : f32
  } : tensor<2x16x3xf32> to tensor<2x18x3xf32>
  %5 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %f) -> (tensor<2x16x3xf32>) {
    %6 = linalg.pooling_nwc_max {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>}
        ins(%r, %w : tensor<2x18x3xf32>, tensor<3xf32>) outs(%acc : tensor<2x16x3xf32>) -> tensor<2x16x3xf32>
    scf.yield %6 : tensor<2x16x3xf32>
  }
  return %0, %q, %1, %3, %4, %5 : tensor<2x16x3xf32>, tensor<2x18x3xf32>, tensor<2x18x3xf32>, tensor<2x17x3xf32>, tensor<2x16x3xf32>, tensor<2x16x3xf32>
}

// -----

// tp.factors is an annotation too.
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
// CHECK-LABEL: func.func @factors
// CHECK: tensor.pad
// CHECK: } {tp.sharding = {{\[\[}}"x"], [], []]}
func.func @factors(%a: tensor<4x16x3xf32> {tp.sharding = [["x"], [], []]}, %z: f32, %w: tensor<3xf32>) -> tensor<4x16x3xf32> {
  %p = tensor.pad %a low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %z : f32
  } {tp.factors = {x = 0}} : tensor<4x16x3xf32> to tensor<4x18x3xf32>
  %e = tensor.empty() : tensor<4x16x3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x16x3xf32>) -> tensor<4x16x3xf32>
  %0 = linalg.pooling_nwc_max {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>}
      ins(%p, %w : tensor<4x18x3xf32>, tensor<3xf32>) outs(%f : tensor<4x16x3xf32>) -> tensor<4x16x3xf32>
  return %0 : tensor<4x16x3xf32>
}
