// Pads that are read in place in a loop, of what it carries and of what does not change in it, and within a memory limit.
// RUN: shard-run %s
// RUN: shard-run %s --mesh x=3 --strategy follow
// RUN: shard-run %s --mesh 2x2
// RUN: shard-run %s --mesh 4 --memory-limit 1700
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate)' | FileCheck %s

// CHECK: scf.for
// CHECK: {tp.in_place}
// CHECK: {tp.in_place}
shard.grid @mesh(shape = 1x4) {tp.axes = ["y", "x"]}
func.func @main(%a: tensor<24x10xf32> {tp.sharding = [["x"], ["y"]]}, %b: tensor<24x10xf32> {tp.sharding = [["x"], ["y"]]}, %k: tensor<3x2xf32>) -> (tensor<24x10xf32> {tp.sharding = [["x"], ["y"]]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %a) -> (tensor<24x10xf32>) {
    %e = tensor.empty() : tensor<24x10xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<24x10xf32>) -> tensor<24x10xf32>
    %p = tensor.pad %x low[1, 0] high[1, 1] {
    ^bb0(%m: index, %n: index):
      tensor.yield %half : f32
    } : tensor<24x10xf32> to tensor<26x11xf32>
    %0 = linalg.conv_2d {tp.sharding = [["x"], ["y"]]} ins(%p, %k : tensor<26x11xf32>, tensor<3x2xf32>) outs(%f : tensor<24x10xf32>) -> tensor<24x10xf32>
    %q = tensor.pad %b low[2, 1] high[0, 0] {
    ^bb0(%m: index, %n: index):
      tensor.yield %z : f32
    } : tensor<24x10xf32> to tensor<26x11xf32>
    %1 = linalg.conv_2d {tp.sharding = [["x"], ["y"]]} ins(%q, %k : tensor<26x11xf32>, tensor<3x2xf32>) outs(%0 : tensor<24x10xf32>) -> tensor<24x10xf32>
    scf.yield %1 : tensor<24x10xf32>
  }
  return %r : tensor<24x10xf32>
}
