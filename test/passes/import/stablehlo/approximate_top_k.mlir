// ApproxTopK, as JAX writes lax.approx_max_k, is an exact selection. Two calls share a comparator, whose function does not end in a return.
// RUN: shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-import,tp-import-stablehlo)' | FileCheck %s
// RUN: shard-run %s --mesh 2x2 | FileCheck %s --check-prefix=RIGHT
// RUN: not shard-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tp-propagate{mesh=2})' 2>&1 | FileCheck %s --check-prefix=EARLY
// CHECK-NOT: stablehlo
// CHECK-LABEL: func.func @main
// CHECK: call @tp.sort{{.*}} {tp.sort = {dim = 1 : i64, less = @[[LESS:[a-z.0-9]+]]}} : (tensor<4x64xf32>, tensor<4x64xi32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
// CHECK: call @tp.sort{{.*}} {tp.sort = {dim = 0 : i64, less = @{{[a-z.0-9]+}}}} : (tensor<4x64xf32>, tensor<4x64xi32>) -> (tensor<2x64xf32>, tensor<2x64xi32>)
// CHECK-NOT: @greater
// CHECK: func.func private @[[LESS]]({{.*}}) -> i1
// CHECK: arith.cmpf ogt
// CHECK-NOT: @greater
// RIGHT: verified
// EARLY: error: 'func.func': is the comparator of an approximate top-k (lax.approx_max_k and approx_min_k of JAX); run tp-import-stablehlo first
func.func private @greater(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
  "stablehlo.return"(%0) : (tensor<i1>) -> ()
}

func.func @main(%x: tensor<4x64xf32>) -> (tensor<4x3xf32>, tensor<4x3xi32>, tensor<2x64xi32>) {
  %at = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4x64xi32>
  %row = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4x64xi32>
  %least = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %none = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
  %0:2 = "stablehlo.custom_call"(%x, %at, %least, %none) <{backend_config = "", call_target_name = "ApproxTopK", called_computations = [@greater]}> {mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.9 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 3 : i64}} : (tensor<4x64xf32>, tensor<4x64xi32>, tensor<f32>, tensor<i32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
  %1:2 = "stablehlo.custom_call"(%x, %row, %least, %none) <{backend_config = "", call_target_name = "ApproxTopK", called_computations = [@greater]}> {mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.9 : f32, reduction_dim = 0 : i64, reduction_input_size_override = -1 : i64, top_k = 2 : i64}} : (tensor<4x64xf32>, tensor<4x64xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x64xf32>, tensor<2x64xi32>)
  return %0#0, %0#1, %1#1 : tensor<4x3xf32>, tensor<4x3xi32>, tensor<2x64xi32>
}
