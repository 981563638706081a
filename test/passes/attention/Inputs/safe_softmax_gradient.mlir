"builtin.module"() <{sym_name = "jit_g"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}], function_type = (tensor<1x12x2x8xf32>, tensor<1x12x2x8xf32>, tensor<1x12x2x8xf32>, tensor<1x12x2x8xf32>) -> (tensor<1x12x2x8xf32>, tensor<1x12x2x8xf32>, tensor<1x12x2x8xf32>, tensor<1x12x2x8xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg11: tensor<1x12x2x8xf32>, %arg12: tensor<1x12x2x8xf32>, %arg13: tensor<1x12x2x8xf32>, %arg14: tensor<1x12x2x8xf32>):
    %23 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %24 = "stablehlo.broadcast_in_dim"(%23) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<12x12xi1>
    %25 = "func.call"(%24) <{callee = @tril}> : (tensor<12x12xi1>) -> tensor<12x12xi1>
    %26 = "stablehlo.dot_general"(%arg11, %arg12) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x12x2x8xf32>, tensor<1x12x2x8xf32>) -> tensor<1x2x12x12xf32>
    %27 = "stablehlo.constant"() <{value = dense<3.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %28 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2x12x12xf32>
    %29 = "stablehlo.multiply"(%26, %28) : (tensor<1x2x12x12xf32>, tensor<1x2x12x12xf32>) -> tensor<1x2x12x12xf32>
    %30 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %31:2 = "func.call"(%25, %29, %30) <{callee = @_where}> : (tensor<12x12xi1>, tensor<1x2x12x12xf32>, tensor<f32>) -> (tensor<1x2x12x12xf32>, tensor<1x2x12x12xi1>)
    %32 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %33 = "stablehlo.reduce"(%31#0, %32) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg23: tensor<f32>, %arg24: tensor<f32>):
      %92 = "stablehlo.maximum"(%arg23, %arg24) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%92) : (tensor<f32>) -> ()
    }) : (tensor<1x2x12x12xf32>, tensor<f32>) -> tensor<1x2x12xf32>
    %34 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %35 = "stablehlo.broadcast_in_dim"(%34) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2x12xf32>
    %36 = "stablehlo.maximum"(%35, %33) : (tensor<1x2x12xf32>, tensor<1x2x12xf32>) -> tensor<1x2x12xf32>
    %37 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2x12xf32>) -> tensor<1x2x12x1xf32>
    %38 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x2x12x1xf32>) -> tensor<1x2x12x12xf32>
    %39 = "stablehlo.subtract"(%31#0, %38) : (tensor<1x2x12x12xf32>, tensor<1x2x12x12xf32>) -> tensor<1x2x12x12xf32>
    %40 = "stablehlo.exponential"(%39) : (tensor<1x2x12x12xf32>) -> tensor<1x2x12x12xf32>
    %41 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %42 = "stablehlo.reduce"(%40, %41) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg21: tensor<f32>, %arg22: tensor<f32>):
      %91 = "stablehlo.add"(%arg21, %arg22) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%91) : (tensor<f32>) -> ()
    }) : (tensor<1x2x12x12xf32>, tensor<f32>) -> tensor<1x2x12xf32>
    %43 = "stablehlo.broadcast_in_dim"(%42) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2x12xf32>) -> tensor<1x2x12x1xf32>
    %44 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x2x12x1xf32>) -> tensor<1x2x12x12xf32>
    %45 = "stablehlo.divide"(%40, %44) : (tensor<1x2x12x12xf32>, tensor<1x2x12x12xf32>) -> tensor<1x2x12x12xf32>
    %46 = "stablehlo.multiply"(%43, %43) : (tensor<1x2x12x1xf32>, tensor<1x2x12x1xf32>) -> tensor<1x2x12x1xf32>
    %47 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %48 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2x12x1xf32>
    %49 = "stablehlo.divide"(%48, %46) : (tensor<1x2x12x1xf32>, tensor<1x2x12x1xf32>) -> tensor<1x2x12x1xf32>
    %50 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %51 = "stablehlo.broadcast_in_dim"(%50) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2x12x12xf32>
    %52 = "stablehlo.compare"(%31#0, %51) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<1x2x12x12xf32>, tensor<1x2x12x12xf32>) -> tensor<1x2x12x12xi1>
    %53 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %54 = "stablehlo.reduce"(%52, %53) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg19: tensor<i1>, %arg20: tensor<i1>):
      %90 = "stablehlo.and"(%arg19, %arg20) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%90) : (tensor<i1>) -> ()
    }) : (tensor<1x2x12x12xi1>, tensor<i1>) -> tensor<1x2x12xi1>
    %55 = "stablehlo.broadcast_in_dim"(%54) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2x12xi1>) -> tensor<1x2x12x1xi1>
    %56 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %57:2 = "func.call"(%55, %56, %45) <{callee = @_where_0}> : (tensor<1x2x12x1xi1>, tensor<f32>, tensor<1x2x12x12xf32>) -> (tensor<1x2x12x12xf32>, tensor<1x2x12x12xi1>)
    %58 = "stablehlo.dot_general"(%arg13, %57#0) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x12x2x8xf32>, tensor<1x2x12x12xf32>) -> tensor<1x2x8x12xf32>
    %59 = "stablehlo.transpose"(%58) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<1x2x8x12xf32>) -> tensor<1x12x2x8xf32>
    %60 = "stablehlo.transpose"(%arg14) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<1x12x2x8xf32>) -> tensor<1x2x8x12xf32>
    %61 = "stablehlo.dot_general"(%60, %arg13) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x2x8x12xf32>, tensor<1x12x2x8xf32>) -> tensor<1x2x12x12xf32>
    %62 = "stablehlo.dot_general"(%60, %57#0) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x2x8x12xf32>, tensor<1x2x12x12xf32>) -> tensor<1x2x8x12xf32>
    %63 = "stablehlo.transpose"(%62) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<1x2x8x12xf32>) -> tensor<1x12x2x8xf32>
    %64 = "func.call"(%57#1, %61) <{callee = @_where_1}> : (tensor<1x2x12x12xi1>, tensor<1x2x12x12xf32>) -> tensor<1x2x12x12xf32>
    %65 = "stablehlo.broadcast_in_dim"(%49) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x2x12x1xf32>) -> tensor<1x2x12x12xf32>
    %66 = "stablehlo.multiply"(%64, %65) : (tensor<1x2x12x12xf32>, tensor<1x2x12x12xf32>) -> tensor<1x2x12x12xf32>
    %67 = "stablehlo.multiply"(%66, %40) : (tensor<1x2x12x12xf32>, tensor<1x2x12x12xf32>) -> tensor<1x2x12x12xf32>
    %68 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %69 = "stablehlo.reduce"(%67, %68) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg17: tensor<f32>, %arg18: tensor<f32>):
      %89 = "stablehlo.add"(%arg17, %arg18) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%89) : (tensor<f32>) -> ()
    }) : (tensor<1x2x12x12xf32>, tensor<f32>) -> tensor<1x2x12xf32>
    %70 = "stablehlo.reshape"(%69) : (tensor<1x2x12xf32>) -> tensor<1x2x12x1xf32>
    %71 = "stablehlo.negate"(%70) : (tensor<1x2x12x1xf32>) -> tensor<1x2x12x1xf32>
    %72 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x2x12x1xf32>) -> tensor<1x2x12x12xf32>
    %73 = "stablehlo.divide"(%64, %72) : (tensor<1x2x12x12xf32>, tensor<1x2x12x12xf32>) -> tensor<1x2x12x12xf32>
    %74 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %75 = "stablehlo.reduce"(%71, %74) <{dimensions = array<i64: 0, 3>}> ({
    ^bb0(%arg15: tensor<f32>, %arg16: tensor<f32>):
      %88 = "stablehlo.add"(%arg15, %arg16) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%88) : (tensor<f32>) -> ()
    }) : (tensor<1x2x12x1xf32>, tensor<f32>) -> tensor<2x12xf32>
    %76 = "stablehlo.broadcast_in_dim"(%75) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<2x12xf32>) -> tensor<1x2x12xf32>
    %77 = "stablehlo.broadcast_in_dim"(%76) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2x12xf32>) -> tensor<1x2x12x12xf32>
    %78 = "stablehlo.add"(%73, %77) : (tensor<1x2x12x12xf32>, tensor<1x2x12x12xf32>) -> tensor<1x2x12x12xf32>
    %79 = "stablehlo.multiply"(%78, %40) : (tensor<1x2x12x12xf32>, tensor<1x2x12x12xf32>) -> tensor<1x2x12x12xf32>
    %80 = "func.call"(%31#1, %79) <{callee = @_where_2}> : (tensor<1x2x12x12xi1>, tensor<1x2x12x12xf32>) -> tensor<1x2x12x12xf32>
    %81 = "stablehlo.constant"() <{value = dense<3.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %82 = "stablehlo.broadcast_in_dim"(%81) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2x12x12xf32>
    %83 = "stablehlo.multiply"(%80, %82) : (tensor<1x2x12x12xf32>, tensor<1x2x12x12xf32>) -> tensor<1x2x12x12xf32>
    %84 = "stablehlo.dot_general"(%83, %arg11) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x2x12x12xf32>, tensor<1x12x2x8xf32>) -> tensor<1x2x12x8xf32>
    %85 = "stablehlo.transpose"(%84) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<1x2x12x8xf32>) -> tensor<1x12x2x8xf32>
    %86 = "stablehlo.dot_general"(%83, %arg12) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x2x12x12xf32>, tensor<1x12x2x8xf32>) -> tensor<1x2x12x8xf32>
    %87 = "stablehlo.transpose"(%86) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<1x2x12x8xf32>) -> tensor<1x12x2x8xf32>
    "func.return"(%59, %87, %85, %63) : (tensor<1x12x2x8xf32>, tensor<1x12x2x8xf32>, tensor<1x12x2x8xf32>, tensor<1x12x2x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<12x12xi1>) -> tensor<12x12xi1>, res_attrs = [{}], sym_name = "tril", sym_visibility = "private"}> ({
  ^bb0(%arg10: tensor<12x12xi1>):
    %14 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<12x12xi32>
    %15 = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<12x12xi32>
    %17 = "stablehlo.add"(%14, %16) : (tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi32>
    %18 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<12x12xi32>
    %19 = "stablehlo.compare"(%17, %18) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi1>
    %20 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %21 = "stablehlo.broadcast_in_dim"(%20) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<12x12xi1>
    %22 = "stablehlo.select"(%19, %arg10, %21) : (tensor<12x12xi1>, tensor<12x12xi1>, tensor<12x12xi1>) -> tensor<12x12xi1>
    "func.return"(%22) : (tensor<12x12xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<12x12xi1>, tensor<1x2x12x12xf32>, tensor<f32>) -> (tensor<1x2x12x12xf32>, tensor<1x2x12x12xi1>), res_attrs = [{}, {}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg7: tensor<12x12xi1>, %arg8: tensor<1x2x12x12xf32>, %arg9: tensor<f32>):
    %10 = "stablehlo.convert"(%arg9) : (tensor<f32>) -> tensor<f32>
    %11 = "stablehlo.broadcast_in_dim"(%arg7) <{broadcast_dimensions = array<i64: 2, 3>}> : (tensor<12x12xi1>) -> tensor<1x2x12x12xi1>
    %12 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2x12x12xf32>
    %13 = "stablehlo.select"(%11, %arg8, %12) : (tensor<1x2x12x12xi1>, tensor<1x2x12x12xf32>, tensor<1x2x12x12xf32>) -> tensor<1x2x12x12xf32>
    "func.return"(%13, %11) : (tensor<1x2x12x12xf32>, tensor<1x2x12x12xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<1x2x12x1xi1>, tensor<f32>, tensor<1x2x12x12xf32>) -> (tensor<1x2x12x12xf32>, tensor<1x2x12x12xi1>), res_attrs = [{}, {}], sym_name = "_where_0", sym_visibility = "private"}> ({
  ^bb0(%arg4: tensor<1x2x12x1xi1>, %arg5: tensor<f32>, %arg6: tensor<1x2x12x12xf32>):
    %6 = "stablehlo.convert"(%arg5) : (tensor<f32>) -> tensor<f32>
    %7 = "stablehlo.broadcast_in_dim"(%arg4) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x2x12x1xi1>) -> tensor<1x2x12x12xi1>
    %8 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2x12x12xf32>
    %9 = "stablehlo.select"(%7, %8, %arg6) : (tensor<1x2x12x12xi1>, tensor<1x2x12x12xf32>, tensor<1x2x12x12xf32>) -> tensor<1x2x12x12xf32>
    "func.return"(%9, %7) : (tensor<1x2x12x12xf32>, tensor<1x2x12x12xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<1x2x12x12xi1>, tensor<1x2x12x12xf32>) -> tensor<1x2x12x12xf32>, res_attrs = [{}], sym_name = "_where_1", sym_visibility = "private"}> ({
  ^bb0(%arg2: tensor<1x2x12x12xi1>, %arg3: tensor<1x2x12x12xf32>):
    %3 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2x12x12xf32>
    %5 = "stablehlo.select"(%arg2, %4, %arg3) : (tensor<1x2x12x12xi1>, tensor<1x2x12x12xf32>, tensor<1x2x12x12xf32>) -> tensor<1x2x12x12xf32>
    "func.return"(%5) : (tensor<1x2x12x12xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<1x2x12x12xi1>, tensor<1x2x12x12xf32>) -> tensor<1x2x12x12xf32>, res_attrs = [{}], sym_name = "_where_2", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<1x2x12x12xi1>, %arg1: tensor<1x2x12x12xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2x12x12xf32>
    %2 = "stablehlo.select"(%arg0, %arg1, %1) : (tensor<1x2x12x12xi1>, tensor<1x2x12x12xf32>, tensor<1x2x12x12xf32>) -> tensor<1x2x12x12xf32>
    "func.return"(%2) : (tensor<1x2x12x12xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
