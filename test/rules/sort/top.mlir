// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{mesh=x=2 strategy=follow},tp-partition)' | FileCheck %s
// RUN: shard-run %s --mesh x=2
// RUN: shard-run %s --mesh x=4 --strategy follow
// RUN: shard-run %s --mesh x=2,y=2 --strategy follow
// RUN: shard-run %s --mesh x=3 --strategy follow

// Only the first elements are kept: each device takes the first of its part of a row, and of those
// that are gathered.
// CHECK-LABEL: func.func @main(%{{.*}}: tensor<4x8xf32>
// CHECK: %[[part:.*]]:2 = call @[[of_part:tp.sort[.0-9]*]](%{{.*}}, %{{.*}}) {tp.sort = {dim = 1 : i64, less = @larger}} : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
// CHECK: %[[keys:.*]] = shard.all_gather %[[part]]#0 {{.*}} tensor<4x3xf32> -> tensor<4x6xf32>
// CHECK: %[[places:.*]] = shard.all_gather %[[part]]#1 {{.*}} tensor<4x3xi32> -> tensor<4x6xi32>
// CHECK: call @[[of_all:tp.sort[.0-9]*]](%[[keys]], %[[places]]) {tp.sort = {dim = 1 : i64, less = @larger}} : (tensor<4x6xf32>, tensor<4x6xi32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
func.func @main(%x: tensor<4x16xf32> {tp.sharding = [[], ["x"]]}) -> (tensor<4x3xf32>, tensor<4x3xi32>) {
  %e = tensor.empty() : tensor<4x16xi32>
  %i = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x16xi32>) {
  ^bb0(%o: i32):
    %p = linalg.index 1 : index
    %q = arith.index_cast %p : index to i32
    linalg.yield %q : i32
  } -> tensor<4x16xi32>
  %0:2 = call @tp.sort(%x, %i) {tp.sort = {dim = 1, less = @larger}} : (tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
  return %0#0, %0#1 : tensor<4x3xf32>, tensor<4x3xi32>
}
func.func private @tp.sort(tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
func.func private @larger(%a: f32, %b: f32, %i: i32, %j: i32) -> i1 attributes {tp.comparator} {
  %0 = arith.cmpf ogt, %a, %b : f32
  return %0 : i1
}
