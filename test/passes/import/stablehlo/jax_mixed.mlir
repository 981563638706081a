// Exported by export.py: what JAX computes on one device.
// RUN: rm -rf %t && mkdir %t && tar -xzf %S/values.tar.gz -C %t
// RUN: shard-run %s --mesh 2x2 --inputs-from %t/mixed | FileCheck %s
// RUN: %if long %{ shard-run %s --mesh 3 --inputs-from %t/mixed | FileCheck %s %}
// CHECK: verified
"builtin.module"() <{sym_name = "jit_mixed"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}], function_type = (tensor<8x16xbf16>, tensor<16x16xbf16>, tensor<16x16xi8>, tensor<16xbf16>) -> (tensor<8x16xf32>, tensor<8x16xbf16>, tensor<16x16xi32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<8x16xbf16>, %arg1: tensor<16x16xbf16>, %arg2: tensor<16x16xi8>, %arg3: tensor<16xbf16>):
    %0 = "stablehlo.dot_general"(%arg0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x16xbf16>, tensor<16x16xbf16>) -> tensor<8x16xf32>
    %1 = "stablehlo.convert"(%arg2) : (tensor<16x16xi8>) -> tensor<16x16xbf16>
    %2 = "stablehlo.dot_general"(%arg0, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x16xbf16>, tensor<16x16xbf16>) -> tensor<8x16xbf16>
    %3 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64: 1>}> : (tensor<16xbf16>) -> tensor<1x16xbf16>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x16xbf16>) -> tensor<8x16xbf16>
    %5 = "stablehlo.multiply"(%2, %4) : (tensor<8x16xbf16>, tensor<8x16xbf16>) -> tensor<8x16xbf16>
    %6 = "stablehlo.dot_general"(%arg2, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16xi8>, tensor<16x16xi8>) -> tensor<16x16xi32>
    "func.return"(%0, %5, %6) : (tensor<8x16xf32>, tensor<8x16xbf16>, tensor<16x16xi32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

