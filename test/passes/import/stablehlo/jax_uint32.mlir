// Exported by export.py: what JAX computes on one device.
// RUN: rm -rf %t && mkdir %t && tar -xzf %S/values.tar.gz -C %t
// RUN: shard-run %s --mesh 2x2 --inputs-from %t/uint32 | FileCheck %s
// RUN: %if long %{ shard-run %s --mesh 3 --inputs-from %t/uint32 | FileCheck %s %}
// CHECK: verified
"builtin.module"() <{sym_name = "jit_unsigned"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<8x16xui32>, tensor<8x16xui32>) -> (tensor<8x16xui32>, tensor<8x16xui32>, tensor<8x16xui32>, tensor<8x16xui32>, tensor<8x16xui32>, tensor<8x16xf32>, tensor<8x16xui32>, tensor<8x16xi1>, tensor<8x16xui32>, tensor<8x16xi1>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}, {jax.result_info = "result[6]"}, {jax.result_info = "result[7]"}, {jax.result_info = "result[8]"}, {jax.result_info = "result[9]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg7: tensor<8x16xui32>, %arg8: tensor<8x16xui32>):
    %22 = "func.call"(%arg7, %arg8) <{callee = @floor_divide}> : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %23 = "func.call"(%arg7, %arg8) <{callee = @remainder}> : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %24 = "stablehlo.constant"() <{value = dense<2> : tensor<ui32>}> : () -> tensor<ui32>
    %25 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %26 = "stablehlo.shift_left"(%arg7, %25) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %27 = "stablehlo.constant"() <{value = dense<1> : tensor<ui32>}> : () -> tensor<ui32>
    %28 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %29 = "stablehlo.shift_right_logical"(%arg7, %28) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %30 = "stablehlo.maximum"(%arg7, %arg8) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %31 = "stablehlo.convert"(%arg7) : (tensor<8x16xui32>) -> tensor<8x16xf32>
    %32 = "stablehlo.multiply"(%arg7, %arg8) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %33 = "stablehlo.subtract"(%32, %arg7) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %34 = "stablehlo.compare"(%arg7, %arg8) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xi1>
    %35 = "stablehlo.popcnt"(%arg7) : (tensor<8x16xui32>) -> tensor<8x16xui32>
    %36 = "stablehlo.compare"(%arg7, %arg8) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xi1>
    "func.return"(%22, %23, %26, %29, %30, %31, %33, %34, %35, %36) : (tensor<8x16xui32>, tensor<8x16xui32>, tensor<8x16xui32>, tensor<8x16xui32>, tensor<8x16xui32>, tensor<8x16xf32>, tensor<8x16xui32>, tensor<8x16xi1>, tensor<8x16xui32>, tensor<8x16xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>, res_attrs = [{}], sym_name = "floor_divide", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<8x16xui32>, %arg6: tensor<8x16xui32>):
    %21 = "stablehlo.divide"(%arg5, %arg6) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    "func.return"(%21) : (tensor<8x16xui32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>, res_attrs = [{}], sym_name = "remainder", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<8x16xui32>, %arg4: tensor<8x16xui32>):
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<ui32>}> : () -> tensor<ui32>
    %2 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %3 = "stablehlo.compare"(%arg4, %2) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xi1>
    %4 = "stablehlo.constant"() <{value = dense<1> : tensor<ui32>}> : () -> tensor<ui32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %6 = "func.call"(%3, %5, %arg4) <{callee = @_where}> : (tensor<8x16xi1>, tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %7 = "stablehlo.remainder"(%arg3, %6) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %8 = "stablehlo.constant"() <{value = dense<0> : tensor<ui32>}> : () -> tensor<ui32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %10 = "stablehlo.compare"(%7, %9) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xi1>
    %11 = "stablehlo.constant"() <{value = dense<0> : tensor<ui32>}> : () -> tensor<ui32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %13 = "stablehlo.compare"(%7, %12) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xi1>
    %14 = "stablehlo.constant"() <{value = dense<0> : tensor<ui32>}> : () -> tensor<ui32>
    %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x16xui32>
    %16 = "stablehlo.compare"(%6, %15) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xi1>
    %17 = "stablehlo.compare"(%13, %16) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<8x16xi1>, tensor<8x16xi1>) -> tensor<8x16xi1>
    %18 = "stablehlo.and"(%17, %10) : (tensor<8x16xi1>, tensor<8x16xi1>) -> tensor<8x16xi1>
    %19 = "stablehlo.add"(%7, %6) : (tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    %20 = "stablehlo.select"(%18, %19, %7) : (tensor<8x16xi1>, tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    "func.return"(%20) : (tensor<8x16xui32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<8x16xi1>, tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<8x16xi1>, %arg1: tensor<8x16xui32>, %arg2: tensor<8x16xui32>):
    %0 = "stablehlo.select"(%arg0, %arg1, %arg2) : (tensor<8x16xi1>, tensor<8x16xui32>, tensor<8x16xui32>) -> tensor<8x16xui32>
    "func.return"(%0) : (tensor<8x16xui32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

