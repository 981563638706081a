// Rotations by less than a shard, by whole shards, by several shards, forwards and backwards, along either dimension of a mesh of two axes, and
// along one that both axes split; of
// floats, bf16 and integers. Shards are even, uneven and empty. (tp.factors: such small tensors would be gathered.)
// RUN: shard-run %s --mesh x=2
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh x=2,y=2
// RUN: shard-run %s --mesh x=3,y=2
// RUN: shard-run %s --mesh x=5 --launch processes
// RUN: shard-run %s --mesh x=2,y=2 --strategy follow
// RUN: shard-run %s --mesh x=7 --strategy follow
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=x=2,y=2})' | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-NOT: {{all_gather|all_reduce|all_to_all}}
// CHECK: call @tp.permute
// CHECK-NOT: {{all_gather|all_reduce|all_to_all}}
// CHECK: return

shard.grid @mesh(shape = 2x2) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<12x8xf32> {tp.sharding = [["x"], ["y"]]}, %b: tensor<13x7xbf16> {tp.sharding = [["x"], ["y"]]}, %c: tensor<11x4xi32> {tp.sharding = [["x"], ["y"]]},
                %d: tensor<10x3xf32> {tp.sharding = [["x", "y"], []]})
    -> (tensor<12x8xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<12x8xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<12x8xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<12x8xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<12x8xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<12x8xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<12x8xf32> {tp.sharding = [["x"], ["y"]]},
        tensor<13x7xbf16> {tp.sharding = [["x"], ["y"]]},
        tensor<13x7xbf16> {tp.sharding = [["x"], ["y"]]},
        tensor<13x7xbf16> {tp.sharding = [["x"], ["y"]]},
        tensor<11x4xi32> {tp.sharding = [["x"], ["y"]]},
        tensor<11x4xi32> {tp.sharding = [["x"], ["y"]]},
        tensor<11x4xi32> {tp.sharding = [["x"], ["y"]]},
        tensor<11x4xi32> {tp.sharding = [["x"], ["y"]]},
        tensor<10x3xf32> {tp.sharding = [["x", "y"], []]},
        tensor<10x3xf32> {tp.sharding = [["x", "y"], []]},
        tensor<10x3xf32> {tp.sharding = [["x", "y"], []]}) {
  %e0 = tensor.extract_slice %a[11, 0] [1, 8] [1, 1] : tensor<12x8xf32> to tensor<1x8xf32>
  %s0 = tensor.extract_slice %a[0, 0] [11, 8] [1, 1] : tensor<12x8xf32> to tensor<11x8xf32>
  %r0 = tensor.concat dim(0) %e0, %s0 {tp.factors = {x = 0, y = 1}} : (tensor<1x8xf32>, tensor<11x8xf32>) -> tensor<12x8xf32>
  %e1 = tensor.extract_slice %a[10, 0] [2, 8] [1, 1] : tensor<12x8xf32> to tensor<2x8xf32>
  %s1 = tensor.extract_slice %a[0, 0] [10, 8] [1, 1] : tensor<12x8xf32> to tensor<10x8xf32>
  %r1 = tensor.concat dim(0) %e1, %s1 {tp.factors = {x = 0, y = 1}} : (tensor<2x8xf32>, tensor<10x8xf32>) -> tensor<12x8xf32>
  %e2 = tensor.extract_slice %a[7, 0] [5, 8] [1, 1] : tensor<12x8xf32> to tensor<5x8xf32>
  %s2 = tensor.extract_slice %a[0, 0] [7, 8] [1, 1] : tensor<12x8xf32> to tensor<7x8xf32>
  %r2 = tensor.concat dim(0) %e2, %s2 {tp.factors = {x = 0, y = 1}} : (tensor<5x8xf32>, tensor<7x8xf32>) -> tensor<12x8xf32>
  %e3 = tensor.extract_slice %a[6, 0] [6, 8] [1, 1] : tensor<12x8xf32> to tensor<6x8xf32>
  %s3 = tensor.extract_slice %a[0, 0] [6, 8] [1, 1] : tensor<12x8xf32> to tensor<6x8xf32>
  %r3 = tensor.concat dim(0) %e3, %s3 {tp.factors = {x = 0, y = 1}} : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<12x8xf32>
  %e4 = tensor.extract_slice %a[1, 0] [11, 8] [1, 1] : tensor<12x8xf32> to tensor<11x8xf32>
  %s4 = tensor.extract_slice %a[0, 0] [1, 8] [1, 1] : tensor<12x8xf32> to tensor<1x8xf32>
  %r4 = tensor.concat dim(0) %e4, %s4 {tp.factors = {x = 0, y = 1}} : (tensor<11x8xf32>, tensor<1x8xf32>) -> tensor<12x8xf32>
  %e5 = tensor.extract_slice %a[0, 7] [12, 1] [1, 1] : tensor<12x8xf32> to tensor<12x1xf32>
  %s5 = tensor.extract_slice %a[0, 0] [12, 7] [1, 1] : tensor<12x8xf32> to tensor<12x7xf32>
  %r5 = tensor.concat dim(1) %e5, %s5 {tp.factors = {x = 0, y = 1}} : (tensor<12x1xf32>, tensor<12x7xf32>) -> tensor<12x8xf32>
  %e6 = tensor.extract_slice %a[0, 5] [12, 3] [1, 1] : tensor<12x8xf32> to tensor<12x3xf32>
  %s6 = tensor.extract_slice %a[0, 0] [12, 5] [1, 1] : tensor<12x8xf32> to tensor<12x5xf32>
  %r6 = tensor.concat dim(1) %e6, %s6 {tp.factors = {x = 0, y = 1}} : (tensor<12x3xf32>, tensor<12x5xf32>) -> tensor<12x8xf32>
  %e7 = tensor.extract_slice %b[12, 0] [1, 7] [1, 1] : tensor<13x7xbf16> to tensor<1x7xbf16>
  %s7 = tensor.extract_slice %b[0, 0] [12, 7] [1, 1] : tensor<13x7xbf16> to tensor<12x7xbf16>
  %r7 = tensor.concat dim(0) %e7, %s7 {tp.factors = {x = 0, y = 1}} : (tensor<1x7xbf16>, tensor<12x7xbf16>) -> tensor<13x7xbf16>
  %e8 = tensor.extract_slice %b[9, 0] [4, 7] [1, 1] : tensor<13x7xbf16> to tensor<4x7xbf16>
  %s8 = tensor.extract_slice %b[0, 0] [9, 7] [1, 1] : tensor<13x7xbf16> to tensor<9x7xbf16>
  %r8 = tensor.concat dim(0) %e8, %s8 {tp.factors = {x = 0, y = 1}} : (tensor<4x7xbf16>, tensor<9x7xbf16>) -> tensor<13x7xbf16>
  %e9 = tensor.extract_slice %b[1, 0] [12, 7] [1, 1] : tensor<13x7xbf16> to tensor<12x7xbf16>
  %s9 = tensor.extract_slice %b[0, 0] [1, 7] [1, 1] : tensor<13x7xbf16> to tensor<1x7xbf16>
  %r9 = tensor.concat dim(0) %e9, %s9 {tp.factors = {x = 0, y = 1}} : (tensor<12x7xbf16>, tensor<1x7xbf16>) -> tensor<13x7xbf16>
  %e10 = tensor.extract_slice %c[10, 0] [1, 4] [1, 1] : tensor<11x4xi32> to tensor<1x4xi32>
  %s10 = tensor.extract_slice %c[0, 0] [10, 4] [1, 1] : tensor<11x4xi32> to tensor<10x4xi32>
  %r10 = tensor.concat dim(0) %e10, %s10 {tp.factors = {x = 0, y = 1}} : (tensor<1x4xi32>, tensor<10x4xi32>) -> tensor<11x4xi32>
  %e11 = tensor.extract_slice %c[8, 0] [3, 4] [1, 1] : tensor<11x4xi32> to tensor<3x4xi32>
  %s11 = tensor.extract_slice %c[0, 0] [8, 4] [1, 1] : tensor<11x4xi32> to tensor<8x4xi32>
  %r11 = tensor.concat dim(0) %e11, %s11 {tp.factors = {x = 0, y = 1}} : (tensor<3x4xi32>, tensor<8x4xi32>) -> tensor<11x4xi32>
  %e12 = tensor.extract_slice %c[1, 0] [10, 4] [1, 1] : tensor<11x4xi32> to tensor<10x4xi32>
  %s12 = tensor.extract_slice %c[0, 0] [1, 4] [1, 1] : tensor<11x4xi32> to tensor<1x4xi32>
  %r12 = tensor.concat dim(0) %e12, %s12 {tp.factors = {x = 0, y = 1}} : (tensor<10x4xi32>, tensor<1x4xi32>) -> tensor<11x4xi32>
  %e13 = tensor.extract_slice %c[0, 2] [11, 2] [1, 1] : tensor<11x4xi32> to tensor<11x2xi32>
  %s13 = tensor.extract_slice %c[0, 0] [11, 2] [1, 1] : tensor<11x4xi32> to tensor<11x2xi32>
  %r13 = tensor.concat dim(1) %e13, %s13 {tp.factors = {x = 0, y = 1}} : (tensor<11x2xi32>, tensor<11x2xi32>) -> tensor<11x4xi32>
  %e20 = tensor.extract_slice %d[9, 0] [1, 3] [1, 1] : tensor<10x3xf32> to tensor<1x3xf32>
  %s20 = tensor.extract_slice %d[0, 0] [9, 3] [1, 1] : tensor<10x3xf32> to tensor<9x3xf32>
  %r20 = tensor.concat dim(0) %e20, %s20 {tp.factors = {x = 0, y = 0}} : (tensor<1x3xf32>, tensor<9x3xf32>) -> tensor<10x3xf32>
  %e21 = tensor.extract_slice %d[6, 0] [4, 3] [1, 1] : tensor<10x3xf32> to tensor<4x3xf32>
  %s21 = tensor.extract_slice %d[0, 0] [6, 3] [1, 1] : tensor<10x3xf32> to tensor<6x3xf32>
  %r21 = tensor.concat dim(0) %e21, %s21 {tp.factors = {x = 0, y = 0}} : (tensor<4x3xf32>, tensor<6x3xf32>) -> tensor<10x3xf32>
  %e22 = tensor.extract_slice %d[1, 0] [9, 3] [1, 1] : tensor<10x3xf32> to tensor<9x3xf32>
  %s22 = tensor.extract_slice %d[0, 0] [1, 3] [1, 1] : tensor<10x3xf32> to tensor<1x3xf32>
  %r22 = tensor.concat dim(0) %e22, %s22 {tp.factors = {x = 0, y = 0}} : (tensor<9x3xf32>, tensor<1x3xf32>) -> tensor<10x3xf32>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r20, %r21, %r22 :
    tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<13x7xbf16>, tensor<13x7xbf16>, tensor<13x7xbf16>, tensor<11x4xi32>, tensor<11x4xi32>, tensor<11x4xi32>, tensor<11x4xi32>, tensor<10x3xf32>, tensor<10x3xf32>, tensor<10x3xf32>
}
