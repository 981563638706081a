"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{function_type = (tensor<2x8x17x16xf32>, tensor<2x8x30x16xf32>, tensor<2x8x30x16xf32>, tensor<2x30xi1>) -> tensor<2x8x17x16xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg6: tensor<2x8x17x16xf32>, %arg7: tensor<2x8x30x16xf32>, %arg8: tensor<2x8x30x16xf32>, %arg9: tensor<2x30xi1>):
    %8 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %9 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %10 = "stablehlo.constant"() <{value = dense<-1.000000e+30> : tensor<f32>}> : () -> tensor<f32>
    %11 = "stablehlo.constant"() <{value = dense<13> : tensor<i32>}> : () -> tensor<i32>
    %12 = "stablehlo.constant"() <{value = dense<1.250000e-01> : tensor<f32>}> : () -> tensor<f32>
    %13 = "stablehlo.dot_general"(%arg6, %arg7) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>}> : (tensor<2x8x17x16xf32>, tensor<2x8x30x16xf32>) -> tensor<2x8x17x30xf32>
    %14 = "stablehlo.broadcast_in_dim"(%12) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x17x30xf32>
    %15 = "stablehlo.multiply"(%13, %14) : (tensor<2x8x17x30xf32>, tensor<2x8x17x30xf32>) -> tensor<2x8x17x30xf32>
    %16 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<17xi32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64: 0>}> : (tensor<17xi32>) -> tensor<17x1xi32>
    %18 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<30xi32>
    %19 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64: 1>}> : (tensor<30xi32>) -> tensor<1x30xi32>
    %20 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1x30xi32>
    %21 = "stablehlo.subtract"(%19, %20) : (tensor<1x30xi32>, tensor<1x30xi32>) -> tensor<1x30xi32>
    %22 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<17x1xi32>) -> tensor<17x30xi32>
    %23 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x30xi32>) -> tensor<17x30xi32>
    %24 = "stablehlo.compare"(%22, %23) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<17x30xi32>, tensor<17x30xi32>) -> tensor<17x30xi1>
    %25 = "func.call"(%24, %15, %10) <{callee = @_where}> : (tensor<17x30xi1>, tensor<2x8x17x30xf32>, tensor<f32>) -> tensor<2x8x17x30xf32>
    %26 = "stablehlo.broadcast_in_dim"(%arg9) <{broadcast_dimensions = array<i64: 0, 3>}> : (tensor<2x30xi1>) -> tensor<2x1x1x30xi1>
    %27 = "func.call"(%26, %25, %10) <{callee = @_where_0}> : (tensor<2x1x1x30xi1>, tensor<2x8x17x30xf32>, tensor<f32>) -> tensor<2x8x17x30xf32>
    %28 = "stablehlo.reduce"(%27, %9) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
      %41 = "stablehlo.maximum"(%arg12, %arg13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%41) : (tensor<f32>) -> ()
    }) : (tensor<2x8x17x30xf32>, tensor<f32>) -> tensor<2x8x17xf32>
    %29 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x17xf32>
    %30 = "stablehlo.maximum"(%29, %28) : (tensor<2x8x17xf32>, tensor<2x8x17xf32>) -> tensor<2x8x17xf32>
    %31 = "stablehlo.broadcast_in_dim"(%30) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x8x17xf32>) -> tensor<2x8x17x1xf32>
    %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x8x17x1xf32>) -> tensor<2x8x17x30xf32>
    %33 = "stablehlo.subtract"(%27, %32) : (tensor<2x8x17x30xf32>, tensor<2x8x17x30xf32>) -> tensor<2x8x17x30xf32>
    %34 = "stablehlo.exponential"(%33) : (tensor<2x8x17x30xf32>) -> tensor<2x8x17x30xf32>
    %35 = "stablehlo.reduce"(%34, %8) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %40 = "stablehlo.add"(%arg10, %arg11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%40) : (tensor<f32>) -> ()
    }) : (tensor<2x8x17x30xf32>, tensor<f32>) -> tensor<2x8x17xf32>
    %36 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x8x17xf32>) -> tensor<2x8x17x1xf32>
    %37 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x8x17x1xf32>) -> tensor<2x8x17x30xf32>
    %38 = "stablehlo.divide"(%34, %37) : (tensor<2x8x17x30xf32>, tensor<2x8x17x30xf32>) -> tensor<2x8x17x30xf32>
    %39 = "stablehlo.dot_general"(%38, %arg8) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>}> : (tensor<2x8x17x30xf32>, tensor<2x8x30x16xf32>) -> tensor<2x8x17x16xf32>
    "func.return"(%39) : (tensor<2x8x17x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<17x30xi1>, tensor<2x8x17x30xf32>, tensor<f32>) -> tensor<2x8x17x30xf32>, sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<17x30xi1>, %arg4: tensor<2x8x17x30xf32>, %arg5: tensor<f32>):
    %4 = "stablehlo.convert"(%arg5) : (tensor<f32>) -> tensor<f32>
    %5 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64: 2, 3>}> : (tensor<17x30xi1>) -> tensor<2x8x17x30xi1>
    %6 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x17x30xf32>
    %7 = "stablehlo.select"(%5, %arg4, %6) : (tensor<2x8x17x30xi1>, tensor<2x8x17x30xf32>, tensor<2x8x17x30xf32>) -> tensor<2x8x17x30xf32>
    "func.return"(%7) : (tensor<2x8x17x30xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2x1x1x30xi1>, tensor<2x8x17x30xf32>, tensor<f32>) -> tensor<2x8x17x30xf32>, sym_name = "_where_0", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2x1x1x30xi1>, %arg1: tensor<2x8x17x30xf32>, %arg2: tensor<f32>):
    %0 = "stablehlo.convert"(%arg2) : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x1x1x30xi1>) -> tensor<2x8x17x30xi1>
    %2 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x17x30xf32>
    %3 = "stablehlo.select"(%1, %arg1, %2) : (tensor<2x8x17x30xi1>, tensor<2x8x17x30xf32>, tensor<2x8x17x30xf32>) -> tensor<2x8x17x30xf32>
    "func.return"(%3) : (tensor<2x8x17x30xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

