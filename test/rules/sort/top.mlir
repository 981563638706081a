// The first elements of rows that are split: each device takes the first of its part, and then of those of all parts.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{mesh=x=2 strategy=follow},tp-partition)' | FileCheck %s
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-propagate{mesh=x=3 strategy=follow},tp-partition)' | FileCheck %s --check-prefix=UNEVEN
// RUN: shard-run %s --mesh x=2
// RUN: shard-run %s --mesh x=4 --strategy follow
// RUN: shard-run %s --mesh x=3 --strategy follow
// RUN: shard-run %s --mesh x=5 --strategy follow
// RUN: shard-run %s --mesh x=3 --strategy follow --launch processes

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<4x8xi32>
// CHECK: %[[PART:.*]]:2 = call @tp.sort.1(%{{.*}}, %{{.*}}) {tp.sort = {dim = 1 : i64, less = @larger}} : (tensor<4x8xi32>, tensor<4x8xi32>) -> (tensor<4x3xi32>, tensor<4x3xi32>)
// CHECK: %[[KEYS:.*]] = shard.all_gather %[[PART]]#0 {{.*}} gather_axis = 1 : tensor<4x3xi32> -> tensor<4x6xi32>
// CHECK: %[[PLACES:.*]] = shard.all_gather %[[PART]]#1 {{.*}} gather_axis = 1 : tensor<4x3xi32> -> tensor<4x6xi32>
// CHECK: call @tp.sort.2(%[[KEYS]], %[[PLACES]]) {tp.sort = {dim = 1 : i64, less = @larger}} : (tensor<4x6xi32>, tensor<4x6xi32>) -> (tensor<4x3xi32>, tensor<4x3xi32>)
// CHECK-NOT: call @tp.sort

// Padding is marked, and comes last.
// UNEVEN-LABEL: func.func @main(%{{.*}}: tensor<4x6xi32>
// UNEVEN: call @tp.sort.1(%{{.*}}) {tp.sort = {dim = 1 : i64, less = @tp.less}} : (tensor<4x6xi8>, tensor<4x6xi32>, tensor<4x6xi32>) -> (tensor<4x3xi8>, tensor<4x3xi32>, tensor<4x3xi32>)
// UNEVEN-COUNT-3: shard.all_gather
// UNEVEN: call @tp.sort.2(%{{.*}}) {tp.sort = {dim = 1 : i64, less = @tp.less}} : (tensor<4x9xi8>, tensor<4x9xi32>, tensor<4x9xi32>) -> (tensor<4x3xi8>, tensor<4x3xi32>, tensor<4x3xi32>)
// UNEVEN: func.func private @tp.less(%[[A:.*]]: i8, %[[B:.*]]: i8, %[[C:.*]]: i32, %[[D:.*]]: i32, %[[E:.*]]: i32, %[[F:.*]]: i32) -> i1 attributes {tp.comparator}
// UNEVEN: %[[SAME:.*]] = arith.cmpi eq, %[[A]], %[[B]]
// UNEVEN: %[[L:.*]] = arith.cmpi sgt, %[[C]], %[[D]]
// UNEVEN: %[[MARK:.*]] = arith.cmpi slt, %[[A]], %[[B]]
// UNEVEN: arith.select %[[SAME]], %[[L]], %[[MARK]]
func.func @main(%x: tensor<4x16xi32> {tp.sharding = [[], ["x"]]}) -> (tensor<4x3xi32>, tensor<4x3xi32>) {
  // Four different keys: of equal elements, the first come first.
  %three = arith.constant dense<3> : tensor<4x16xi32>
  %k = arith.andi %x, %three : tensor<4x16xi32>
  %e = tensor.empty() : tensor<4x16xi32>
  %i = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x16xi32>) {
  ^bb0(%o: i32):
    %p = linalg.index 1 : index
    %q = arith.index_cast %p : index to i32
    linalg.yield %q : i32
  } -> tensor<4x16xi32>
  %0:2 = call @tp.sort(%k, %i) {tp.sort = {dim = 1, less = @larger}, tp.factors = {x = 1}} : (tensor<4x16xi32>, tensor<4x16xi32>) -> (tensor<4x3xi32>, tensor<4x3xi32>)
  return %0#0, %0#1 : tensor<4x3xi32>, tensor<4x3xi32>
}
func.func private @tp.sort(tensor<4x16xi32>, tensor<4x16xi32>) -> (tensor<4x3xi32>, tensor<4x3xi32>)
func.func private @larger(%a: i32, %b: i32, %i: i32, %j: i32) -> i1 attributes {tp.comparator} {
  %0 = arith.cmpi sgt, %a, %b : i32
  return %0 : i1
}
