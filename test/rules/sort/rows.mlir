// Rows are split, whole rows are sorted; if the sorted dimension is split, it is gathered.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{mesh=x=2 strategy=follow},tp-partition)' | FileCheck %s
// RUN: shard-run %s --mesh x=2
// RUN: shard-run %s --mesh x=3 --strategy follow
// RUN: shard-run %s --mesh x=2,y=2

// Sorts of different local types have different declarations, whatever the program declares.
// CHECK-LABEL: func.func @main
// CHECK: call @[[ROWS:tp.sort.*]](%arg0) {tp.sort = {dim = 1 : i64, less = @smaller}} : (tensor<3x8xf32>) -> tensor<3x8xf32>
// CHECK: call @[[COLUMNS:tp.sort.*]](%arg1) {tp.sort = {dim = 0 : i64, less = @smaller}} : (tensor<5x4xf32>) -> tensor<5x4xf32>
// CHECK: %[[WHOLE:.*]] = shard.all_gather %arg2 {{.*}} : tensor<5x4xf32> -> tensor<5x8xf32>
// CHECK: call @tp.sort(%[[WHOLE]]) {tp.sort = {dim = 1 : i64, less = @smaller}} : (tensor<5x8xf32>) -> tensor<5x8xf32>
// CHECK-DAG: func.func private @tp.sort(tensor<5x8xf32>) -> tensor<5x8xf32>
// CHECK-DAG: func.func private @[[ROWS]](tensor<3x8xf32>) -> tensor<3x8xf32>
// CHECK-DAG: func.func private @[[COLUMNS]](tensor<5x4xf32>) -> tensor<5x4xf32>
func.func @main(%x: tensor<5x8xf32> {tp.sharding = [["x"], []]}, %y: tensor<5x8xf32> {tp.sharding = [[], ["x"]]}, %z: tensor<5x8xf32> {tp.sharding = [[], ["x"]]})
    -> (tensor<5x8xf32> {tp.sharding = [["x"], []]}, tensor<5x8xf32> {tp.sharding = [[], ["x"]]}, tensor<5x8xf32> {tp.sharding = [[], []]}) {
  %0 = call @tp.sort(%x) {tp.sort = {dim = 1, less = @smaller}} : (tensor<5x8xf32>) -> tensor<5x8xf32>
  %1 = call @tp.sort(%y) {tp.sort = {dim = 0, less = @smaller}} : (tensor<5x8xf32>) -> tensor<5x8xf32>
  %2 = call @tp.sort(%z) {tp.sort = {dim = 1, less = @smaller}} : (tensor<5x8xf32>) -> tensor<5x8xf32>
  return %0, %1, %2 : tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>
}
func.func private @tp.sort(tensor<5x8xf32>) -> tensor<5x8xf32>
func.func private @smaller(%a: f32, %b: f32) -> i1 attributes {tp.comparator} {
  %0 = arith.cmpf olt, %a, %b : f32
  return %0 : i1
}
