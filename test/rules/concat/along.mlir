// Concatenation along a dimension that is split: pieces of equal and of different size, smaller than a shard, of one element, many; the halves of
// a rotation; integers and truth values. Shards are even, uneven and empty. (tp.factors: such small tensors would be gathered.)
// RUN: shard-run %s --mesh x=2
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh x=2,y=2
// RUN: shard-run %s --mesh x=3,y=2
// RUN: shard-run %s --mesh x=5 --launch processes
// RUN: shard-run %s --mesh x=2,y=2 --strategy follow
// RUN: shard-run %s --mesh x=7 --strategy follow
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=x=2,y=2})' | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-NOT: all_gather
// CHECK: call @tp.permute
// CHECK-NOT: all_gather
// CHECK: return

shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<8x4xf32> {tp.sharding = [["x"], ["y"]]}, %b: tensor<8x12xf32> {tp.sharding = [["x"], ["y"]]},
                %c: tensor<5x4xf32> {tp.sharding = [["x"], ["y"]]}, %d: tensor<1xi32> {tp.sharding = [["x"]]}, %e: tensor<11xi32> {tp.sharding = [["x"]]},
                %f: tensor<16x6xf32> {tp.sharding = [["x"], []]})
    -> (tensor<8x16xf32> {tp.sharding = [["x"], ["y"]]}, tensor<26x4xf32> {tp.sharding = [["x"], ["y"]]}, tensor<13xi32> {tp.sharding = [["x"]]},
        tensor<23xi1> {tp.sharding = [["x"]]}, tensor<16x6xf32> {tp.sharding = [["x"], []]}) {
  %wide = tensor.concat dim(1) %a, %b {tp.factors = {x = 0, y = 1}} : (tensor<8x4xf32>, tensor<8x12xf32>) -> tensor<8x16xf32>
  %tall = tensor.concat dim(0) %a, %c, %c, %a {tp.factors = {x = 0, y = 1}} : (tensor<8x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<8x4xf32>) -> tensor<26x4xf32>
  %ends = tensor.concat dim(0) %d, %e, %d {tp.factors = {x = 0}} : (tensor<1xi32>, tensor<11xi32>, tensor<1xi32>) -> tensor<13xi32>
  %ones = arith.constant dense<1> : tensor<11xi32>
  %one = arith.constant dense<1> : tensor<1xi32>
  %bits = arith.andi %e, %ones : tensor<11xi32>
  %even = arith.cmpi ne, %bits, %ones : tensor<11xi32>
  %bit = arith.andi %d, %one : tensor<1xi32>
  %first = arith.cmpi eq, %bit, %one : tensor<1xi32>
  %truth = tensor.concat dim(0) %even, %first, %even {tp.factors = {x = 0}} : (tensor<11xi1>, tensor<1xi1>, tensor<11xi1>) -> tensor<23xi1>
  %low = tensor.extract_slice %f[0, 0] [8, 6] [1, 1] {tp.factors = {x = 0}} : tensor<16x6xf32> to tensor<8x6xf32>
  %high = tensor.extract_slice %f[8, 0] [8, 6] [1, 1] {tp.factors = {x = 0}} : tensor<16x6xf32> to tensor<8x6xf32>
  %minus = arith.negf %high : tensor<8x6xf32>
  %rotated = tensor.concat dim(0) %minus, %low {tp.factors = {x = 0}} : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<16x6xf32>
  return %wide, %tall, %ends, %truth, %rotated : tensor<8x16xf32>, tensor<26x4xf32>, tensor<13xi32>, tensor<23xi1>, tensor<16x6xf32>
}
