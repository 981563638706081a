// RUN: shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-spmd,canonicalize,cse,tp-export-stablehlo)' --mlir-print-op-generic | FileCheck %s

// The mesh has an axis per axis of ours; the boundary has global types, the computation local ones.
// CHECK: "builtin.module"
// CHECK: "sdy.mesh"() {mesh = #sdy.mesh<["a0"=2, "a1"=4]>, sym_name = "mesh"}
// CHECK: sdy.sharding = #sdy.sharding<@mesh, [{"a0"}, {}]>
// CHECK-SAME: sdy.sharding = #sdy.sharding<@mesh, [{}, {"a1"}]>
// CHECK-SAME: function_type = (tensor<8x16xf32>, tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
// CHECK-SAME: sym_name = "mlp"
// CHECK: "sdy.manual_computation"(%{{.*}}, %{{.*}}, %{{.*}}) ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<4x16xf32>, %[[A:.*]]: tensor<16x8xf32>, %[[B:.*]]: tensor<8x16xf32>):
// CHECK: %[[H:.*]] = "stablehlo.dot_general"(%[[X]], %[[A]]) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>
// CHECK: %[[T:.*]] = "stablehlo.tanh"(%[[H]])
// CHECK: %[[P:.*]] = "stablehlo.dot_general"(%[[T]], %[[B]])
// CHECK: "stablehlo.all_reduce"(%[[P]]) ({
// CHECK: "stablehlo.add"
// CHECK: "stablehlo.return"
// CHECK: channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>
// CHECK-SAME: replica_groups = dense<{{\[\[}}0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids
// CHECK: "sdy.return"
// CHECK: in_shardings = #sdy.sharding_per_value<[<@mesh, [{"a0"}, {}]>, <@mesh, [{}, {"a1"}]>, <@mesh, [{"a1"}, {}]>]>
// CHECK-SAME: manual_axes = #sdy<manual_axes{"a0", "a1"}>
// CHECK-SAME: out_shardings = #sdy.sharding_per_value<[<@mesh, [{"a0"}, {}]>]>
// CHECK: "func.return"
// CHECK: mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32
// CHECK-NOT: tp.
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
func.func @mlp(%x: tensor<8x16xf32> {tp.sharding = [["dp"], []]}, %a: tensor<16x32xf32> {tp.sharding = [[], ["tp"]], tp.role = "param"},
               %b: tensor<32x16xf32> {tp.sharding = [["tp"], []]}) -> (tensor<8x16xf32> {tp.sharding = [["dp"], []]}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %a : tensor<8x16xf32>, tensor<16x32xf32>) outs(%z : tensor<8x32xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %m = arith.mulf %p, %q : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<8x32xf32>
  %t = math.tanh %h : tensor<8x32xf32>
  %f = tensor.empty() : tensor<8x16xf32>
  %y = linalg.fill ins(%zero : f32) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%t, %b : tensor<8x32xf32>, tensor<32x16xf32>) outs(%y : tensor<8x16xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %m = arith.mulf %p, %q : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  return %o : tensor<8x16xf32>
}
