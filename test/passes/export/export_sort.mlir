// Sorts are exported with the body of their comparator; of fewer elements, a slice. Those that chlo.top_k describes become one. Imported again, they give the same results.
// RUN: shard-opt %s --mlir-print-op-generic --pass-pipeline='builtin.module(tp-export-stablehlo)' | FileCheck %s
// RUN: shard-opt %s --mlir-print-op-generic --pass-pipeline='builtin.module(tp-spmd{mesh=x=4 strategy=follow},tp-export-stablehlo)' | FileCheck %s --check-prefix=LOCAL
// RUN: shard-opt %s --mlir-print-op-generic --pass-pipeline='builtin.module(tp-spmd{mesh=x=2 strategy=follow},tp-export-stablehlo)' -o %t.mlir
// RUN: shard-run %t.mlir

// The largest elements, and what is sorted along with them at their positions.
// CHECK: sym_name = "main"
// CHECK: %[[T:.*]]:2 = "chlo.top_k"(%{{.*}}) {k = 3 : i64} : (tensor<4x16xi32>) -> (tensor<4x3xi32>, tensor<4x3xi32>)
// CHECK-NEXT: "stablehlo.gather"(%{{.*}}, %[[T]]#1) {dimension_numbers = #stablehlo.gather<offset_dims = [], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>
// CHECK-SAME: slice_sizes = array<i64: 1, 1>
// CHECK-SAME: (tensor<4x16xf32>, tensor<4x3xi32>) -> tensor<4x3xf32>
// CHECK-NOT: "larger"
// LOCAL: %[[T:.*]]:2 = "chlo.top_k"
// LOCAL-SAME: (tensor<4x4xi32>)
// LOCAL-NEXT: %[[P:.*]] = "stablehlo.gather"(%{{.*}}, %[[T]]#1)
// LOCAL: %[[G:.*]] = "stablehlo.all_gather"(%[[T]]#0)
// LOCAL: %[[H:.*]] = "stablehlo.all_gather"(%[[P]])
// LOCAL: %[[U:.*]]:2 = "chlo.top_k"(%[[G]])
// LOCAL-NEXT: "stablehlo.gather"(%[[H]], %[[U]]#1)
func.func @main(%k: tensor<4x16xi32> {tp.sharding = [[], ["x"]]}, %p: tensor<4x16xf32>) -> (tensor<4x3xi32>, tensor<4x3xf32>) {
  %0:2 = call @tp.sort(%k, %p) {tp.sort = {dim = 1, less = @larger}, tp.factors = {x = 1}} : (tensor<4x16xi32>, tensor<4x16xf32>) -> (tensor<4x3xi32>, tensor<4x3xf32>)
  return %0#0, %0#1 : tensor<4x3xi32>, tensor<4x3xf32>
}
func.func private @tp.sort(tensor<4x16xi32>, tensor<4x16xf32>) -> (tensor<4x3xi32>, tensor<4x3xf32>)
func.func private @larger(%a: i32, %b: i32, %i: f32, %j: f32) -> i1 attributes {tp.comparator} {
  %0 = arith.cmpi sgt, %a, %b : i32
  return %0 : i1
}

// CHECK: sym_name = "smallest"
// CHECK: %[[S:.*]]:2 = "stablehlo.sort"(%{{.*}}, %{{.*}}) ({
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<i32>, %[[B:.*]]: tensor<i32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>):
// CHECK-NEXT: %[[C:.*]] = "stablehlo.compare"(%[[A]], %[[B]])
// CHECK-SAME: LT
// CHECK-NEXT: "stablehlo.return"(%[[C]]) : (tensor<i1>) -> ()
// CHECK-NEXT: }) {dimension = 1 : i64, is_stable = true}
// CHECK: "stablehlo.slice"(%[[S]]#0)
// CHECK-SAME: limit_indices = array<i64: 4, 3>
// LOCAL-COUNT-2: "stablehlo.sort"
func.func @smallest(%k: tensor<4x16xi32> {tp.sharding = [[], ["x"]]}, %p: tensor<4x16xf32>) -> (tensor<4x3xi32>, tensor<4x3xf32>) {
  %0:2 = call @tp.sort(%k, %p) {tp.sort = {dim = 1, less = @smaller}, tp.factors = {x = 1}} : (tensor<4x16xi32>, tensor<4x16xf32>) -> (tensor<4x3xi32>, tensor<4x3xf32>)
  return %0#0, %0#1 : tensor<4x3xi32>, tensor<4x3xf32>
}
func.func private @smaller(%a: i32, %b: i32, %i: f32, %j: f32) -> i1 attributes {tp.comparator} {
  %0 = arith.cmpi slt, %a, %b : i32
  return %0 : i1
}

// The largest elements of the last dimension and their positions: chlo.top_k. Floats in their total order, or signed integers.
// CHECK: sym_name = "largest"
// CHECK: %[[T:.*]]:2 = "chlo.top_k"(%{{.*}}) {k = 3 : i64} : (tensor<4x16xf32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
// CHECK-NEXT: %[[U:.*]]:2 = "chlo.top_k"(%[[T]]#1) {k = 2 : i64} : (tensor<4x3xi32>) -> (tensor<4x2xi32>, tensor<4x2xi32>)
// LOCAL: "chlo.top_k"
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @largest(%x: tensor<4x16xf32> {tp.sharding = [["x"], []]}) -> (tensor<4x3xf32>, tensor<4x2xi32>) {
  %e = tensor.empty() : tensor<4x16xi32>
  %i = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x16xi32>) {
  ^bb0(%out: i32):
    %at = linalg.index 1 : index
    %c = arith.index_cast %at : index to i32
    linalg.yield %c : i32
  } -> tensor<4x16xi32>
  %t:2 = call @tp.top(%x, %i) {tp.sort = {dim = 1, less = @larger_float}} : (tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
  %f = tensor.empty() : tensor<4x3xi32>
  %j = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%f : tensor<4x3xi32>) {
  ^bb0(%out: i32):
    %at = linalg.index 1 : index
    %c = arith.index_cast %at : index to i32
    linalg.yield %c : i32
  } -> tensor<4x3xi32>
  %u:2 = call @tp.top_of_ints(%t#1, %j) {tp.sort = {dim = 1, less = @larger_int}} : (tensor<4x3xi32>, tensor<4x3xi32>) -> (tensor<4x2xi32>, tensor<4x2xi32>)
  return %t#0, %u#1 : tensor<4x3xf32>, tensor<4x2xi32>
}

// These are no chlo.top_k: the largest elements of another dimension than the last, the smallest elements, all elements, another order of floats.
// CHECK: sym_name = "others"
// CHECK-NOT: chlo.top_k
// CHECK-COUNT-4: "stablehlo.sort"
// CHECK-NOT: chlo.top_k
func.func @others(%x: tensor<4x16xf32>) -> (tensor<3x16xi32>, tensor<4x3xi32>, tensor<4x16xi32>, tensor<4x3xi32>) {
  %e = tensor.empty() : tensor<4x16xi32>
  %rows = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x16xi32>) {
  ^bb0(%out: i32):
    %at = linalg.index 0 : index
    %c = arith.index_cast %at : index to i32
    linalg.yield %c : i32
  } -> tensor<4x16xi32>
  %columns = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x16xi32>) {
  ^bb0(%out: i32):
    %at = linalg.index 1 : index
    %c = arith.index_cast %at : index to i32
    linalg.yield %c : i32
  } -> tensor<4x16xi32>
  %a:2 = call @tp.top_row(%x, %rows) {tp.sort = {dim = 0, less = @larger_float}} : (tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<3x16xf32>, tensor<3x16xi32>)
  %b:2 = call @tp.top(%x, %columns) {tp.sort = {dim = 1, less = @smaller_float}} : (tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
  %c:2 = call @tp.all(%x, %columns) {tp.sort = {dim = 1, less = @larger_float}} : (tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<4x16xf32>, tensor<4x16xi32>)
  %d:2 = call @tp.top(%x, %columns) {tp.sort = {dim = 1, less = @larger_number}} : (tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
  return %a#1, %b#1, %c#1, %d#1 : tensor<3x16xi32>, tensor<4x3xi32>, tensor<4x16xi32>, tensor<4x3xi32>
}
func.func private @tp.top(tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
func.func private @tp.top_row(tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<3x16xf32>, tensor<3x16xi32>)
func.func private @tp.top_of_ints(tensor<4x3xi32>, tensor<4x3xi32>) -> (tensor<4x2xi32>, tensor<4x2xi32>)
func.func private @tp.all(tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<4x16xf32>, tensor<4x16xi32>)
func.func private @larger_float(%a: f32, %b: f32, %i: i32, %j: i32) -> i1 attributes {tp.comparator} {
  %one = arith.constant 1 : i32
  %width = arith.constant 31 : i32
  %0 = arith.bitcast %a : f32 to i32
  %1 = arith.shrsi %0, %width : i32
  %2 = arith.shrui %1, %one : i32
  %3 = arith.xori %0, %2 : i32
  %4 = arith.bitcast %b : f32 to i32
  %5 = arith.shrsi %4, %width : i32
  %6 = arith.shrui %5, %one : i32
  %7 = arith.xori %4, %6 : i32
  %8 = arith.cmpi sgt, %3, %7 : i32
  return %8 : i1
}
func.func private @smaller_float(%a: f32, %b: f32, %i: i32, %j: i32) -> i1 attributes {tp.comparator} {
  %one = arith.constant 1 : i32
  %width = arith.constant 31 : i32
  %0 = arith.bitcast %a : f32 to i32
  %1 = arith.shrsi %0, %width : i32
  %2 = arith.shrui %1, %one : i32
  %3 = arith.xori %0, %2 : i32
  %4 = arith.bitcast %b : f32 to i32
  %5 = arith.shrsi %4, %width : i32
  %6 = arith.shrui %5, %one : i32
  %7 = arith.xori %4, %6 : i32
  %8 = arith.cmpi slt, %3, %7 : i32
  return %8 : i1
}
func.func private @larger_number(%a: f32, %b: f32, %i: i32, %j: i32) -> i1 attributes {tp.comparator} {
  %0 = arith.cmpf ogt, %a, %b : f32
  return %0 : i1
}
func.func private @larger_int(%a: i32, %b: i32, %i: i32, %j: i32) -> i1 attributes {tp.comparator} {
  %0 = arith.cmpi sgt, %a, %b : i32
  return %0 : i1
}
