// A shift that fills up, written as a pad of a slice or as a slice of a pad: each device gets the rows that its part of the result reads, in one
// permute of as many rows as the shift moves.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{mesh=x=4},tp-partition)' | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{mesh=x=4})' | FileCheck %s --check-prefix=PLAN
// RUN: shard-run %s --function pad_of_slice --mesh x=4 --objective bytes | FileCheck %s --check-prefix=PAD
// RUN: shard-run %s --function slice_of_pad --mesh x=4 --objective bytes | FileCheck %s --check-prefix=SLICES
// RUN: shard-run %s --function all --mesh x=2
// RUN: shard-run %s --function all --mesh x=4
// RUN: shard-run %s --function all --mesh x=2,y=2
// RUN: shard-run %s --function all --mesh x=3,y=2 --strategy follow
// RUN: shard-run %s --function all --mesh x=5 --strategy follow

// PAD: permute x 1 768 B
// PAD-NOT: x 1
// PAD: verified
// SLICES: permute x 2 512 B
// SLICES-NOT: x 1
// SLICES: verified

shard.grid @mesh(shape = 4x1) {tp.axes = ["x", "y"]}

// PLAN-LABEL: func.func @pad_of_slice
// PLAN: tensor.extract_slice %arg0[0, 0] [13, 64] [1, 1] {tp.in_place}
// PLAN: } {tp.sharding = {{\[\[}}"x"], []]}
// CHECK-LABEL: func.func @pad_of_slice
// CHECK: %[[LAST:.*]] = tensor.extract_slice %arg0[1, 0] [3, 64] [1, 1]
// CHECK: call @tp.permute{{.*}}(%[[LAST]]) {tp.pairs = {{\[\[}}0, 1], [1, 2], [2, 3]]}
// CHECK-NOT: tp.permute
// CHECK: return
func.func @pad_of_slice(%x: tensor<16x64xf32> {tp.sharding = [["x"], []]}) -> (tensor<16x64xf32> {tp.sharding = [["x"], []]}) {
  %zero = arith.constant 0.0 : f32
  %s = tensor.extract_slice %x[0, 0] [13, 64] [1, 1] : tensor<16x64xf32> to tensor<13x64xf32>
  %r = tensor.pad %s low[3, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<13x64xf32> to tensor<16x64xf32>
  return %r : tensor<16x64xf32>
}

// Each slice of the padded tensor reads the tensor through a pad of its own. The middle one reads no padding, and is the tensor.
// PLAN-LABEL: func.func @slice_of_pad
// PLAN-COUNT-3: } {tp.in_place}
// CHECK-LABEL: func.func @slice_of_pad
// CHECK: %[[LAST:.*]] = tensor.extract_slice %arg0[3, 0] [1, 64] [1, 1]
// CHECK: call @tp.permute{{.*}}(%[[LAST]]) {tp.pairs = {{\[\[}}0, 1], [1, 2], [2, 3]]}
// CHECK: %[[FIRST:.*]] = tensor.extract_slice %arg0[0, 0] [1, 64] [1, 1]
// CHECK: call @tp.permute{{.*}}(%[[FIRST]]) {tp.pairs = {{\[\[}}1, 0], [2, 1], [3, 2]]}
// CHECK-NOT: tp.permute
// CHECK: return
func.func @slice_of_pad(%x: tensor<16x64xf32> {tp.sharding = [["x"], []]}) -> (tensor<16x64xf32> {tp.sharding = [["x"], []]}) {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<16x64xf32> to tensor<18x64xf32>
  %left = tensor.extract_slice %p[0, 0] [16, 64] [1, 1] : tensor<18x64xf32> to tensor<16x64xf32>
  %middle = tensor.extract_slice %p[1, 0] [16, 64] [1, 1] : tensor<18x64xf32> to tensor<16x64xf32>
  %right = tensor.extract_slice %p[2, 0] [16, 64] [1, 1] : tensor<18x64xf32> to tensor<16x64xf32>
  %sum = arith.addf %left, %middle : tensor<16x64xf32>
  %r = arith.addf %sum, %right : tensor<16x64xf32>
  return %r : tensor<16x64xf32>
}

// Both forms, to the front and to the back, by less than a shard and by more; with a value that is not zero; with strides; two dimensions at once;
// of integers and of uneven shards. A slice of few elements and one of less than half stay ordinary slices. (tp.factors: such small tensors would
// be gathered.)
func.func @all(%a: tensor<12x8xf32> {tp.sharding = [["x"], ["y"]]}, %b: tensor<13xi32> {tp.sharding = [["x"]]}, %v: f32)
    -> (tensor<12x8xf32> {tp.sharding = [["x"], ["y"]]}, tensor<12x8xf32> {tp.sharding = [["x"], ["y"]]}, tensor<12x8xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<8x9xf32> {tp.sharding = [["x"], ["y"]]}, tensor<13xi32> {tp.sharding = [["x"]]}, tensor<13xi32> {tp.sharding = [["x"]]},
        tensor<1x10xf32>, tensor<4x10xf32> {tp.sharding = [["x"], ["y"]]}) {
  %seven = arith.constant 7 : i32
  %up = tensor.extract_slice %a[0, 0] [11, 8] [1, 1] : tensor<12x8xf32> to tensor<11x8xf32>
  %0 = tensor.pad %up low[1, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } {tp.factors = {x = 0, y = 1}} : tensor<11x8xf32> to tensor<12x8xf32>
  %down = tensor.extract_slice %a[6, 0] [6, 8] [1, 1] : tensor<12x8xf32> to tensor<6x8xf32>
  %1 = tensor.pad %down low[0, 0] high[6, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } {tp.factors = {x = 0, y = 1}} : tensor<6x8xf32> to tensor<12x8xf32>
  %wide = tensor.pad %a low[5, 1] high[2, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<12x8xf32> to tensor<19x10xf32>
  %2 = tensor.extract_slice %wide[0, 2] [12, 8] [1, 1] {tp.factors = {x = 0, y = 1}} : tensor<19x10xf32> to tensor<12x8xf32>
  %3 = tensor.extract_slice %wide[3, 0] [8, 9] [2, 1] {tp.factors = {x = 0, y = 1}} : tensor<19x10xf32> to tensor<8x9xf32>
  %few = tensor.extract_slice %wide[6, 0] [1, 10] [1, 1] : tensor<19x10xf32> to tensor<1x10xf32>
  %less = tensor.extract_slice %wide[4, 0] [4, 10] [1, 1] : tensor<19x10xf32> to tensor<4x10xf32>
  %most = tensor.extract_slice %b[3] [10] [1] : tensor<13xi32> to tensor<10xi32>
  %4 = tensor.pad %most low[0] high[3] {
  ^bb0(%i: index):
    tensor.yield %seven : i32
  } {tp.factors = {x = 0}} : tensor<10xi32> to tensor<13xi32>
  %front = tensor.pad %b low[4] high[0] {
  ^bb0(%i: index):
    tensor.yield %seven : i32
  } : tensor<13xi32> to tensor<17xi32>
  %5 = tensor.extract_slice %front[0] [13] [1] {tp.factors = {x = 0}} : tensor<17xi32> to tensor<13xi32>
  return %0, %1, %2, %3, %4, %5, %few, %less : tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<8x9xf32>, tensor<13xi32>, tensor<13xi32>,
    tensor<1x10xf32>, tensor<4x10xf32>
}
