"builtin.module"() <{sym_name = "jit_cap_grad"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}], function_type = (tensor<2x40x4x32xf32>, tensor<2x40x4x32xf32>, tensor<2x40x4x32xf32>, tensor<2x40x4x32xf32>) -> (tensor<2x40x4x32xf32>, tensor<2x40x4x32xf32>, tensor<2x40x4x32xf32>, tensor<2x40x4x32xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg6: tensor<2x40x4x32xf32>, %arg7: tensor<2x40x4x32xf32>, %arg8: tensor<2x40x4x32xf32>, %arg9: tensor<2x40x4x32xf32>):
    %16 = "stablehlo.dot_general"(%arg6, %arg7) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x40x4x32xf32>, tensor<2x40x4x32xf32>) -> tensor<2x4x40x40xf32>
    %17 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %18 = "stablehlo.sqrt"(%17) : (tensor<f32>) -> tensor<f32>
    %19 = "stablehlo.convert"(%18) : (tensor<f32>) -> tensor<f32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40x40xf32>
    %21 = "stablehlo.divide"(%16, %20) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %22 = "stablehlo.constant"() <{value = dense<5.000000e+01> : tensor<f32>}> : () -> tensor<f32>
    %23 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40x40xf32>
    %24 = "stablehlo.divide"(%21, %23) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %25 = "stablehlo.tanh"(%24) : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %26 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %27 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40x40xf32>
    %28 = "stablehlo.subtract"(%27, %25) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %29 = "stablehlo.constant"() <{value = dense<5.000000e+01> : tensor<f32>}> : () -> tensor<f32>
    %30 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40x40xf32>
    %31 = "stablehlo.multiply"(%25, %30) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %32 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %33 = "stablehlo.broadcast_in_dim"(%32) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<40x40xi1>
    %34 = "func.call"(%33) <{callee = @tril}> : (tensor<40x40xi1>) -> tensor<40x40xi1>
    %35 = "stablehlo.constant"() <{value = dense<-2.38197633E+38> : tensor<f32>}> : () -> tensor<f32>
    %36:2 = "func.call"(%34, %31, %35) <{callee = @_where}> : (tensor<40x40xi1>, tensor<2x4x40x40xf32>, tensor<f32>) -> (tensor<2x4x40x40xf32>, tensor<2x4x40x40xi1>)
    %37 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %38 = "stablehlo.reduce"(%36#0, %37) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg16: tensor<f32>, %arg17: tensor<f32>):
      %94 = "stablehlo.maximum"(%arg16, %arg17) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%94) : (tensor<f32>) -> ()
    }) : (tensor<2x4x40x40xf32>, tensor<f32>) -> tensor<2x4x40xf32>
    %39 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %40 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40xf32>
    %41 = "stablehlo.maximum"(%40, %38) : (tensor<2x4x40xf32>, tensor<2x4x40xf32>) -> tensor<2x4x40xf32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x4x40xf32>) -> tensor<2x4x40x1xf32>
    %43 = "stablehlo.broadcast_in_dim"(%42) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x4x40x1xf32>) -> tensor<2x4x40x40xf32>
    %44 = "stablehlo.subtract"(%36#0, %43) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %45 = "stablehlo.exponential"(%44) : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %46 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %47 = "stablehlo.reduce"(%45, %46) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %93 = "stablehlo.add"(%arg14, %arg15) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%93) : (tensor<f32>) -> ()
    }) : (tensor<2x4x40x40xf32>, tensor<f32>) -> tensor<2x4x40xf32>
    %48 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x4x40xf32>) -> tensor<2x4x40x1xf32>
    %49 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x4x40x1xf32>) -> tensor<2x4x40x40xf32>
    %50 = "stablehlo.divide"(%45, %49) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %51 = "stablehlo.multiply"(%48, %48) : (tensor<2x4x40x1xf32>, tensor<2x4x40x1xf32>) -> tensor<2x4x40x1xf32>
    %52 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %53 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40x1xf32>
    %54 = "stablehlo.divide"(%53, %51) : (tensor<2x4x40x1xf32>, tensor<2x4x40x1xf32>) -> tensor<2x4x40x1xf32>
    %55 = "stablehlo.dot_general"(%arg8, %50) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x40x4x32xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x32x40xf32>
    %56 = "stablehlo.transpose"(%55) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x4x32x40xf32>) -> tensor<2x40x4x32xf32>
    %57 = "stablehlo.transpose"(%arg9) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x40x4x32xf32>) -> tensor<2x4x32x40xf32>
    %58 = "stablehlo.dot_general"(%57, %arg8) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x4x32x40xf32>, tensor<2x40x4x32xf32>) -> tensor<2x4x40x40xf32>
    %59 = "stablehlo.dot_general"(%57, %50) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x4x32x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x32x40xf32>
    %60 = "stablehlo.transpose"(%59) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x4x32x40xf32>) -> tensor<2x40x4x32xf32>
    %61 = "stablehlo.broadcast_in_dim"(%54) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x4x40x1xf32>) -> tensor<2x4x40x40xf32>
    %62 = "stablehlo.multiply"(%58, %61) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %63 = "stablehlo.multiply"(%62, %45) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %64 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %65 = "stablehlo.reduce"(%63, %64) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
      %92 = "stablehlo.add"(%arg12, %arg13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%92) : (tensor<f32>) -> ()
    }) : (tensor<2x4x40x40xf32>, tensor<f32>) -> tensor<2x4x40xf32>
    %66 = "stablehlo.reshape"(%65) : (tensor<2x4x40xf32>) -> tensor<2x4x40x1xf32>
    %67 = "stablehlo.negate"(%66) : (tensor<2x4x40x1xf32>) -> tensor<2x4x40x1xf32>
    %68 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x4x40x1xf32>) -> tensor<2x4x40x40xf32>
    %69 = "stablehlo.divide"(%58, %68) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %70 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %71 = "stablehlo.reduce"(%67, %70) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %91 = "stablehlo.add"(%arg10, %arg11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%91) : (tensor<f32>) -> ()
    }) : (tensor<2x4x40x1xf32>, tensor<f32>) -> tensor<2x4x40xf32>
    %72 = "stablehlo.broadcast_in_dim"(%71) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x4x40xf32>) -> tensor<2x4x40x40xf32>
    %73 = "stablehlo.add"(%69, %72) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %74 = "stablehlo.multiply"(%73, %45) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %75 = "func.call"(%36#1, %74) <{callee = @_where_0}> : (tensor<2x4x40x40xi1>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %76 = "stablehlo.constant"() <{value = dense<5.000000e+01> : tensor<f32>}> : () -> tensor<f32>
    %77 = "stablehlo.broadcast_in_dim"(%76) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40x40xf32>
    %78 = "stablehlo.multiply"(%75, %77) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %79 = "stablehlo.multiply"(%78, %28) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %80 = "stablehlo.multiply"(%79, %25) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %81 = "stablehlo.add"(%79, %80) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %82 = "stablehlo.constant"() <{value = dense<5.000000e+01> : tensor<f32>}> : () -> tensor<f32>
    %83 = "stablehlo.broadcast_in_dim"(%82) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40x40xf32>
    %84 = "stablehlo.divide"(%81, %83) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %85 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40x40xf32>
    %86 = "stablehlo.divide"(%84, %85) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    %87 = "stablehlo.dot_general"(%86, %arg6) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x4x40x40xf32>, tensor<2x40x4x32xf32>) -> tensor<2x4x40x32xf32>
    %88 = "stablehlo.transpose"(%87) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x4x40x32xf32>) -> tensor<2x40x4x32xf32>
    %89 = "stablehlo.dot_general"(%86, %arg7) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x4x40x40xf32>, tensor<2x40x4x32xf32>) -> tensor<2x4x40x32xf32>
    %90 = "stablehlo.transpose"(%89) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x4x40x32xf32>) -> tensor<2x40x4x32xf32>
    "func.return"(%56, %90, %88, %60) : (tensor<2x40x4x32xf32>, tensor<2x40x4x32xf32>, tensor<2x40x4x32xf32>, tensor<2x40x4x32xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<40x40xi1>) -> tensor<40x40xi1>, res_attrs = [{}], sym_name = "tril", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<40x40xi1>):
    %7 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<40x40xi32>
    %8 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<40x40xi32>
    %10 = "stablehlo.add"(%7, %9) : (tensor<40x40xi32>, tensor<40x40xi32>) -> tensor<40x40xi32>
    %11 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<40x40xi32>
    %12 = "stablehlo.compare"(%10, %11) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<40x40xi32>, tensor<40x40xi32>) -> tensor<40x40xi1>
    %13 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %14 = "stablehlo.broadcast_in_dim"(%13) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<40x40xi1>
    %15 = "stablehlo.select"(%12, %arg5, %14) : (tensor<40x40xi1>, tensor<40x40xi1>, tensor<40x40xi1>) -> tensor<40x40xi1>
    "func.return"(%15) : (tensor<40x40xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<40x40xi1>, tensor<2x4x40x40xf32>, tensor<f32>) -> (tensor<2x4x40x40xf32>, tensor<2x4x40x40xi1>), res_attrs = [{}, {}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg2: tensor<40x40xi1>, %arg3: tensor<2x4x40x40xf32>, %arg4: tensor<f32>):
    %3 = "stablehlo.convert"(%arg4) : (tensor<f32>) -> tensor<f32>
    %4 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64: 2, 3>}> : (tensor<40x40xi1>) -> tensor<2x4x40x40xi1>
    %5 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40x40xf32>
    %6 = "stablehlo.select"(%4, %arg3, %5) : (tensor<2x4x40x40xi1>, tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    "func.return"(%6, %4) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<2x4x40x40xi1>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>, res_attrs = [{}], sym_name = "_where_0", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2x4x40x40xi1>, %arg1: tensor<2x4x40x40xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x40x40xf32>
    %2 = "stablehlo.select"(%arg0, %arg1, %1) : (tensor<2x4x40x40xi1>, tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
    "func.return"(%2) : (tensor<2x4x40x40xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
