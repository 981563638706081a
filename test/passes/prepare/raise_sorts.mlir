// A sort of which only the first elements of each row are used keeps no others. What was annotated, or is used as a whole or elsewhere, stays.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-raise)' | FileCheck %s
// RUN: shard-run %s --mesh x=2 --function both | FileCheck %s --check-prefix=EXECUTE
// RUN: shard-run %s --mesh x=2 --function different | FileCheck %s --check-prefix=EXECUTE
// RUN: shard-run %s --mesh x=4 --function split --strategy follow | FileCheck %s --check-prefix=EXECUTE
// RUN: shard-run %s --mesh x=4 --function split --strategy follow | FileCheck %s --check-prefix=LOCAL
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-raise)' -o %t.mlir
// RUN: shard-opt %t.mlir --pass-pipeline='builtin.module(tp-raise)' | diff %t.mlir -
// EXECUTE: verified
// RUN: shard-run %s --mesh x=2 --function whole | FileCheck %s --check-prefix=EXECUTE

// CHECK-LABEL: func.func @both
// CHECK: %[[S:.*]]:2 = call @tp.sort{{.*}}(%arg0, %arg1) {tp.sort = {dim = 1 : i64, less = @less}} : (tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
// CHECK-NEXT: return %[[S]]#0, %[[S]]#1
func.func @both(%k: tensor<4x16xf32>, %p: tensor<4x16xi32>) -> (tensor<4x3xf32>, tensor<4x3xi32>) {
  %0:2 = call @tp.sort(%k, %p) {tp.sort = {dim = 1, less = @less}} : (tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<4x16xf32>, tensor<4x16xi32>)
  %1 = tensor.extract_slice %0#0[0, 0] [4, 3] [1, 1] : tensor<4x16xf32> to tensor<4x3xf32>
  %2 = tensor.extract_slice %0#1[0, 0] [4, 3] [1, 1] : tensor<4x16xi32> to tensor<4x3xi32>
  return %1, %2 : tensor<4x3xf32>, tensor<4x3xi32>
}

// The longest of several prefixes is kept; the others are slices of it.
// CHECK-LABEL: func.func @different
// CHECK: %[[S:.*]]:2 = call @tp.sort{{.*}} -> (tensor<4x5xf32>, tensor<4x5xi32>)
// CHECK-NEXT: %[[E:.*]] = tensor.extract_slice %[[S]]#0[0, 0] [4, 2] [1, 1] : tensor<4x5xf32> to tensor<4x2xf32>
// CHECK-NEXT: return %[[E]], %[[S]]#1
func.func @different(%k: tensor<4x16xf32>, %p: tensor<4x16xi32>) -> (tensor<4x2xf32>, tensor<4x5xi32>) {
  %0:2 = call @tp.sort(%k, %p) {tp.sort = {dim = 1, less = @less}} : (tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<4x16xf32>, tensor<4x16xi32>)
  %1 = tensor.extract_slice %0#0[0, 0] [4, 2] [1, 1] : tensor<4x16xf32> to tensor<4x2xf32>
  %2 = tensor.extract_slice %0#1[0, 0] [4, 5] [1, 1] : tensor<4x16xi32> to tensor<4x5xi32>
  return %1, %2 : tensor<4x2xf32>, tensor<4x5xi32>
}

// Where the row is split, only the candidates of each device are gathered: 2 of 4 elements of 8 bytes from each of 3 others.
// CHECK-LABEL: func.func @split
// CHECK: call @tp.sort{{.*}} -> (tensor<4x2xf32>, tensor<4x2xi32>)
// LOCAL: all_gather{{ +}}x{{ +}}2{{ +}}192 B
func.func @split(%k: tensor<4x16xf32> {tp.sharding = [[], ["x"]]}, %p: tensor<4x16xi32> {tp.sharding = [[], ["x"]]}) -> (tensor<4x2xf32> {tp.sharding = [[], []]}, tensor<4x2xi32> {tp.sharding = [[], []]}) {
  %0:2 = call @tp.sort(%k, %p) {tp.sort = {dim = 1, less = @less}} : (tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<4x16xf32>, tensor<4x16xi32>)
  %1 = tensor.extract_slice %0#0[0, 0] [4, 2] [1, 1] : tensor<4x16xf32> to tensor<4x2xf32>
  %2 = tensor.extract_slice %0#1[0, 0] [4, 2] [1, 1] : tensor<4x16xi32> to tensor<4x2xi32>
  return %1, %2 : tensor<4x2xf32>, tensor<4x2xi32>
}

// CHECK-LABEL: func.func @whole
// CHECK: call @tp.sort{{.*}} -> (tensor<4x16xf32>, tensor<4x16xi32>)
func.func @whole(%k: tensor<4x16xf32>, %p: tensor<4x16xi32>) -> (tensor<4x3xf32>, tensor<4x16xi32>) {
  %0:2 = call @tp.sort(%k, %p) {tp.sort = {dim = 1, less = @less}} : (tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<4x16xf32>, tensor<4x16xi32>)
  %1 = tensor.extract_slice %0#0[0, 0] [4, 3] [1, 1] : tensor<4x16xf32> to tensor<4x3xf32>
  return %1, %0#1 : tensor<4x3xf32>, tensor<4x16xi32>
}

// Neither the last elements, nor every second one, nor those of some rows are a prefix of each row.
// CHECK-LABEL: func.func @no_prefix
// CHECK-COUNT-3: call @tp.sort{{.*}} -> (tensor<4x16xf32>, tensor<4x16xi32>)
func.func @no_prefix(%k: tensor<4x16xf32>, %p: tensor<4x16xi32>) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<2x3xf32>) {
  %0:2 = call @tp.sort(%k, %p) {tp.sort = {dim = 1, less = @less}} : (tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<4x16xf32>, tensor<4x16xi32>)
  %1 = tensor.extract_slice %0#0[0, 13] [4, 3] [1, 1] : tensor<4x16xf32> to tensor<4x3xf32>
  %2:2 = call @tp.sort(%k, %p) {tp.sort = {dim = 1, less = @less}} : (tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<4x16xf32>, tensor<4x16xi32>)
  %3 = tensor.extract_slice %2#0[0, 0] [4, 3] [1, 2] : tensor<4x16xf32> to tensor<4x3xf32>
  %4:2 = call @tp.sort(%k, %p) {tp.sort = {dim = 1, less = @less}} : (tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<4x16xf32>, tensor<4x16xi32>)
  %5 = tensor.extract_slice %4#0[0, 0] [2, 3] [1, 1] : tensor<4x16xf32> to tensor<2x3xf32>
  return %1, %3, %5 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @annotated
// CHECK: call @tp.sort{{.*}} -> (tensor<4x16xf32>, tensor<4x16xi32>)
func.func @annotated(%k: tensor<4x16xf32>, %p: tensor<4x16xi32>) -> tensor<4x3xf32> {
  %0:2 = call @tp.sort(%k, %p) {tp.sort = {dim = 1, less = @less}, tp.sharding = [[["x"], []], [["x"], []]]} : (tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<4x16xf32>, tensor<4x16xi32>)
  %1 = tensor.extract_slice %0#0[0, 0] [4, 3] [1, 1] : tensor<4x16xf32> to tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}
func.func private @tp.sort(tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<4x16xf32>, tensor<4x16xi32>)
func.func private @less(%a: f32, %b: f32, %i: i32, %j: i32) -> i1 attributes {tp.comparator} {
  %0 = arith.cmpf olt, %a, %b : f32
  return %0 : i1
}
