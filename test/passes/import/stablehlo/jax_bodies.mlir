// Exported by export.py: what JAX computes on one device.
// RUN: rm -rf %t && mkdir %t && tar -xzf %S/values.tar.gz -C %t
// RUN: shard-run %s --mesh 2x2 --inputs-from %t/bodies | FileCheck %s
// RUN: %if long %{ shard-run %s --mesh 3 --inputs-from %t/bodies | FileCheck %s %}
// CHECK: verified
"builtin.module"() <{sym_name = "jit_bodies"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<8x16xf32>, tensor<8x16xf32>) -> (tensor<8xf32>, tensor<16xf32>, tensor<8x8xf32>, tensor<8x8xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg3: tensor<8x16xf32>, %arg4: tensor<8x16xf32>):
    %1 = "stablehlo.complex"(%arg3, %arg4) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xcomplex<f32>>
    %2 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.reduce"(%arg3, %2) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      %26 = "stablehlo.compare"(%arg7, %arg8) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %27 = "func.call"(%26, %arg7, %arg8) <{callee = @_where}> : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%27) : (tensor<f32>) -> ()
    }) : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
    %4 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %5 = "stablehlo.reduce"(%arg3, %4) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %16 = "stablehlo.maximum"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %17 = "stablehlo.subtract"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %18 = "stablehlo.compare"(%17, %17) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %19 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %20 = "stablehlo.abs"(%17) : (tensor<f32>) -> tensor<f32>
      %21 = "stablehlo.negate"(%20) : (tensor<f32>) -> tensor<f32>
      %22 = "stablehlo.exponential"(%21) : (tensor<f32>) -> tensor<f32>
      %23 = "stablehlo.log_plus_one"(%22) : (tensor<f32>) -> tensor<f32>
      %24 = "stablehlo.add"(%16, %23) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %25 = "stablehlo.select"(%18, %19, %24) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%25) : (tensor<f32>) -> ()
    }) : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
    %6 = "stablehlo.transpose"(%1) <{permutation = array<i64: 1, 0>}> : (tensor<8x16xcomplex<f32>>) -> tensor<16x8xcomplex<f32>>
    %7 = "stablehlo.dot_general"(%1, %6) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x16xcomplex<f32>>, tensor<16x8xcomplex<f32>>) -> tensor<8x8xcomplex<f32>>
    %8 = "stablehlo.abs"(%7) : (tensor<8x8xcomplex<f32>>) -> tensor<8x8xf32>
    %9 = "stablehlo.real"(%1) : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xf32>
    %10 = "stablehlo.imag"(%1) : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xf32>
    %11 = "stablehlo.negate"(%10) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %12 = "stablehlo.complex"(%9, %11) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xcomplex<f32>>
    %13 = "stablehlo.transpose"(%1) <{permutation = array<i64: 1, 0>}> : (tensor<8x16xcomplex<f32>>) -> tensor<16x8xcomplex<f32>>
    %14 = "stablehlo.dot_general"(%12, %13) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x16xcomplex<f32>>, tensor<16x8xcomplex<f32>>) -> tensor<8x8xcomplex<f32>>
    %15 = "stablehlo.imag"(%14) : (tensor<8x8xcomplex<f32>>) -> tensor<8x8xf32>
    "func.return"(%3, %5, %8, %15) : (tensor<8xf32>, tensor<16xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<f32>):
    %0 = "stablehlo.select"(%arg0, %arg1, %arg2) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    "func.return"(%0) : (tensor<f32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

