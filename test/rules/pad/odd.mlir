// Padding that depends on the index (computed, read from another tensor, of one dimension) and negative padding, also where nothing of the operand
// stays.
// RUN: shard-run %s --mesh x=2 --reference evaluator
// RUN: shard-run %s --mesh x=3 --reference evaluator --strategy follow
// RUN: shard-run %s --mesh 2x2 --reference evaluator --objective bytes
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-decompose)' | FileCheck %s

// The layout that was asked for goes to the op that gives the result.
// CHECK-LABEL: func.func @main
// CHECK: %[[ALL:.*]] = linalg.generic
// CHECK: tensor.extract_slice %arg0[0, 0] [9, 6] [1, 1]
// CHECK: tensor.insert_slice %{{.*}} into %[[ALL]][2, 1] [9, 6] [1, 1] {tp.sharding = {{\[\["x"\], \[\]\]}}}
// CHECK: tensor.extract_slice %arg0[2, 0] [7, 5] [1, 1]
// CHECK: tensor.insert_slice %{{.*}}[0, 1] [7, 5] [1, 1]
// CHECK-NOT: tensor.pad
shard.grid @mesh(shape = 2x1) {tp.axes = ["x", "y"]}
func.func @main(%x: tensor<9x6xf32> {tp.sharding = [["x"], ["y"]]}, %t: tensor<12x8xf32> {tp.sharding = [[], ["x"]]}, %v: f32)
    -> (tensor<12x8xf32>, tensor<12x8xf32> {tp.sharding = [["x"], []]}, tensor<10x6xf32> {tp.sharding = [["x"], []]}, tensor<2x6xf32>, tensor<0x8xf32>) {
  %computed = tensor.pad %x low[2, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    %k = arith.muli %i, %j : index
    %l = arith.index_cast %k : index to i32
    %f = arith.sitofp %l : i32 to f32
    tensor.yield %f : f32
  } {tp.sharding = [["x"], []]} : tensor<9x6xf32> to tensor<12x8xf32>
  %read = tensor.pad %x low[2, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    %f = tensor.extract %t[%i, %j] : tensor<12x8xf32>
    tensor.yield %f : f32
  } : tensor<9x6xf32> to tensor<12x8xf32>
  %cropped = tensor.pad %x low[-2, 1] high[3, -1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<9x6xf32> to tensor<10x6xf32>
  %gone = tensor.pad %x low[-9, 0] high[2, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<9x6xf32> to tensor<2x6xf32>
  %nothing = tensor.pad %x low[-4, 0] high[-5, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<9x6xf32> to tensor<0x8xf32>
  return %computed, %read, %cropped, %gone, %nothing : tensor<12x8xf32>, tensor<12x8xf32>, tensor<10x6xf32>, tensor<2x6xf32>, tensor<0x8xf32>
}
