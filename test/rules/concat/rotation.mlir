// A concat of the end and the beginning of one tensor is a rotation: each device gets what its part of the result reads in one
// permute of as many rows as the rotation moves, or in two if it moves by more than a shard and not by whole shards.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate,tp-partition)' | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate)' | FileCheck %s --check-prefix=PLAN
// RUN: shard-run %s --function by_one --mesh x=4 --objective bytes | FileCheck %s --check-prefix=ONE

// ONE: permute x 1 256 B
// ONE-NOT: x 1
// ONE: verified

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}

// The slices are no values with a layout. The result is the received row and the device's own others.
// PLAN-LABEL: func.func @by_one
// PLAN: %[[END:.*]] = tensor.extract_slice %arg0[15, 0] [1, 64] [1, 1] {tp.in_place}
// PLAN: %[[START:.*]] = tensor.extract_slice %arg0[0, 0] [15, 64] [1, 1] {tp.in_place}
// PLAN: tensor.concat dim(0) %[[END]], %[[START]] {{.*}}tp.sharding = {{\[\[}}"x"], []]
// CHECK-LABEL: func.func @by_one
// CHECK: %[[LAST:.*]] = tensor.extract_slice %arg0[3, 0] [1, 64] [1, 1]
// CHECK: %[[GOT:.*]] = call @tp.permute{{.*}}(%[[LAST]]) {tp.pairs = {{\[\[}}3, 0], [0, 1], [1, 2], [2, 3]]}
// CHECK-NOT: tp.permute
// CHECK: %[[MOST:.*]] = tensor.extract_slice %arg0[0, 0] [3, 64] [1, 1]
// CHECK-NOT: linalg
// CHECK: return
func.func @by_one(%x: tensor<16x64xf32> {tp.sharding = [["x"], []]}) -> (tensor<16x64xf32> {tp.sharding = [["x"], []]}) {
  %end = tensor.extract_slice %x[15, 0] [1, 64] [1, 1] : tensor<16x64xf32> to tensor<1x64xf32>
  %start = tensor.extract_slice %x[0, 0] [15, 64] [1, 1] : tensor<16x64xf32> to tensor<15x64xf32>
  %r = tensor.concat dim(0) %end, %start : (tensor<1x64xf32>, tensor<15x64xf32>) -> tensor<16x64xf32>
  return %r : tensor<16x64xf32>
}

// By whole shards: one permute of the shard, and nothing else.
// CHECK-LABEL: func.func @by_shards
// CHECK-NEXT: %[[GOT:.*]] = call @tp.permute{{.*}}(%arg0) {tp.pairs = {{\[\[}}1, 0], [2, 1], [3, 2], [0, 3]]}
// CHECK-NEXT: %[[SAME:.*]] = tensor.concat dim(0) %[[GOT]] : (tensor<4x64xf32>) -> tensor<4x64xf32>
// CHECK-NEXT: return %[[SAME]]
func.func @by_shards(%x: tensor<16x64xf32> {tp.sharding = [["x"], []]}) -> (tensor<16x64xf32> {tp.sharding = [["x"], []]}) {
  %end = tensor.extract_slice %x[4, 0] [12, 64] [1, 1] : tensor<16x64xf32> to tensor<12x64xf32>
  %start = tensor.extract_slice %x[0, 0] [4, 64] [1, 1] : tensor<16x64xf32> to tensor<4x64xf32>
  %r = tensor.concat dim(0) %end, %start : (tensor<12x64xf32>, tensor<4x64xf32>) -> tensor<16x64xf32>
  return %r : tensor<16x64xf32>
}

// Along a whole dimension, slices and concat are local ops again. The copy that another layout of the tensor needs is read by both.
// CHECK-LABEL: func.func @along_whole
// CHECK: %[[MOVED:.*]] = shard.all_to_all %arg0
// CHECK: %[[END:.*]] = tensor.extract_slice %[[MOVED]][15, 0] [1, 16] [1, 1] : tensor<16x16xf32> to tensor<1x16xf32>
// CHECK: %[[START:.*]] = tensor.extract_slice %[[MOVED]][0, 0] [15, 16] [1, 1] : tensor<16x16xf32> to tensor<15x16xf32>
// CHECK: tensor.concat dim(0) %[[END]], %[[START]] : (tensor<1x16xf32>, tensor<15x16xf32>) -> tensor<16x16xf32>
func.func @along_whole(%x: tensor<16x64xf32> {tp.sharding = [["x"], []]}) -> (tensor<16x64xf32> {tp.sharding = [[], ["x"]]}) {
  %end = tensor.extract_slice %x[15, 0] [1, 64] [1, 1] : tensor<16x64xf32> to tensor<1x64xf32>
  %start = tensor.extract_slice %x[0, 0] [15, 64] [1, 1] : tensor<16x64xf32> to tensor<15x64xf32>
  %r = tensor.concat dim(0) %end, %start {tp.sharding = [[], ["x"]]} : (tensor<1x64xf32>, tensor<15x64xf32>) -> tensor<16x64xf32>
  return %r : tensor<16x64xf32>
}

// Not a rotation: slices with an annotation are values, and a slice of another tensor stays one, too.
// PLAN-LABEL: func.func @values
// PLAN-NOT: tp.in_place
// PLAN: return
func.func @values(%x: tensor<16xf32>, %y: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %end = tensor.extract_slice %x[12] [4] [1] {tp.sharding = [["x"]]} : tensor<16xf32> to tensor<4xf32>
  %start = tensor.extract_slice %x[0] [12] [1] : tensor<16xf32> to tensor<12xf32>
  %other = tensor.extract_slice %y[12] [4] [1] : tensor<16xf32> to tensor<4xf32>
  %r = tensor.concat dim(0) %end, %start : (tensor<4xf32>, tensor<12xf32>) -> tensor<16xf32>
  %s = tensor.concat dim(0) %other, %start : (tensor<4xf32>, tensor<12xf32>) -> tensor<16xf32>
  return %r, %s : tensor<16xf32>, tensor<16xf32>
}
