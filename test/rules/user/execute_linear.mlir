// Partial sums that pass through an op with a rule of its own, and its uneven shards: N ranks compute what one computes.
// bufferization.materialize_in_destination is in no family; it is linear and leaves padding alone.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-spmd{mesh=x=4})' | FileCheck %s
// RUN: shard-run %s --mesh x=4
// RUN: shard-run %s --mesh x=3 --strategy follow
// RUN: shard-run %s --mesh x=2,y=2
// RUN: shard-run %s --mesh x=4,y=2 --strategy follow --launch processes

// CHECK: bufferization.materialize_in_destination {{.*}}linear={0}
// CHECK: shard.reduce_scatter
// CHECK-NOT: all_gather
shard.grid @mesh(shape = 4x1) {tp.axes = ["x", "y"]}
func.func @main(%a: tensor<8x12xf32> {tp.sharding = [[], ["x"]]}, %b: tensor<12x8xf32> {tp.sharding = [["x"], []]},
                %c: tensor<10x5xi32> {tp.sharding = [["x"], ["y"]]})
    -> (tensor<8x8xf32> {tp.sharding = [["x"], []]}, tensor<10x5xi32> {tp.sharding = [["x"], ["y"]]}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.matmul ins(%a, %b : tensor<8x12xf32>, tensor<12x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = bufferization.materialize_in_destination %p in %e {tp.rule = "([i,j],[i,j])->([i,j]) linear={0}", tp.sharding = {dims = [[], []], partial = {x = "sum"}}} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %to = tensor.empty() : tensor<10x5xi32>
  %d = bufferization.materialize_in_destination %c in %to {tp.rule = "([i,j],[i,j])->([i,j]) uneven={i,j}"} : (tensor<10x5xi32>, tensor<10x5xi32>) -> tensor<10x5xi32>
  %g = arith.addi %d, %c : tensor<10x5xi32>
  return %q, %g : tensor<8x8xf32>, tensor<10x5xi32>
}
