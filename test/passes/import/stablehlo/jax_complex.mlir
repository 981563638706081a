// Exported by export.py: what JAX computes on one device.
// RUN: rm -rf %t && mkdir %t && tar -xzf %S/values.tar.gz -C %t
// RUN: shard-run %s --mesh 2x2 --inputs-from %t/complex | FileCheck %s
// RUN: %if long %{ shard-run %s --mesh 3 --inputs-from %t/complex | FileCheck %s %}
// CHECK: verified
"builtin.module"() <{sym_name = "jit_complex_numbers"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<8x16xf32>, tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<f32>, tensor<8x16xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg3: tensor<8x16xf32>, %arg4: tensor<8x16xf32>):
    %1 = "stablehlo.complex"(%arg3, %arg4) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xcomplex<f32>>
    %2 = "stablehlo.abs"(%1) : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xf32>
    %3 = "stablehlo.multiply"(%1, %1) : (tensor<8x16xcomplex<f32>>, tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>
    %4 = "stablehlo.real"(%3) : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xf32>
    %5 = "stablehlo.exponential"(%1) : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>
    %6 = "stablehlo.imag"(%5) : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xf32>
    %7 = "stablehlo.real"(%1) : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xf32>
    %8 = "stablehlo.imag"(%1) : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xf32>
    %9 = "stablehlo.negate"(%8) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %10 = "stablehlo.complex"(%7, %9) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xcomplex<f32>>
    %11 = "stablehlo.imag"(%10) : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xf32>
    %12 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>}> : () -> tensor<complex<f32>>
    %13 = "stablehlo.reduce"(%1, %12) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg5: tensor<complex<f32>>, %arg6: tensor<complex<f32>>):
      %21 = "stablehlo.add"(%arg5, %arg6) : (tensor<complex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
      "stablehlo.return"(%21) : (tensor<complex<f32>>) -> ()
    }) : (tensor<8x16xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
    %14 = "stablehlo.real"(%13) : (tensor<complex<f32>>) -> tensor<f32>
    %15 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %17 = "stablehlo.compare"(%arg3, %16) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %18 = "stablehlo.negate"(%1) : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>
    %19 = "func.call"(%17, %1, %18) <{callee = @_where}> : (tensor<8x16xi1>, tensor<8x16xcomplex<f32>>, tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>
    %20 = "stablehlo.imag"(%19) : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xf32>
    "func.return"(%2, %4, %6, %11, %14, %20) : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<f32>, tensor<8x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<8x16xi1>, tensor<8x16xcomplex<f32>>, tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<8x16xi1>, %arg1: tensor<8x16xcomplex<f32>>, %arg2: tensor<8x16xcomplex<f32>>):
    %0 = "stablehlo.select"(%arg0, %arg1, %arg2) : (tensor<8x16xi1>, tensor<8x16xcomplex<f32>>, tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>
    "func.return"(%0) : (tensor<8x16xcomplex<f32>>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

