// Exported by export.py: what JAX computes on one device.
// RUN: rm -rf %t && mkdir %t && tar -xzf %S/values.tar.gz -C %t
// RUN: shard-run %s --mesh 2x2 --inputs-from %t/ragged_dot | FileCheck %s
// RUN: %if long %{ shard-run %s --mesh 3 --inputs-from %t/ragged_dot | FileCheck %s %}
// CHECK: verified
"builtin.module"() <{sym_name = "jit_ragged"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}], function_type = (tensor<12x8xf32>, tensor<4x8x6xf32>, tensor<4xi32>, tensor<4xi32>) -> (tensor<12x6xf32>, tensor<12x6xf32>, tensor<12x8xf32>, tensor<4x8x6xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2][0]"}, {jax.result_info = "result[2][1]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<12x8xf32>, %arg1: tensor<4x8x6xf32>, %arg2: tensor<4xi32>, %arg3: tensor<4xi32>):
    %0 = "chlo.ragged_dot"(%arg0, %arg1, %arg2) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<12x8xf32>, tensor<4x8x6xf32>, tensor<4xi32>) -> tensor<12x6xf32>
    %1 = "chlo.ragged_dot"(%arg0, %arg1, %arg3) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<12x8xf32>, tensor<4x8x6xf32>, tensor<4xi32>) -> tensor<12x6xf32>
    %2 = "chlo.ragged_dot"(%arg0, %arg1, %arg2) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<12x8xf32>, tensor<4x8x6xf32>, tensor<4xi32>) -> tensor<12x6xf32>
    %3 = "stablehlo.multiply"(%2, %2) : (tensor<12x6xf32>, tensor<12x6xf32>) -> tensor<12x6xf32>
    %4 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12x6xf32>
    %6 = "stablehlo.multiply"(%5, %2) : (tensor<12x6xf32>, tensor<12x6xf32>) -> tensor<12x6xf32>
    %7 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %8 = "stablehlo.reduce"(%3, %7) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %14 = "stablehlo.add"(%arg4, %arg5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%14) : (tensor<f32>) -> ()
    }) : (tensor<12x6xf32>, tensor<f32>) -> tensor<f32>
    %9 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %10 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12x6xf32>
    %11 = "stablehlo.multiply"(%10, %6) : (tensor<12x6xf32>, tensor<12x6xf32>) -> tensor<12x6xf32>
    %12 = "chlo.ragged_dot"(%arg0, %11, %arg2) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0]>}> : (tensor<12x8xf32>, tensor<12x6xf32>, tensor<4xi32>) -> tensor<4x8x6xf32>
    %13 = "chlo.ragged_dot"(%11, %arg1, %arg2) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<12x6xf32>, tensor<4x8x6xf32>, tensor<4xi32>) -> tensor<12x8xf32>
    "func.return"(%0, %1, %13, %12) : (tensor<12x6xf32>, tensor<12x6xf32>, tensor<12x8xf32>, tensor<4x8x6xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

