// Exported by export.py: what JAX computes on one device.
// RUN: rm -rf %t && mkdir %t && tar -xzf %S/values.tar.gz -C %t
// RUN: shard-run %s --mesh 2x2 --inputs-from %t/train | FileCheck %s
// RUN: %if long %{ shard-run %s --mesh 3 --inputs-from %t/train | FileCheck %s %}
// CHECK: verified
"builtin.module"() <{sym_name = "jit_train"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}], function_type = (tensor<16x32xf32>, tensor<32x64xf32>, tensor<64x32xf32>, tensor<16x32xf32>) -> (tensor<f32>, tensor<32x64xf32>, tensor<64x32xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1][0]"}, {jax.result_info = "result[1][1]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<16x32xf32>, %arg1: tensor<32x64xf32>, %arg2: tensor<64x32xf32>, %arg3: tensor<16x32xf32>):
    %0 = "stablehlo.dot_general"(%arg0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32xf32>, tensor<32x64xf32>) -> tensor<16x64xf32>
    %1 = "stablehlo.multiply"(%0, %0) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %2 = "stablehlo.multiply"(%1, %0) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %3 = "stablehlo.multiply"(%0, %0) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %4 = "stablehlo.constant"() <{value = dense<3.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x64xf32>
    %6 = "stablehlo.multiply"(%5, %3) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %7 = "stablehlo.constant"() <{value = dense<4.471500e-02> : tensor<f32>}> : () -> tensor<f32>
    %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x64xf32>
    %9 = "stablehlo.multiply"(%8, %2) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %10 = "stablehlo.add"(%0, %9) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %11 = "stablehlo.constant"() <{value = dense<0.797884583> : tensor<f32>}> : () -> tensor<f32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x64xf32>
    %13 = "stablehlo.multiply"(%12, %10) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %14 = "stablehlo.tanh"(%13) : (tensor<16x64xf32>) -> tensor<16x64xf32>
    %15 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x64xf32>
    %17 = "stablehlo.subtract"(%16, %14) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %18 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %19 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x64xf32>
    %20 = "stablehlo.add"(%19, %14) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %21 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %22 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x64xf32>
    %23 = "stablehlo.multiply"(%22, %20) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %24 = "stablehlo.multiply"(%0, %23) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %25 = "stablehlo.dot_general"(%24, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
    %26 = "stablehlo.subtract"(%25, %arg3) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %27 = "stablehlo.multiply"(%26, %26) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %28 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %30 = "stablehlo.multiply"(%29, %26) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %31 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %32 = "stablehlo.reduce"(%27, %31) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %70 = "stablehlo.add"(%arg4, %arg5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%70) : (tensor<f32>) -> ()
    }) : (tensor<16x32xf32>, tensor<f32>) -> tensor<f32>
    %33 = "stablehlo.constant"() <{value = dense<5.120000e+02> : tensor<f32>}> : () -> tensor<f32>
    %34 = "stablehlo.divide"(%32, %33) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %35 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %36 = "stablehlo.constant"() <{value = dense<5.120000e+02> : tensor<f32>}> : () -> tensor<f32>
    %37 = "stablehlo.divide"(%35, %36) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %38 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %39 = "stablehlo.multiply"(%38, %30) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %40 = "stablehlo.dot_general"(%39, %24) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32xf32>, tensor<16x64xf32>) -> tensor<32x64xf32>
    %41 = "stablehlo.transpose"(%40) <{permutation = array<i64: 1, 0>}> : (tensor<32x64xf32>) -> tensor<64x32xf32>
    %42 = "stablehlo.dot_general"(%39, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32xf32>, tensor<64x32xf32>) -> tensor<16x64xf32>
    %43 = "stablehlo.multiply"(%0, %42) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %44 = "stablehlo.multiply"(%42, %23) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %45 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %46 = "stablehlo.broadcast_in_dim"(%45) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x64xf32>
    %47 = "stablehlo.multiply"(%46, %43) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %48 = "stablehlo.multiply"(%47, %17) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %49 = "stablehlo.multiply"(%48, %14) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %50 = "stablehlo.add"(%48, %49) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %51 = "stablehlo.constant"() <{value = dense<0.797884583> : tensor<f32>}> : () -> tensor<f32>
    %52 = "stablehlo.broadcast_in_dim"(%51) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x64xf32>
    %53 = "stablehlo.multiply"(%52, %50) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %54 = "stablehlo.add"(%44, %53) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %55 = "stablehlo.constant"() <{value = dense<4.471500e-02> : tensor<f32>}> : () -> tensor<f32>
    %56 = "stablehlo.broadcast_in_dim"(%55) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x64xf32>
    %57 = "stablehlo.multiply"(%56, %53) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %58 = "stablehlo.multiply"(%57, %6) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %59 = "stablehlo.add"(%54, %58) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %60 = "stablehlo.dot_general"(%59, %arg0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<16x32xf32>) -> tensor<64x32xf32>
    %61 = "stablehlo.transpose"(%60) <{permutation = array<i64: 1, 0>}> : (tensor<64x32xf32>) -> tensor<32x64xf32>
    %62 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %63 = "stablehlo.broadcast_in_dim"(%62) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x64xf32>
    %64 = "stablehlo.multiply"(%63, %61) : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
    %65 = "stablehlo.subtract"(%arg1, %64) : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
    %66 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %67 = "stablehlo.broadcast_in_dim"(%66) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x32xf32>
    %68 = "stablehlo.multiply"(%67, %41) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %69 = "stablehlo.subtract"(%arg2, %68) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    "func.return"(%34, %65, %69) : (tensor<f32>, tensor<32x64xf32>, tensor<64x32xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

