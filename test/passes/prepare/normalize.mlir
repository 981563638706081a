// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-normalize)' | FileCheck %s
// RUN: shard-opt %s --split-input-file --pass-pipeline='builtin.module(tp-normalize)' \
// RUN:   | shard-opt --split-input-file --pass-pipeline='builtin.module(tp-normalize)' | FileCheck %s

// The full form becomes the short one when it says no more.
// CHECK: shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// CHECK: @full_to_short(%{{.*}}: tensor<8x16xf32> {tp.sharding = {{\[\[}}"dp"], ["tp"]]})
// CHECK-SAME: -> (tensor<8x16xf32> {tp.sharding = {{\[\[}}"dp", "tp"], []]})
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @full_to_short(%x: tensor<8x16xf32> {tp.sharding = {mesh = @mesh, dims = [["dp"], ["tp"]]}})
    -> (tensor<8x16xf32> {tp.sharding = {dims = [["dp", "tp"], []], partial = {}}}) {
  return %x : tensor<8x16xf32>
}

// -----

// Open dimensions, partial values and scalars keep what they say.
// CHECK: @open_and_partial
// CHECK-SAME: tensor<8x16xf32> {tp.sharding = {{\[\[}}"dp", "?"], ["?"]]}
// CHECK-SAME: tensor<8x16xf32> {tp.sharding = {dims = {{\[\[}}"dp"], []], partial = {tp = "sum"}}}
// CHECK-SAME: tensor<f32> {tp.sharding = {dims = [], partial = {dp = "max", tp = "max"}}}
// CHECK-SAME: tensor<f32> {tp.sharding = []}
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func private @open_and_partial(tensor<8x16xf32> {tp.sharding = [["dp", "?"], ["?"]]},
                                    tensor<8x16xf32> {tp.sharding = {dims = [["dp"], []], partial = {tp = "sum"}}},
                                    tensor<f32> {tp.sharding = {dims = [], partial = {tp = "max", dp = "max"}}},
                                    tensor<f32> {tp.sharding = []})

// -----

// A sub-axis makes a refined grid; its parts print joined where they are whole again.
// CHECK: shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// CHECK-NEXT: shard.grid @mesh.sub(shape = 2x2x2) {tp.axes = ["dp", "tp:(1)2", "tp:(2)2"], tp.of = @mesh}
// CHECK: @sub_axes
// CHECK-SAME: {tp.sharding = {{\[\[}}"tp:(1)2"], ["tp:(2)2"]]}
// CHECK-SAME: {tp.sharding = {{\[\[}}"tp"], []]}
// CHECK-SAME: {tp.sharding = {{\[\[}}"tp"], []]}
// CHECK-SAME: {tp.sharding = {{\[\[}}"tp:(2)2", "tp:(1)2"], []]}
// CHECK-SAME: {tp.sharding = {dims = {{\[\[}}], []], partial = {tp = "sum"}}}
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func private @sub_axes(tensor<8x16xf32> {tp.sharding = [["tp:(1)2"], ["tp:(2)2"]]},
                            tensor<8x16xf32> {tp.sharding = [["tp:(1)2", "tp:(2)2"], []]},
                            tensor<8x16xf32> {tp.sharding = [["tp"], []]},
                            tensor<8x16xf32> {tp.sharding = [["tp:(2)2", "tp:(1)2"], []]},
                            tensor<8x16xf32> {tp.sharding = {dims = [[], []],
                                              partial = {"tp:(1)2" = "sum", "tp:(2)2" = "sum"}}})

// -----

// Ops: one result carries its sharding itself, several carry a list; a list of one is unwrapped.
// CHECK: @ops
// CHECK: arith.addf {{.*}} {tp.sharding = {{\[\[}}"dp"], []]}
// CHECK: arith.mulf {{.*}} {tp.sharding = {{\[\[}}"dp"], ["tp"]]}
// CHECK: arith.mului_extended {{.*}} {tp.sharding = [{{\[\[}}"dp"], []], {{\[\[}}], ["tp"]]]}
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @ops(%x: tensor<8x16xf32>, %i: tensor<8x16xi32>) {
  %0 = arith.addf %x, %x {tp.sharding = [["dp"], []]} : tensor<8x16xf32>
  %1 = arith.mulf %x, %x {tp.sharding = [[["dp"], ["tp"]]]} : tensor<8x16xf32>
  %2:2 = arith.mului_extended %i, %i {tp.sharding = [[["dp"], []], {dims = [[], ["tp"]]}]} : tensor<8x16xi32>
  return
}

// -----

// A grid without axis names gets positional ones; the module's other contents stay.
// CHECK: shard.grid @g(shape = 2x4) {tp.axes = ["d0", "d1"]}
// CHECK: @unnamed(%{{.*}}: tensor<8xf32> {tp.name = "x", tp.role = "param", tp.sharding = {{\[\[}}"d1"]]})
shard.grid @g(shape = 2x4)
func.func @unnamed(%x: tensor<8xf32> {tp.sharding = [["d1"]], tp.role = "param", tp.name = "x"}) {
  return
}

// -----

// A module without grid and without annotations stays as it is.
// CHECK-LABEL: @plain
// CHECK-NOT: shard.grid
func.func @plain(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
