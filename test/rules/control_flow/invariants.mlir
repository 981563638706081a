// What is made in a loop from weights that do not change is made, and communicated, once: a gather that a constraint in the loop asks for, a
// sum of partial products, in nested loops and in both modes. The last loop has no trip.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd)' | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{strategy=follow})' | FileCheck %s
// RUN: shard-run %s
// RUN: shard-run %s --strategy follow
// RUN: shard-run %s --mesh dp=1,tp=3 --launch processes

// CHECK: shard.all_gather
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: {{shard.all|shard.reduce|tp.permute}}
// CHECK: scf.yield
// CHECK-NOT: {{shard.all|shard.reduce|tp.permute}}
// CHECK: scf.yield
shard.grid @mesh(shape = 2x2) {tp.axes = ["dp", "tp"]}
func.func @main(%x: tensor<16x12xi32> {tp.sharding = [["dp"], []]}, %w: tensor<12x12xi32> {tp.sharding = [["tp"], []]}, %u: tensor<12x8xi32> {tp.sharding = [[], ["tp"]]},
                %v: tensor<8x12xi32> {tp.sharding = [["tp"], []]}) -> (tensor<16x12xi32> {tp.sharding = [["dp"], []]}, tensor<16x12xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0 : i32
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<16x12xi32> {
    %z = scf.for %j = %c0 to %c3 step %c1 iter_args(%b = %a) -> tensor<16x12xi32> {
      %s = shard.sharding @mesh split_axes = [[], []] : !shard.sharding
      %wr = shard.shard %w to %s {tp.sharding = [[], []]} : tensor<12x12xi32>
      %e = tensor.empty() : tensor<12x12xi32>
      %f = linalg.fill ins(%zero : i32) outs(%e : tensor<12x12xi32>) -> tensor<12x12xi32>
      %uv = linalg.matmul ins(%u, %v : tensor<12x8xi32>, tensor<8x12xi32>) outs(%f : tensor<12x12xi32>) -> tensor<12x12xi32>
      %sum = arith.addi %uv, %wr : tensor<12x12xi32>
      %t = linalg.transpose ins(%sum : tensor<12x12xi32>) outs(%e : tensor<12x12xi32>) permutation = [1, 0]
      %ex = tensor.empty() : tensor<16x12xi32>
      %fx = linalg.fill ins(%zero : i32) outs(%ex : tensor<16x12xi32>) -> tensor<16x12xi32>
      %p = linalg.matmul ins(%b, %t : tensor<16x12xi32>, tensor<12x12xi32>) outs(%fx : tensor<16x12xi32>) -> tensor<16x12xi32>
      scf.yield %p : tensor<16x12xi32>
    }
    scf.yield %z : tensor<16x12xi32>
  }
  %none = scf.for %i = %c3 to %c0 step %c1 iter_args(%a = %x) -> tensor<16x12xi32> {
    %e = tensor.empty() : tensor<16x8xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<16x8xi32>) -> tensor<16x8xi32>
    %xu = linalg.matmul ins(%x, %u : tensor<16x12xi32>, tensor<12x8xi32>) outs(%f : tensor<16x8xi32>) -> tensor<16x8xi32>
    %k = linalg.fill ins(%zero : i32) outs(%a : tensor<16x12xi32>) -> tensor<16x12xi32>
    %p = linalg.matmul ins(%xu, %v : tensor<16x8xi32>, tensor<8x12xi32>) outs(%k : tensor<16x12xi32>) -> tensor<16x12xi32>
    scf.yield %p : tensor<16x12xi32>
  }
  return %y, %none : tensor<16x12xi32>, tensor<16x12xi32>
}
