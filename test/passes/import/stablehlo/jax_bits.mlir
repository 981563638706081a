// Exported by export.py: what JAX computes on one device.
// RUN: rm -rf %t && mkdir %t && tar -xzf %S/values.tar.gz -C %t
// RUN: shard-run %s --mesh 2x2 --inputs-from %t/bits | FileCheck %s
// RUN: %if long %{ shard-run %s --mesh 3 --inputs-from %t/bits | FileCheck %s %}
// CHECK: verified
"builtin.module"() <{sym_name = "jit_bits"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<8x16xf32>, tensor<8x16xi32>) -> (tensor<8x16x4xui8>, tensor<8x16x2xf32>, tensor<8x16xi32>, tensor<8x16xf32>, tensor<8x16xi32>, tensor<8x16xui32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<8x16xf32>, %arg1: tensor<8x16xi32>):
    %0 = "stablehlo.bitcast_convert"(%arg0) : (tensor<8x16xf32>) -> tensor<8x16x4xui8>
    %1 = "stablehlo.bitcast_convert"(%arg0) : (tensor<8x16xf32>) -> tensor<8x16x2xbf16>
    %2 = "stablehlo.convert"(%1) : (tensor<8x16x2xbf16>) -> tensor<8x16x2xf32>
    %3 = "stablehlo.reverse"(%0) <{dimensions = array<i64: 2>}> : (tensor<8x16x4xui8>) -> tensor<8x16x4xui8>
    %4 = "stablehlo.bitcast_convert"(%3) : (tensor<8x16x4xui8>) -> tensor<8x16xi32>
    %5 = "stablehlo.bitcast_convert"(%1) : (tensor<8x16x2xbf16>) -> tensor<8x16xf32>
    %6 = "stablehlo.constant"() <{value = dense<123456789> : tensor<i32>}> : () -> tensor<i32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<8x16xi32>
    %8 = "stablehlo.multiply"(%arg1, %7) : (tensor<8x16xi32>, tensor<8x16xi32>) -> tensor<8x16xi32>
    %9 = "stablehlo.constant"() <{value = dense<987654321> : tensor<i32>}> : () -> tensor<i32>
    %10 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<8x16xi32>
    %11 = "stablehlo.add"(%arg1, %10) : (tensor<8x16xi32>, tensor<8x16xi32>) -> tensor<8x16xi32>
    %12 = "chlo.mulhi"(%8, %11) : (tensor<8x16xi32>, tensor<8x16xi32>) -> tensor<8x16xi32>
    %13 = "stablehlo.convert"(%arg1) : (tensor<8x16xi32>) -> tensor<8x16xui32>
    %14 = "stablehlo.constant"() <{value = dense<3123456789> : tensor<ui32>}> : () -> tensor<ui32>
    %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %16 = "stablehlo.multiply"(%13, %15) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %17 = "stablehlo.constant"() <{value = dense<987654321> : tensor<ui32>}> : () -> tensor<ui32>
    %18 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %19 = "chlo.mulhi"(%16, %18) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    "func.return"(%0, %2, %4, %5, %12, %19) : (tensor<8x16x4xui8>, tensor<8x16x2xf32>, tensor<8x16xi32>, tensor<8x16xf32>, tensor<8x16xi32>, tensor<8x16xui32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

