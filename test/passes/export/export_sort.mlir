// Sorts are exported with the body of their comparator; of fewer elements, a slice. Imported again, they give the same results.
// RUN: shard-opt %s --mlir-print-op-generic --pass-pipeline='builtin.module(tp-export-stablehlo)' | FileCheck %s
// RUN: shard-opt %s --mlir-print-op-generic --pass-pipeline='builtin.module(tp-spmd{mesh=x=4 strategy=follow},tp-export-stablehlo)' | FileCheck %s --check-prefix=LOCAL
// RUN: shard-opt %s --mlir-print-op-generic --pass-pipeline='builtin.module(tp-spmd{mesh=x=2 strategy=follow},tp-export-stablehlo)' -o %t.mlir
// RUN: shard-run %t.mlir

// CHECK: sym_name = "main"
// CHECK: %[[S:.*]]:2 = "stablehlo.sort"(%{{.*}}, %{{.*}}) ({
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<i32>, %[[B:.*]]: tensor<i32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>):
// CHECK-NEXT: %[[C:.*]] = "stablehlo.compare"(%[[A]], %[[B]])
// CHECK-SAME: GT
// CHECK-NEXT: "stablehlo.return"(%[[C]]) : (tensor<i1>) -> ()
// CHECK-NEXT: }) {dimension = 1 : i64, is_stable = true}
// CHECK: "stablehlo.slice"(%[[S]]#0)
// CHECK-SAME: limit_indices = array<i64: 4, 3>
// CHECK-NOT: func.func
// LOCAL-COUNT-2: "stablehlo.sort"
func.func @main(%k: tensor<4x16xi32> {tp.sharding = [[], ["x"]]}, %p: tensor<4x16xf32>) -> (tensor<4x3xi32>, tensor<4x3xf32>) {
  %0:2 = call @tp.sort(%k, %p) {tp.sort = {dim = 1, less = @larger}, tp.factors = {x = 1}} : (tensor<4x16xi32>, tensor<4x16xf32>) -> (tensor<4x3xi32>, tensor<4x3xf32>)
  return %0#0, %0#1 : tensor<4x3xi32>, tensor<4x3xf32>
}
func.func private @tp.sort(tensor<4x16xi32>, tensor<4x16xf32>) -> (tensor<4x3xi32>, tensor<4x3xf32>)
func.func private @larger(%a: i32, %b: i32, %i: f32, %j: f32) -> i1 attributes {tp.comparator} {
  %0 = arith.cmpi sgt, %a, %b : i32
  return %0 : i1
}
