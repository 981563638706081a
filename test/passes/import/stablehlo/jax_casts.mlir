// Exported by export.py: what JAX computes on one device.
// RUN: rm -rf %t && mkdir %t && tar -xzf %S/values.tar.gz -C %t
// RUN: shard-run %s --mesh 2x2 --inputs-from %t/casts | FileCheck %s
// RUN: %if long %{ shard-run %s --mesh 3 --inputs-from %t/casts | FileCheck %s %}
// CHECK: verified
"builtin.module"() <{sym_name = "jit_casts"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<8x16xf32>) -> (tensor<8x16xi32>, tensor<8x16xui8>, tensor<8x16xf32>, tensor<8x16xi1>, tensor<8x16xi8>, tensor<8x16xf32>, tensor<8x16xi32>, tensor<8x16xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}, {jax.result_info = "result[6]"}, {jax.result_info = "result[7]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<8x16xf32>):
    %0 = "stablehlo.convert"(%arg0) : (tensor<8x16xf32>) -> tensor<8x16xi32>
    %1 = "stablehlo.convert"(%arg0) : (tensor<8x16xf32>) -> tensor<8x16xui8>
    %2 = "stablehlo.convert"(%arg0) : (tensor<8x16xf32>) -> tensor<8x16xbf16>
    %3 = "stablehlo.convert"(%2) : (tensor<8x16xbf16>) -> tensor<8x16xf32>
    %4 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %6 = "stablehlo.compare"(%arg0, %5) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %7 = "stablehlo.convert"(%6) : (tensor<8x16xi1>) -> tensor<8x16xi1>
    %8 = "stablehlo.convert"(%arg0) : (tensor<8x16xf32>) -> tensor<8x16xi8>
    %9 = "stablehlo.convert"(%arg0) : (tensor<8x16xf32>) -> tensor<8x16xf16>
    %10 = "stablehlo.convert"(%9) : (tensor<8x16xf16>) -> tensor<8x16xf32>
    %11 = "stablehlo.bitcast_convert"(%arg0) : (tensor<8x16xf32>) -> tensor<8x16xi32>
    %12 = "stablehlo.reduce_precision"(%arg0) <{exponent_bits = 8 : i32, mantissa_bits = 7 : i32}> : (tensor<8x16xf32>) -> tensor<8x16xf32>
    "func.return"(%0, %1, %3, %7, %8, %10, %11, %12) : (tensor<8x16xi32>, tensor<8x16xui8>, tensor<8x16xf32>, tensor<8x16xi1>, tensor<8x16xi8>, tensor<8x16xf32>, tensor<8x16xi32>, tensor<8x16xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

