// A sum that the loop also reads in another way is reduced where it is read, as is the maximum of all steps.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-raise,tp-propagate{mesh=x=4},tp-partition)' | FileCheck %s
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh x=2,y=2 --launch processes

#all = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>

// CHECK-LABEL: func.func @main
// CHECK: scf.for
// CHECK-COUNT-2: shard.{{all_reduce|reduce_scatter}}
// CHECK: scf.yield
func.func @main(%x: tensor<4x65536x3xf32> {tp.sharding = [[], ["x"], []]}) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %m = linalg.fill ins(%least : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %r:3 = scf.for %i = %c0 to %c4 step %c1 iter_args(%g = %f, %h = %f, %b = %m) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
    %xi = tensor.extract_slice %x[%i, 0, 0] [1, 65536, 3] [1, 1, 1] : tensor<4x65536x3xf32> to tensor<65536x3xf32>
    %sum = linalg.generic {indexing_maps = [#all, #columns], iterator_types = ["reduction", "parallel"]} ins(%xi : tensor<65536x3xf32>) outs(%f : tensor<3xf32>) {
    ^bb0(%a: f32, %c: f32):
      %n = arith.addf %c, %a : f32
      linalg.yield %n : f32
    } -> tensor<3xf32>
    %max = linalg.generic {indexing_maps = [#all, #columns], iterator_types = ["reduction", "parallel"]} ins(%xi : tensor<65536x3xf32>) outs(%m : tensor<3xf32>) {
    ^bb0(%a: f32, %c: f32):
      %n = arith.maximumf %c, %a : f32
      linalg.yield %n : f32
    } -> tensor<3xf32>
    %next = arith.addf %g, %sum : tensor<3xf32>
    %t = math.tanh %g : tensor<3xf32>
    %seen = arith.addf %h, %t : tensor<3xf32>
    %best = arith.maximumf %b, %max : tensor<3xf32>
    scf.yield %next, %seen, %best : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}
