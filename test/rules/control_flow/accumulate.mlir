// Sums that a loop adds up stay partial until it ends. Gradients of four micro-batches, whose rows are split, are reduced once, and so is what
// the loop writes step by step.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-raise,tp-propagate{mesh=x=4},tp-partition)' | FileCheck %s
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh x=2,y=2
// RUN: shard-run %s --mesh x=3 --launch processes
// RUN: shard-run %s --mesh x=4 --memory-limit 40KB
// RUN: shard-run %s --mesh x=2,y=2 --overlap plan

#left = affine_map<(m, n, k) -> (k, m)>
#right = affine_map<(m, n, k) -> (k, n)>
#product = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(i, j) -> (i, j)>
#number = affine_map<(i, j) -> ()>

// CHECK-LABEL: func.func @main
// CHECK: scf.for
// CHECK-NOT: shard.all
// CHECK-NOT: shard.reduce
// CHECK: scf.while
// CHECK-NOT: shard.all_reduce
// CHECK-NOT: shard.reduce_scatter
// CHECK: scf.yield
// CHECK-COUNT-3: shard.{{all_reduce|reduce_scatter}}
// CHECK-NOT: shard.
func.func @main(%x: tensor<4x64x24xf32> {tp.sharding = [[], ["x"], []]}, %y: tensor<4x64x24xf32> {tp.sharding = [[], ["x"], []]},
                %start: tensor<24x24xf32>) -> (tensor<24x24xf32>, tensor<4xf32>, tensor<24x24xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<24x24xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<24x24xf32>) -> tensor<24x24xf32>
  %e4 = tensor.empty() : tensor<4xf32>
  %f4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<4xf32>) -> tensor<4xf32>
  %e0 = tensor.empty() : tensor<f32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %sum:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%g = %f, %losses = %f4) -> (tensor<24x24xf32>, tensor<4xf32>) {
    %xi = tensor.extract_slice %x[%i, 0, 0] [1, 64, 24] [1, 1, 1] : tensor<4x64x24xf32> to tensor<64x24xf32>
    %yi = tensor.extract_slice %y[%i, 0, 0] [1, 64, 24] [1, 1, 1] : tensor<4x64x24xf32> to tensor<64x24xf32>
    %p = linalg.generic {indexing_maps = [#left, #right, #product], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%xi, %yi : tensor<64x24xf32>, tensor<64x24xf32>) outs(%f : tensor<24x24xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.mulf %a, %b : f32
      %n = arith.addf %c, %m : f32
      linalg.yield %n : f32
    } -> tensor<24x24xf32>
    %next = arith.addf %g, %p : tensor<24x24xf32>
    %l = linalg.generic {indexing_maps = [#all, #number], iterator_types = ["reduction", "reduction"]} ins(%xi : tensor<64x24xf32>) outs(%f0 : tensor<f32>) {
    ^bb0(%a: f32, %c: f32):
      %n = arith.addf %c, %a : f32
      linalg.yield %n : f32
    } -> tensor<f32>
    %l1 = tensor.expand_shape %l [] output_shape [1] : tensor<f32> into tensor<1xf32>
    %written = tensor.insert_slice %l1 into %losses[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    scf.yield %next, %written : tensor<24x24xf32>, tensor<4xf32>
  }
  // A loop with a condition that starts from numbers of its own, and adds to the left.
  %four = arith.constant dense<4> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %none = arith.constant dense<0> : tensor<i32>
  %w:2 = scf.while (%k = %none, %g = %start) : (tensor<i32>, tensor<24x24xf32>) -> (tensor<i32>, tensor<24x24xf32>) {
    %more = arith.cmpi slt, %k, %four : tensor<i32>
    %go = tensor.extract %more[] : tensor<i1>
    scf.condition(%go) %k, %g : tensor<i32>, tensor<24x24xf32>
  } do {
  ^bb0(%k: tensor<i32>, %g: tensor<24x24xf32>):
    %n32 = tensor.extract %k[] : tensor<i32>
    %i = arith.index_cast %n32 : i32 to index
    %xi = tensor.extract_slice %x[%i, 0, 0] [1, 64, 24] [1, 1, 1] : tensor<4x64x24xf32> to tensor<64x24xf32>
    %yi = tensor.extract_slice %y[%i, 0, 0] [1, 64, 24] [1, 1, 1] : tensor<4x64x24xf32> to tensor<64x24xf32>
    %p = linalg.generic {indexing_maps = [#left, #right, #product], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%xi, %yi : tensor<64x24xf32>, tensor<64x24xf32>) outs(%f : tensor<24x24xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.mulf %a, %b : f32
      %n = arith.addf %c, %m : f32
      linalg.yield %n : f32
    } -> tensor<24x24xf32>
    %next = arith.addf %p, %g : tensor<24x24xf32>
    %k1 = arith.addi %k, %one : tensor<i32>
    scf.yield %k1, %next : tensor<i32>, tensor<24x24xf32>
  }
  return %sum#0, %sum#1, %w#1 : tensor<24x24xf32>, tensor<4xf32>, tensor<24x24xf32>
}
