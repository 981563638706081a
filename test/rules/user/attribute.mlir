// Ops that the library does not know, with a rule of their own: planned and localized by it.
// RUN: shard-opt %s --split-input-file --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-spmd{strategy=follow})' | FileCheck %s

// A reduction factor that is split makes the result partial; the scalar operand has no layout.
// CHECK-LABEL: func.func @contraction
// CHECK: %[[P:.*]] = "my.matmul"(%{{.*}}, %{{.*}}, %{{.*}}) {{.*}} : (tensor<4x4xf32>, f32, tensor<4x16xf32>) -> tensor<4x16xf32>
// CHECK: %[[S:.*]] = shard.all_reduce %[[P]] on @mesh grid_axes = [1] : tensor<4x16xf32> -> tensor<4x16xf32>
// CHECK: return %[[S]]
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @contraction(%a: tensor<8x16xf32> {tp.sharding = [["dp"], ["tp"]]}, %s: f32, %b: tensor<16x16xf32> {tp.sharding = [["tp"], []]})
    -> (tensor<8x16xf32> {tp.sharding = [["dp"], []]}) {
  %c = "my.matmul"(%a, %s, %b) {tp.rule = "([i,k],(),[k,j])->([i,j]) reduction={k}"} : (tensor<8x16xf32>, f32, tensor<16x16xf32>) -> tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}

// -----

// A maximum is combined by max.
// CHECK-LABEL: func.func @maximum
// CHECK: %[[P:.*]] = "my.max"(%{{.*}}) {{.*}} : (tensor<64x256xf32>) -> tensor<256xf32>
// CHECK: shard.all_reduce %[[P]] on @mesh grid_axes = [0] reduction = max
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @maximum(%a: tensor<256x256xf32> {tp.sharding = [["x"], []]}) -> (tensor<256xf32> {tp.sharding = [[]]}) {
  %c = "my.max"(%a) {tp.rule = "([i,j])->([j]) reduction={i:max}"} : (tensor<256x256xf32>) -> tensor<256xf32>
  return %c : tensor<256xf32>
}

// -----

// Joined factors: 64 is 8 heads of 8, and the heads are split.
// CHECK-LABEL: func.func @heads
// CHECK: "my.heads"(%{{.*}}) {{.*}} : (tensor<4x16xf32>) -> tensor<2x4x8xf32>
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @heads(%a: tensor<4x64xf32> {tp.sharding = [[], ["x"]]}) -> (tensor<8x4x8xf32> {tp.sharding = [["x"], [], []]}) {
  %c = "my.heads"(%a) {tp.rule = "([s,(h d)])->([h,s,d])"} : (tensor<4x64xf32>) -> tensor<8x4x8xf32>
  return %c : tensor<8x4x8xf32>
}

// -----

// The same with the heads in another operand than the first: the axis is cut where they end.
// CHECK: shard.grid @mesh.sub(shape = 4x2) {tp.axes = ["x:(1)4", "x:(4)2"]
// CHECK-LABEL: func.func @heads_of_second
// CHECK-NOT: shard.all
// CHECK: "my.heads"(%{{.*}}, %{{.*}}) {{.*}} : (tensor<4xf32>, tensor<4x8xf32>) -> tensor<1x4x8xf32>
shard.grid @mesh(shape = 8) {tp.axes = ["x"]}
func.func @heads_of_second(%s: tensor<4xf32>, %a: tensor<4x64xf32> {tp.sharding = [[], ["x"]]}) -> tensor<4x4x16xf32> {
  %c = "my.heads"(%s, %a) {tp.rule = "([s],[s,(h d)])->([h,s,d])"} : (tensor<4xf32>, tensor<4x64xf32>) -> tensor<4x4x16xf32>
  return %c : tensor<4x4x16xf32>
}

// -----

// What is fixed, '_' or '1' is gathered.
// CHECK-LABEL: func.func @sort
// CHECK: %[[A:.*]] = shard.all_gather %arg0 on @mesh grid_axes = [0] gather_axis = 1 : tensor<4x2x1xf32> -> tensor<4x8x1xf32>
// CHECK: "my.sort"(%[[A]]) {{.*}} : (tensor<4x8x1xf32>) -> (tensor<4x8xf32>, tensor<4x8xi32>)
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @sort(%a: tensor<4x8x1xf32> {tp.sharding = [[], ["x"], []]}) -> (tensor<4x8xf32> {tp.sharding = [[], []]}, tensor<4x8xi32> {tp.sharding = [[], []]}) {
  %v, %i = "my.sort"(%a) {tp.rule = "([r,s,1])->([r,s],[r,s]) fixed={s}"} : (tensor<4x8x1xf32>) -> (tensor<4x8xf32>, tensor<4x8xi32>)
  return %v, %i : tensor<4x8xf32>, tensor<4x8xi32>
}

// -----

// Ops that differ only in what their rules forbid.
// CHECK-LABEL: func.func @cumulative
// CHECK: %[[A:.*]] = "my.scan"(%arg0) {{.*}} : (tensor<4x2xf32>) -> tensor<4x2xf32>
// CHECK: %[[W:.*]] = shard.all_gather %[[A]] on @mesh grid_axes = [0] gather_axis = 1 : tensor<4x2xf32> -> tensor<4x8xf32>
// CHECK: "my.scan"(%[[W]]) {{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @cumulative(%a: tensor<4x8xf32> {tp.sharding = [[], ["x"]]}) -> (tensor<4x8xf32> {tp.sharding = [[], []]}) {
  %rows = "my.scan"(%a) {tp.rule = "([i,j])->([i,j])"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %columns = "my.scan"(%rows) {tp.rule = "([i,j])->([i,j]) fixed={j}"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %columns : tensor<4x8xf32>
}

// -----

// An init enters once: it is masked where the result is partial.
// CHECK-LABEL: func.func @accumulate
// CHECK: arith.select
// CHECK: %[[P:.*]] = "my.accumulate"
// CHECK: shard.all_reduce %[[P]]
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @accumulate(%a: tensor<64x1024xf32> {tp.sharding = [[], ["x"]]}, %acc: tensor<64xf32> {tp.sharding = [[]]}) -> (tensor<64xf32> {tp.sharding = [[]]}) {
  %c = "my.accumulate"(%a, %acc) {tp.rule = "([i,k],[i])->([i]) reduction={k} init={1}"} : (tensor<64x1024xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %c : tensor<64xf32>
}

// -----

// An op that makes a tensor from nothing, and one that takes no tensor dimension apart.
// CHECK-LABEL: func.func @edges
// CHECK: "my.make"() {{.*}} : () -> tensor<2xf32>
// CHECK: "my.scale"(%{{.*}}, %{{.*}}) {{.*}} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @edges(%s: tensor<f32>) -> (tensor<8xf32> {tp.sharding = [["x"]]}) {
  %m = "my.make"() {tp.rule = "()->([i])"} : () -> tensor<8xf32>
  %c = "my.scale"(%m, %s) {tp.rule = "([i], [])->([i])"} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %c : tensor<8xf32>
}

// -----

// A dimension that the axis does not divide stays whole: nobody can say what the op makes of padding.
// CHECK-LABEL: func.func @uneven
// CHECK: "my.copy"(%{{.*}}) {{.*}} : (tensor<10x4xf32>) -> tensor<10x4xf32>
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @uneven(%a: tensor<10x4xf32> {tp.sharding = [["x"], []]}) -> (tensor<10x4xf32> {tp.sharding = [["x"], []]}) {
  %c = "my.copy"(%a) {tp.rule = "([i,j])->([i,j])"} : (tensor<10x4xf32>) -> tensor<10x4xf32>
  return %c : tensor<10x4xf32>
}

// -----

// Unless the rule says that the op leaves padding alone.
// CHECK-LABEL: func.func @uneven_said
// CHECK: "my.copy"(%arg0) {{.*}} : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NOT: all_gather
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @uneven_said(%a: tensor<10x4xf32> {tp.sharding = [["x"], []]}) -> (tensor<10x4xf32> {tp.sharding = [["x"], []]}) {
  %c = "my.copy"(%a) {tp.rule = "([i,j])->([i,j]) uneven={i}"} : (tensor<10x4xf32>) -> tensor<10x4xf32>
  return %c : tensor<10x4xf32>
}

// -----

// Joined with another, the factor comes in whole units: 6 heads of 8 are 16, 16, 16 and 0 elements, and lie as 12 each.
// CHECK-LABEL: func.func @units
// CHECK: call @tp.permute
// CHECK: %[[U:.*]] = tensor.extract_slice %{{.*}} : tensor<4x{{.*}}xf32> to tensor<4x16xf32>
// CHECK: "my.attend"(%[[U]], %arg1) {{.*}} : (tensor<4x16xf32>, tensor<2x8xf32>) -> tensor<4x16xf32>
// CHECK: call @tp.permute
// CHECK: %[[R:.*]] = tensor.extract_slice %{{.*}}[0, %{{.*}}] [4, 12] [1, 1]
// CHECK: return %[[R]]
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @units(%a: tensor<4x48xf32> {tp.sharding = [[], ["x"]]}, %b: tensor<6x8xf32> {tp.sharding = [["x"], []]}) -> (tensor<4x48xf32> {tp.sharding = [[], ["x"]]}) {
  %c = "my.attend"(%a, %b) {tp.rule = "([s,(h d)],[h,d])->([s,(h d)]) uneven={h}", tp.sharding = [[], ["x"]]}
      : (tensor<4x48xf32>, tensor<6x8xf32>) -> tensor<4x48xf32>
  return %c : tensor<4x48xf32>
}

// -----

// Sums pass through a linear op, so that they are summed once, behind it; and through both operands of an addition.
// CHECK-LABEL: func.func @linear
// CHECK: %[[A:.*]] = "my.matmul"
// CHECK: %[[B:.*]] = "my.matmul"
// CHECK: %[[T:.*]] = "my.turn"(%[[A]])
// CHECK: %[[S:.*]] = "my.add"(%[[T]], %[[B]])
// CHECK: shard.all_reduce %[[S]]
// CHECK-NOT: shard.all_reduce
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @linear(%a: tensor<64x16xf32> {tp.sharding = [[], ["x"]]}, %b: tensor<16x64xf32> {tp.sharding = [["x"], []]}) -> (tensor<64x64xf32> {tp.sharding = [[], []]}) {
  %c = "my.matmul"(%a, %b) {tp.rule = "([i,k],[k,j])->([i,j]) reduction={k}"} : (tensor<64x16xf32>, tensor<16x64xf32>) -> tensor<64x64xf32>
  %d = "my.matmul"(%a, %b) {tp.rule = "([i,k],[k,j])->([i,j]) reduction={k}"} : (tensor<64x16xf32>, tensor<16x64xf32>) -> tensor<64x64xf32>
  %t = "my.turn"(%c) {tp.rule = "([i,j])->([j,i]) linear={0}"} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = "my.add"(%t, %d) {tp.rule = "([i,j],[i,j])->([i,j]) linear={0,1}"} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %s : tensor<64x64xf32>
}

// -----

// A product is linear in each operand by itself: the sum of one passes, that of both does not.
// CHECK-LABEL: func.func @product
// CHECK: %[[A:.*]] = "my.matmul"
// CHECK: %[[P:.*]] = "my.mul"(%[[A]], %arg2)
// CHECK: %[[R:.*]] = shard.all_reduce %[[P]]
// CHECK: "my.mul"(%[[R]], %[[R]])
shard.grid @mesh(shape = 4) {tp.axes = ["x"]}
func.func @product(%a: tensor<64x16xf32> {tp.sharding = [[], ["x"]]}, %b: tensor<16x64xf32> {tp.sharding = [["x"], []]}, %w: tensor<64x64xf32>) -> (tensor<64x64xf32> {tp.sharding = [[], []]}) {
  %c = "my.matmul"(%a, %b) {tp.rule = "([i,k],[k,j])->([i,j]) reduction={k}"} : (tensor<64x16xf32>, tensor<16x64xf32>) -> tensor<64x64xf32>
  %p = "my.mul"(%c, %w) {tp.rule = "([i,j],[i,j])->([i,j]) linear={0} linear={1}", tp.sharding = {dims = [[], []], partial = {x = "sum"}}}
      : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = "my.mul"(%p, %p) {tp.rule = "([i,j],[i,j])->([i,j]) linear={0} linear={1}", tp.sharding = [[], []]}
      : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %q : tensor<64x64xf32>
}
