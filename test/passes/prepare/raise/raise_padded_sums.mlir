// Sums of padded slices of one tensor, as the gradient of a rotation is exported.
// RUN: shard-opt %s --pass-pipeline="builtin.module(tp-raise)" | FileCheck %s
// RUN: shard-run %s --function gradient --mesh x=4 --objective bytes | FileCheck %s --check-prefix=RESULT
// RUN: shard-run %s --function integers --mesh x=3

// RESULT: permute x 1 32 B
// RESULT-NOT: x 1
// RESULT: verified

shard.grid @mesh(shape = 4) {tp.axes = ["x"]}

// The zero that is added turns -0 into 0, as the sum does.
// CHECK-LABEL: func.func @gradient
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<16x8xf32>
// CHECK-NOT: tensor.pad
// CHECK: return
func.func @gradient(%x: tensor<16x8xf32> {tp.sharding = [["x"], []]}) -> (tensor<16x8xf32> {tp.sharding = [["x"], []]}) {
  %zero = arith.constant 0.0 : f32
  %most = tensor.extract_slice %x[1, 0] [15, 8] [1, 1] : tensor<16x8xf32> to tensor<15x8xf32>
  %first = tensor.extract_slice %x[0, 0] [1, 8] [1, 1] : tensor<16x8xf32> to tensor<1x8xf32>
  %a = tensor.pad %most low[0, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<15x8xf32> to tensor<16x8xf32>
  %b = tensor.pad %first low[15, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<1x8xf32> to tensor<16x8xf32>
  %r = arith.addf %b, %a : tensor<16x8xf32>
  return %r : tensor<16x8xf32>
}

// CHECK-LABEL: func.func @integers
// CHECK: %[[MOST:.*]] = tensor.extract_slice %arg0[4] [9] [1]
// CHECK: %[[FIRST:.*]] = tensor.extract_slice %arg0[0] [4] [1]
// CHECK: %[[R:.*]] = tensor.concat dim(0) %[[MOST]], %[[FIRST]] : (tensor<9xi32>, tensor<4xi32>) -> tensor<13xi32>
// CHECK-NEXT: return %[[R]]
func.func @integers(%x: tensor<13xi32> {tp.sharding = [["x"]]}) -> (tensor<13xi32> {tp.sharding = [["x"]]}) {
  %zero = arith.constant 0 : i32
  %most = tensor.extract_slice %x[4] [9] [1] : tensor<13xi32> to tensor<9xi32>
  %first = tensor.extract_slice %x[0] [4] [1] : tensor<13xi32> to tensor<4xi32>
  %a = tensor.pad %most low[0] high[4] {
  ^bb0(%i: index):
    tensor.yield %zero : i32
  } : tensor<9xi32> to tensor<13xi32>
  %b = tensor.pad %first low[9] high[0] {
  ^bb0(%i: index):
    tensor.yield %zero : i32
  } : tensor<4xi32> to tensor<13xi32>
  %r = arith.addi %a, %b : tensor<13xi32>
  return %r : tensor<13xi32>
}

// Not rotations: parts that overlap, another number than 0, a negative zero, another tensor, and a pad that something else reads, too.
// CHECK-LABEL: func.func @others
// CHECK-NOT: tensor.concat
// CHECK: return
func.func @others(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %minus = arith.constant -0.0 : f32
  %one = arith.constant 1.0 : f32
  %most = tensor.extract_slice %x[1] [3] [1] : tensor<4xf32> to tensor<3xf32>
  %first = tensor.extract_slice %x[0] [1] [1] : tensor<4xf32> to tensor<1xf32>
  %other = tensor.extract_slice %y[0] [1] [1] : tensor<4xf32> to tensor<1xf32>
  %a0 = tensor.pad %most low[0] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<3xf32> to tensor<4xf32>
  %b0 = tensor.pad %first low[2] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<1xf32> to tensor<4xf32>
  %overlap = arith.addf %a0, %b0 : tensor<4xf32>
  %a1 = tensor.pad %most low[0] high[1] {
  ^bb0(%i: index):
    tensor.yield %one : f32
  } : tensor<3xf32> to tensor<4xf32>
  %b1 = tensor.pad %first low[3] high[0] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<1xf32> to tensor<4xf32>
  %ones = arith.addf %a1, %b1 : tensor<4xf32>
  %a2 = tensor.pad %most low[0] high[1] {
  ^bb0(%i: index):
    tensor.yield %minus : f32
  } : tensor<3xf32> to tensor<4xf32>
  %b2 = tensor.pad %first low[3] high[0] {
  ^bb0(%i: index):
    tensor.yield %minus : f32
  } : tensor<1xf32> to tensor<4xf32>
  %negative = arith.addf %a2, %b2 : tensor<4xf32>
  %a3 = tensor.pad %most low[0] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<3xf32> to tensor<4xf32>
  %b3 = tensor.pad %other low[3] high[0] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<1xf32> to tensor<4xf32>
  %two = arith.addf %a3, %b3 : tensor<4xf32>
  %b4 = tensor.pad %first low[3] high[0] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<1xf32> to tensor<4xf32>
  %a4 = tensor.pad %most low[0] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<3xf32> to tensor<4xf32>
  %shared = arith.addf %a4, %b4 : tensor<4xf32>
  return %overlap, %ones, %negative, %two, %shared, %b4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
