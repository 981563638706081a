// Exported by export.py: what JAX computes on one device.
// RUN: rm -rf %t && mkdir %t && tar -xzf %S/values.tar.gz -C %t
// RUN: shard-run %s --mesh 2x2 --inputs-from %t/attention_gradient | FileCheck %s
// RUN: %if long %{ shard-run %s --mesh 3 --inputs-from %t/attention_gradient | FileCheck %s %}
// CHECK: verified
"builtin.module"() <{sym_name = "jit_attention_gradient"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}], function_type = (tensor<2x16x8x16xf32>, tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>, tensor<2x16x8x16xf32>) -> (tensor<2x16x8x16xf32>, tensor<2x16x8x16xf32>, tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg7: tensor<2x16x8x16xf32>, %arg8: tensor<2x16x2x16xf32>, %arg9: tensor<2x16x2x16xf32>, %arg10: tensor<2x16x8x16xf32>):
    %20 = "stablehlo.reshape"(%arg7) : (tensor<2x16x8x16xf32>) -> tensor<2x16x2x4x16xf32>
    %21 = "stablehlo.dot_general"(%20, %arg8) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [4], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x16x2x4x16xf32>, tensor<2x16x2x16xf32>) -> tensor<2x2x16x4x16xf32>
    %22 = "stablehlo.constant"() <{value = dense<2.500000e-01> : tensor<f32>}> : () -> tensor<f32>
    %23 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x16x4x16xf32>
    %24 = "stablehlo.multiply"(%21, %23) : (tensor<2x2x16x4x16xf32>, tensor<2x2x16x4x16xf32>) -> tensor<2x2x16x4x16xf32>
    %25 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %26 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<2x2x16x16xi1>
    %27 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %28 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<16x16xi1>
    %29 = "func.call"(%28) <{callee = @tril}> : (tensor<16x16xi1>) -> tensor<16x16xi1>
    %30 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64: 2, 3>}> : (tensor<16x16xi1>) -> tensor<1x1x16x16xi1>
    %31 = "stablehlo.broadcast_in_dim"(%30) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x16x16xi1>) -> tensor<2x2x16x16xi1>
    %32 = "stablehlo.and"(%26, %31) : (tensor<2x2x16x16xi1>, tensor<2x2x16x16xi1>) -> tensor<2x2x16x16xi1>
    %33 = "stablehlo.constant"() <{value = dense<-2.38197633E+38> : tensor<f32>}> : () -> tensor<f32>
    %34:3 = "func.call"(%32, %24, %33) <{callee = @_where}> : (tensor<2x2x16x16xi1>, tensor<2x2x16x4x16xf32>, tensor<f32>) -> (tensor<4x2x2x16x16xf32>, tensor<4x2x2x16x16xi1>, tensor<4x2x2x16x16xf32>)
    %35 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %36 = "stablehlo.reduce"(%34#0, %35) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg19: tensor<f32>, %arg20: tensor<f32>):
      %112 = "stablehlo.maximum"(%arg19, %arg20) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%112) : (tensor<f32>) -> ()
    }) : (tensor<4x2x2x16x16xf32>, tensor<f32>) -> tensor<4x2x2x16xf32>
    %37 = "stablehlo.reshape"(%36) : (tensor<4x2x2x16xf32>) -> tensor<4x2x2x16x1xf32>
    %38 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<4x2x2x16x1xf32>) -> tensor<4x2x2x16x16xf32>
    %39 = "stablehlo.compare"(%34#0, %38) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4x2x2x16x16xf32>, tensor<4x2x2x16x16xf32>) -> tensor<4x2x2x16x16xi1>
    %40 = "stablehlo.convert"(%39) : (tensor<4x2x2x16x16xi1>) -> tensor<4x2x2x16x16xf32>
    %41 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %42 = "stablehlo.reduce"(%40, %41) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg17: tensor<f32>, %arg18: tensor<f32>):
      %111 = "stablehlo.add"(%arg17, %arg18) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%111) : (tensor<f32>) -> ()
    }) : (tensor<4x2x2x16x16xf32>, tensor<f32>) -> tensor<4x2x2x16xf32>
    %43 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %44 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x2x2x16xf32>
    %45 = "stablehlo.maximum"(%44, %36) : (tensor<4x2x2x16xf32>, tensor<4x2x2x16xf32>) -> tensor<4x2x2x16xf32>
    %46 = "stablehlo.compare"(%36, %45) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4x2x2x16xf32>, tensor<4x2x2x16xf32>) -> tensor<4x2x2x16xi1>
    %47 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %48 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x2x2x16xf32>
    %49 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %50 = "stablehlo.broadcast_in_dim"(%49) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x2x2x16xf32>
    %51 = "stablehlo.select"(%46, %48, %50) : (tensor<4x2x2x16xi1>, tensor<4x2x2x16xf32>, tensor<4x2x2x16xf32>) -> tensor<4x2x2x16xf32>
    %52 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %53 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x2x2x16xf32>
    %54 = "stablehlo.compare"(%53, %45) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4x2x2x16xf32>, tensor<4x2x2x16xf32>) -> tensor<4x2x2x16xi1>
    %55 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %56 = "stablehlo.broadcast_in_dim"(%55) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x2x2x16xf32>
    %57 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %58 = "stablehlo.broadcast_in_dim"(%57) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x2x2x16xf32>
    %59 = "stablehlo.select"(%54, %56, %58) : (tensor<4x2x2x16xi1>, tensor<4x2x2x16xf32>, tensor<4x2x2x16xf32>) -> tensor<4x2x2x16xf32>
    %60 = "stablehlo.divide"(%51, %59) : (tensor<4x2x2x16xf32>, tensor<4x2x2x16xf32>) -> tensor<4x2x2x16xf32>
    %61 = "stablehlo.broadcast_in_dim"(%45) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<4x2x2x16xf32>) -> tensor<4x2x2x16x1xf32>
    %62 = "stablehlo.broadcast_in_dim"(%61) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<4x2x2x16x1xf32>) -> tensor<4x2x2x16x16xf32>
    %63 = "stablehlo.subtract"(%34#0, %62) : (tensor<4x2x2x16x16xf32>, tensor<4x2x2x16x16xf32>) -> tensor<4x2x2x16x16xf32>
    %64 = "stablehlo.exponential"(%63) : (tensor<4x2x2x16x16xf32>) -> tensor<4x2x2x16x16xf32>
    %65 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %66 = "stablehlo.reduce"(%64, %65) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg15: tensor<f32>, %arg16: tensor<f32>):
      %110 = "stablehlo.add"(%arg15, %arg16) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%110) : (tensor<f32>) -> ()
    }) : (tensor<4x2x2x16x16xf32>, tensor<f32>) -> tensor<4x2x2x16xf32>
    %67 = "stablehlo.broadcast_in_dim"(%66) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<4x2x2x16xf32>) -> tensor<4x2x2x16x1xf32>
    %68 = "stablehlo.broadcast_in_dim"(%67) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<4x2x2x16x1xf32>) -> tensor<4x2x2x16x16xf32>
    %69 = "stablehlo.divide"(%64, %68) : (tensor<4x2x2x16x16xf32>, tensor<4x2x2x16x16xf32>) -> tensor<4x2x2x16x16xf32>
    %70 = "stablehlo.multiply"(%67, %67) : (tensor<4x2x2x16x1xf32>, tensor<4x2x2x16x1xf32>) -> tensor<4x2x2x16x1xf32>
    %71 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %72 = "stablehlo.broadcast_in_dim"(%71) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x2x2x16x1xf32>
    %73 = "stablehlo.divide"(%72, %70) : (tensor<4x2x2x16x1xf32>, tensor<4x2x2x16x1xf32>) -> tensor<4x2x2x16x1xf32>
    %74 = "stablehlo.dot_general"(%arg9, %69) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [1, 2], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [4]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x16x2x16xf32>, tensor<4x2x2x16x16xf32>) -> tensor<2x2x16x4x16xf32>
    %75 = "stablehlo.transpose"(%74) <{permutation = array<i64: 3, 0, 4, 1, 2>}> : (tensor<2x2x16x4x16xf32>) -> tensor<4x2x16x2x16xf32>
    %76 = "stablehlo.transpose"(%75) <{permutation = array<i64: 1, 2, 3, 0, 4>}> : (tensor<4x2x16x2x16xf32>) -> tensor<2x16x2x4x16xf32>
    %77 = "stablehlo.reshape"(%76) : (tensor<2x16x2x4x16xf32>) -> tensor<2x16x8x16xf32>
    %78 = "stablehlo.reshape"(%arg10) : (tensor<2x16x8x16xf32>) -> tensor<2x16x2x4x16xf32>
    %79 = "stablehlo.transpose"(%78) <{permutation = array<i64: 3, 0, 1, 2, 4>}> : (tensor<2x16x2x4x16xf32>) -> tensor<4x2x16x2x16xf32>
    %80 = "stablehlo.transpose"(%79) <{permutation = array<i64: 1, 3, 4, 0, 2>}> : (tensor<4x2x16x2x16xf32>) -> tensor<2x2x16x4x16xf32>
    %81 = "stablehlo.dot_general"(%80, %arg9) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x2x16x4x16xf32>, tensor<2x16x2x16xf32>) -> tensor<2x2x4x16x16xf32>
    %82 = "stablehlo.transpose"(%81) <{permutation = array<i64: 2, 0, 1, 3, 4>}> : (tensor<2x2x4x16x16xf32>) -> tensor<4x2x2x16x16xf32>
    %83 = "stablehlo.dot_general"(%80, %69) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [1, 2], lhs_contracting_dimensions = [3, 4], rhs_contracting_dimensions = [0, 3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x2x16x4x16xf32>, tensor<4x2x2x16x16xf32>) -> tensor<2x2x16x16xf32>
    %84 = "stablehlo.transpose"(%83) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x2x16x16xf32>) -> tensor<2x16x2x16xf32>
    %85 = "stablehlo.broadcast_in_dim"(%73) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<4x2x2x16x1xf32>) -> tensor<4x2x2x16x16xf32>
    %86 = "stablehlo.multiply"(%82, %85) : (tensor<4x2x2x16x16xf32>, tensor<4x2x2x16x16xf32>) -> tensor<4x2x2x16x16xf32>
    %87 = "stablehlo.multiply"(%86, %64) : (tensor<4x2x2x16x16xf32>, tensor<4x2x2x16x16xf32>) -> tensor<4x2x2x16x16xf32>
    %88 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %89 = "stablehlo.reduce"(%87, %88) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg13: tensor<f32>, %arg14: tensor<f32>):
      %109 = "stablehlo.add"(%arg13, %arg14) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%109) : (tensor<f32>) -> ()
    }) : (tensor<4x2x2x16x16xf32>, tensor<f32>) -> tensor<4x2x2x16xf32>
    %90 = "stablehlo.reshape"(%89) : (tensor<4x2x2x16xf32>) -> tensor<4x2x2x16x1xf32>
    %91 = "stablehlo.negate"(%90) : (tensor<4x2x2x16x1xf32>) -> tensor<4x2x2x16x1xf32>
    %92 = "stablehlo.broadcast_in_dim"(%67) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<4x2x2x16x1xf32>) -> tensor<4x2x2x16x16xf32>
    %93 = "stablehlo.divide"(%82, %92) : (tensor<4x2x2x16x16xf32>, tensor<4x2x2x16x16xf32>) -> tensor<4x2x2x16x16xf32>
    %94 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %95 = "stablehlo.reduce"(%91, %94) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg11: tensor<f32>, %arg12: tensor<f32>):
      %108 = "stablehlo.add"(%arg11, %arg12) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%108) : (tensor<f32>) -> ()
    }) : (tensor<4x2x2x16x1xf32>, tensor<f32>) -> tensor<4x2x2x16xf32>
    %96 = "stablehlo.broadcast_in_dim"(%95) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<4x2x2x16xf32>) -> tensor<4x2x2x16x16xf32>
    %97 = "stablehlo.add"(%93, %96) : (tensor<4x2x2x16x16xf32>, tensor<4x2x2x16x16xf32>) -> tensor<4x2x2x16x16xf32>
    %98 = "stablehlo.multiply"(%97, %64) : (tensor<4x2x2x16x16xf32>, tensor<4x2x2x16x16xf32>) -> tensor<4x2x2x16x16xf32>
    %99 = "func.call"(%34#1, %34#2, %98) <{callee = @_where_0}> : (tensor<4x2x2x16x16xi1>, tensor<4x2x2x16x16xf32>, tensor<4x2x2x16x16xf32>) -> tensor<2x2x16x4x16xf32>
    %100 = "stablehlo.constant"() <{value = dense<2.500000e-01> : tensor<f32>}> : () -> tensor<f32>
    %101 = "stablehlo.broadcast_in_dim"(%100) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x16x4x16xf32>
    %102 = "stablehlo.multiply"(%99, %101) : (tensor<2x2x16x4x16xf32>, tensor<2x2x16x4x16xf32>) -> tensor<2x2x16x4x16xf32>
    %103 = "stablehlo.dot_general"(%102, %20) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2, 3], rhs_contracting_dimensions = [1, 3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x2x16x4x16xf32>, tensor<2x16x2x4x16xf32>) -> tensor<2x2x16x16xf32>
    %104 = "stablehlo.transpose"(%103) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x2x16x16xf32>) -> tensor<2x16x2x16xf32>
    %105 = "stablehlo.dot_general"(%102, %arg8) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [4], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x2x16x4x16xf32>, tensor<2x16x2x16xf32>) -> tensor<2x2x16x4x16xf32>
    %106 = "stablehlo.transpose"(%105) <{permutation = array<i64: 0, 2, 1, 3, 4>}> : (tensor<2x2x16x4x16xf32>) -> tensor<2x16x2x4x16xf32>
    %107 = "stablehlo.reshape"(%106) : (tensor<2x16x2x4x16xf32>) -> tensor<2x16x8x16xf32>
    "func.return"(%77, %107, %104, %84) : (tensor<2x16x8x16xf32>, tensor<2x16x8x16xf32>, tensor<2x16x2x16xf32>, tensor<2x16x2x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<16x16xi1>) -> tensor<16x16xi1>, res_attrs = [{}], sym_name = "tril", sym_visibility = "private"}> ({
  ^bb0(%arg6: tensor<16x16xi1>):
    %11 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<16x16xi32>
    %12 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %13 = "stablehlo.broadcast_in_dim"(%12) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<16x16xi32>
    %14 = "stablehlo.add"(%11, %13) : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi32>
    %15 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<16x16xi32>
    %16 = "stablehlo.compare"(%14, %15) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
    %17 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %18 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<16x16xi1>
    %19 = "stablehlo.select"(%16, %arg6, %18) : (tensor<16x16xi1>, tensor<16x16xi1>, tensor<16x16xi1>) -> tensor<16x16xi1>
    "func.return"(%19) : (tensor<16x16xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<2x2x16x16xi1>, tensor<2x2x16x4x16xf32>, tensor<f32>) -> (tensor<4x2x2x16x16xf32>, tensor<4x2x2x16x16xi1>, tensor<4x2x2x16x16xf32>), res_attrs = [{}, {}, {}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<2x2x16x16xi1>, %arg4: tensor<2x2x16x4x16xf32>, %arg5: tensor<f32>):
    %4 = "stablehlo.broadcast_in_dim"(%arg5) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x16x16xf32>
    %5 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64: 1, 2, 3, 4>}> : (tensor<2x2x16x16xi1>) -> tensor<4x2x2x16x16xi1>
    %6 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64: 1, 2, 3, 4>}> : (tensor<2x2x16x16xf32>) -> tensor<4x2x2x16x16xf32>
    %7 = "stablehlo.transpose"(%arg4) <{permutation = array<i64: 3, 0, 1, 2, 4>}> : (tensor<2x2x16x4x16xf32>) -> tensor<4x2x2x16x16xf32>
    %8 = "stablehlo.select"(%5, %7, %6) : (tensor<4x2x2x16x16xi1>, tensor<4x2x2x16x16xf32>, tensor<4x2x2x16x16xf32>) -> tensor<4x2x2x16x16xf32>
    %9 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %10 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x2x2x16x16xf32>
    "func.return"(%8, %5, %10) : (tensor<4x2x2x16x16xf32>, tensor<4x2x2x16x16xi1>, tensor<4x2x2x16x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4x2x2x16x16xi1>, tensor<4x2x2x16x16xf32>, tensor<4x2x2x16x16xf32>) -> tensor<2x2x16x4x16xf32>, res_attrs = [{}], sym_name = "_where_0", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<4x2x2x16x16xi1>, %arg1: tensor<4x2x2x16x16xf32>, %arg2: tensor<4x2x2x16x16xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x2x2x16x16xf32>
    %2 = "stablehlo.select"(%arg0, %arg2, %1) : (tensor<4x2x2x16x16xi1>, tensor<4x2x2x16x16xf32>, tensor<4x2x2x16x16xf32>) -> tensor<4x2x2x16x16xf32>
    %3 = "stablehlo.transpose"(%2) <{permutation = array<i64: 1, 2, 3, 0, 4>}> : (tensor<4x2x2x16x16xf32>) -> tensor<2x2x16x4x16xf32>
    "func.return"(%3) : (tensor<2x2x16x4x16xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

