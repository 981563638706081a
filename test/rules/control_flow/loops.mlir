// Loops and branches: carried values keep one layout, and what does not change in the loop is gathered before it.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{mesh=x=4},tp-partition)' | FileCheck %s
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh x=2,y=2
// RUN: shard-run %s --mesh x=2,y=2 --strategy follow --launch processes

#id = affine_map<(d0, d1) -> (d0, d1)>
shard.grid @mesh(shape = 4x1) {tp.axes = ["x", "y"]}
// CHECK-LABEL: func.func @main
// CHECK: scf.for
// CHECK-NOT: tp.region_args
func.func @main(%x: tensor<16x16xf32> {tp.sharding = [["x"], []]}, %w: tensor<16x16xf32> {tp.sharding = [["x"], ["y"]]},
                %n: tensor<i32>) -> (tensor<16x16xf32> {tp.sharding = [["x"], []]}, tensor<16x16xf32>, tensor<16xf32> {tp.sharding = [["x"]]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %small = arith.constant 0.1 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  // A counted loop.
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<16x16xf32> {
    %p = linalg.matmul ins(%a, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
    %t = math.tanh %p : tensor<16x16xf32>
    scf.yield %t : tensor<16x16xf32>
  }
  // A loop whose condition is computed from a carried scalar tensor.
  %four = arith.constant dense<4> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %start = arith.constant dense<0> : tensor<i32>
  %w2:2 = scf.while (%k = %start, %b = %y) : (tensor<i32>, tensor<16x16xf32>) -> (tensor<i32>, tensor<16x16xf32>) {
    %less = arith.cmpi slt, %k, %four : tensor<i32>
    %go = tensor.extract %less[] : tensor<i1>
    scf.condition(%go) %k, %b : tensor<i32>, tensor<16x16xf32>
  } do {
  ^bb0(%k: tensor<i32>, %b: tensor<16x16xf32>):
    %next = arith.addi %k, %one : tensor<i32>
    %u = arith.addf %b, %x : tensor<16x16xf32>
    scf.yield %next, %u : tensor<i32>, tensor<16x16xf32>
  }
  // A branch on a replicated scalar; both sides produce one layout.
  %m = tensor.extract %n[] : tensor<i32>
  %two = arith.constant 2 : i32
  %big = arith.cmpi sge, %m, %two : i32
  %z = scf.if %big -> tensor<16x16xf32> {
    %q = linalg.matmul ins(%w, %w2#1 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %q : tensor<16x16xf32>
  } else {
    %q = arith.mulf %w2#1, %x : tensor<16x16xf32>
    scf.yield %q : tensor<16x16xf32>
  }
  // A nested loop with a reduction.
  %e1 = tensor.empty() : tensor<16xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<16xf32>) -> tensor<16xf32>
  %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %f1) -> tensor<16xf32> {
    %inner = scf.for %j = %c0 to %i step %c1 iter_args(%bcc = %acc) -> tensor<16xf32> {
      %r = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<16x16xf32>) outs(%bcc : tensor<16xf32>) {
      ^bb0(%v: f32, %o: f32):
        %s = arith.mulf %v, %small : f32
        %t = arith.addf %o, %s : f32
        linalg.yield %t : f32
      } -> tensor<16xf32>
      scf.yield %r : tensor<16xf32>
    }
    scf.yield %inner : tensor<16xf32>
  }
  return %y, %z, %sum : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16xf32>
}
